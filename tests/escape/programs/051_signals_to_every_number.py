# expect: namespaces=ok; chroot=ok; confined=ok
# stdout: [2]
# stdout chroot: 1
# stdout confined: 1
# why confined: it can signal itself, whatever its number, and the filter answers for all others
import os

reached = []
for pid in range(1, 40_000):
    try:
        os.kill(pid, 0)
        reached.append(pid)
    except (PermissionError, ProcessLookupError):
        pass
print(reached if os.getpid() == 2 else len(reached))
