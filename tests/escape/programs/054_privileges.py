# expect: namespaces=ok; chroot=ok; confined=ok
# stdout: NoNewPrivs 1
# stdout: Seccomp 2
# stdout: CapInh 0000000000000000
# stdout: CapPrm 0000000000000000
# stdout: CapEff 0000000000000000
# stdout: CapBnd 0000000000000000
# stdout: CapAmb 0000000000000000
# stdout: not root
# stdout: Groups
import os

status = dict(line.split(":", 1) for line in open("/proc/self/status").read().splitlines())
for name in ("NoNewPrivs", "Seccomp", "CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
    print(name, status[name].strip())
print("HOLE" if 0 in (*os.getresuid(), *os.getresgid()) else "not root")
print("Groups", *status["Groups"].split())
