# expect: namespaces=timeout; chroot=timeout; confined=timeout
# limits: wall_seconds=0.25
import threading

lock = threading.Lock()
lock.acquire()
lock.acquire()
