# expect: namespaces=timeout; chroot=timeout; confined=raised
# limits: wall_seconds=20 cpu_seconds=0.5
# says: cpu_seconds
# says confined: not permitted
# why confined: a guest is one process, and fork is refused
# Each child spends little, and then hands over to the next: no single process ever has used much.
import os
import time

while True:
    if os.fork() == 0:
        end = time.process_time() + 0.05
        while time.process_time() < end:
            pass
        os._exit(0)
    os.wait()
