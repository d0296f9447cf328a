# expect: namespaces=timeout; chroot=timeout; confined=timeout
# limits: wall_seconds=0.25
import atexit
import time

atexit.register(time.sleep, 3600)
