# expect: namespaces=raised; chroot=raised; confined=raised
# error: ValueError
import sys


def deeper(depth):
    if depth:
        deeper(depth - 1)
    raise ValueError("deep")


sys.setrecursionlimit(10**6)
deeper(20_000)
