# expect: namespaces=ok; chroot=ok; confined=raised
# output: "left"
# output confined: null
# why confined: a guest is one process, and fork is refused
# A chain of processes, each gone as soon as it has a successor: a list of pids is always out of date.
import os

if os.fork() == 0:
    os.setsid()
    while True:
        try:
            if os.fork() != 0:
                os._exit(0)
        except OSError:
            pass
"left"
