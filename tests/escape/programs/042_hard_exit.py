# expect: namespaces=crashed; chroot=crashed; confined=crashed
# says: exit code 7
import os

os._exit(7)
