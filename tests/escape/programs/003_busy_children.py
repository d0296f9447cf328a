# expect: namespaces=timeout; chroot=timeout; confined=raised
# limits: wall_seconds=20 cpu_seconds=0.5
# why confined: a guest is one process, and fork is refused
import os
import time

for _ in range(4):
    if os.fork() == 0:
        while True:
            pass
time.sleep(3600)
