# expect: namespaces=ok; chroot=ok; confined=ok
# stdout: nothing
import os

# The ways out of a root that have worked elsewhere; each must end where it began.
here = {name for name in os.listdir("/")}
ways = ["/proc/self/root", "/proc/1/root", "/proc/self/cwd/../../..", "/proc/self/task/../root", "/.."] + [
    f"/proc/self/fd/{fd}/.." for fd in range(10)
]
for way in ways:
    try:
        there = {name for name in os.listdir(way)}
    except OSError:
        continue
    if not there <= here:
        print("HOLE", way, sorted(there - here))
for mark in HOST_PATHS:
    if os.path.lexists(mark):
        print("HOLE", mark)
print("nothing")
