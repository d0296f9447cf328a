# expect: namespaces=ok; chroot=crashed|ok; confined=crashed|ok
# why confined: it is looked at from outside, and the look may come too late to see the depth
# Deeper than a path can name: where the disk is looked at from outside, what cannot be looked at counts as too much.
import os

os.chdir(os.environ.get("TMPDIR", "/tmp"))
for depth in range(1000):
    os.mkdir("paddock-escape")
    os.chdir("paddock-escape")
print(depth + 1)
