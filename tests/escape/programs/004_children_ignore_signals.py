# expect: namespaces=ok; chroot=ok; confined=raised
# stdout: left
# stdout confined: ""
# why confined: a guest is one process, and fork is refused
import os
import signal

for _ in range(8):
    if os.fork() == 0:
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGALRM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        while True:
            pass
print("left")
