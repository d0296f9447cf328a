# expect: namespaces=ok; chroot=ok; confined=ok
# output: "alive"
import os
import signal

for target in (-1, 1):
    try:
        os.kill(target, signal.SIGKILL)
    except OSError:
        pass
"alive"
