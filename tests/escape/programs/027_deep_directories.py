# expect: namespaces=ok; chroot=crashed|ok; confined=ok
# Deeper than a path can name: where the disk is looked at from outside, what cannot be looked at counts as too much.
import os

os.chdir("/tmp")
for depth in range(1000):
    os.mkdir("paddock-escape")
    os.chdir("paddock-escape")
print(depth + 1)
