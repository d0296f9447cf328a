# expect: namespaces=raised; chroot=raised; confined=raised
# stdout: bye
import sys

print("bye")
sys.exit(3)
