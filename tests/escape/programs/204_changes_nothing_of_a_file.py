# expect: namespaces=ok; chroot=ok; confined=ok
# stdout: []
# chown(path, -1, -1) asks for no change, needs no privilege, and yet takes setuid bits away and sets the time of change.
import os
import sys

changed = []
for path in ("/usr/bin/env", sys.executable, os.__file__, "/usr/share/zoneinfo/UTC"):
    before = os.stat(path).st_ctime_ns
    try:
        os.chown(path, -1, -1)
    except OSError:
        pass
    if os.stat(path).st_ctime_ns != before:
        changed.append(f"HOLE {path}")
print(changed)
