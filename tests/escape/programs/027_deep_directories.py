# expect: namespaces=ok; chroot=crashed|ok; confined=ok
# stdout: 1000
import os

os.chdir("/tmp")
for depth in range(1000):
    os.mkdir("paddock-escape")
    os.chdir("paddock-escape")
print(depth + 1)
