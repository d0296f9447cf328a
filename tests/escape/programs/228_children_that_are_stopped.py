# expect: namespaces=ok; chroot=ok; confined=raised
# output: "left"
# output confined: null
# why confined: a guest is one process, and fork is refused
# A stopped process does not act on anything but what ends it.
import os
import signal

for _ in range(5):
    pid = os.fork()
    if pid == 0:
        os.setsid()
        while True:
            os.kill(os.getpid(), signal.SIGSTOP)
    os.waitpid(pid, os.WUNTRACED)
"left"
