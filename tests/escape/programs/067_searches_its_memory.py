# expect: namespaces=ok; chroot=ok; confined=ok
# stdout: nothing
import sys

try:
    open("/proc/self/mem", "rb").close()
except OSError:  # not there, or closed
    print("nothing")
    sys.exit()
wanted = bytes(reversed(b"terces-kcoddap"))
copies = 0
with open("/proc/self/maps") as maps, open("/proc/self/mem", "rb", buffering=0) as memory:
    for line in maps:
        place, rights, *_ = line.split()
        start, end = (int(part, 16) for part in place.split("-"))
        if "r" not in rights or end - start > 1 << 28 or "[v" in line:
            continue
        try:
            memory.seek(start)
            found = memory.read(end - start)
        except OSError:
            continue
        at = found.find(wanted)
        while at >= 0:
            # Of one variable of an environment, not of this search itself.
            copies += found[max(0, at - 27) : at] == b"PADDOCK_SECRET_OF_THE_HOST="
            at = found.find(wanted, at + 1)
print("HOLE" if copies else "nothing")
