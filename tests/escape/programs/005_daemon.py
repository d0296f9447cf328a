# expect: namespaces=ok; chroot=ok; confined=raised
# stdout: left
# stdout confined: ""
# why confined: a guest is one process, and fork is refused
import os
import time

if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.chdir("/")
        for fd in range(64):
            try:
                os.close(fd)
            except OSError:
                pass
        time.sleep(3600)
    os._exit(0)
os.wait()
print("left")
