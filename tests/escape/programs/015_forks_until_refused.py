# expect: namespaces=ok; chroot=ok; confined=ok
# limits: processes=16
# stdout: EAGAIN 15
# stdout confined: EPERM 0
# why confined: a guest is one process, and fork is refused
import errno
import os
import time

born = 0
try:
    while born < 1000:
        if os.fork() == 0:
            time.sleep(3600)
        born += 1
    print("HOLE")
except OSError as error:
    print(errno.errorcode[error.errno], born)
