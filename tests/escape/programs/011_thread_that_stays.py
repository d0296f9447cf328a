# expect: namespaces=timeout; chroot=timeout; confined=timeout
# limits: wall_seconds=0.25
import threading

threading.Thread(target=threading.Event().wait).start()
