# expect: namespaces=crashed; chroot=crashed; confined=raised
# stdout: other
# stdout confined: ""
import os

os.execv("/bin/sh", ["sh", "-c", "echo other"])
