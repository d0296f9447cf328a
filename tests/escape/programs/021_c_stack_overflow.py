# expect: namespaces=crashed; chroot=crashed; confined=crashed
# signal: 11
import sys

sys.setrecursionlimit(10**9)
nested = []
for _ in range(200_000):
    nested = [nested]
repr(nested)
