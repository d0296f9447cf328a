# expect: namespaces=timeout; chroot=timeout; confined=timeout
# limits: wall_seconds=0.25
# says: wall_seconds
import time

while True:
    time.sleep(3600)
