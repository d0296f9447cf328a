# expect: namespaces=ok; chroot=ok; confined=ok
# The first process of its jail is not its own: what /proc says of it would be about the host.
import os

try:
    seen = {name for name in os.listdir("/proc") if name.isdigit()}
except OSError:
    seen = set()  # there is no /proc in this profile
for pid in {*seen, "1", str(os.getppid())} - {str(os.getpid())}:
    for name in ("cmdline", "cgroup", "mountinfo", "status"):
        try:
            with open(f"/proc/{pid}/{name}") as file:
                print("HOLE", pid, name, file.read()[:200])
        except OSError:
            pass
