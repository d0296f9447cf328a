# expect: namespaces=crashed; chroot=crashed; confined=raised
# stdout: other
# stdout confined: ""
# why confined: nothing can be executed
import os

os.execv("/bin/sh", ["sh", "-c", "echo other"])
