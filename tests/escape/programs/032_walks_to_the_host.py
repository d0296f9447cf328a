# expect: namespaces=ok; chroot=ok; confined=ok
# stdout: nothing
# why confined: names of the host are visible there, and no folder can be listed
import os

# The ways out of a root that have worked elsewhere; each must end where it began.
try:
    here = {name for name in os.listdir("/")}
except PermissionError:
    here = set()
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
    if PROFILE != "confined" and os.path.lexists(mark):
        print("HOLE", mark)
print("nothing")
