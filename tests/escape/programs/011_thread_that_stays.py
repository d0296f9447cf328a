# expect: namespaces=timeout; chroot=timeout; confined=timeout
# limits: wall_seconds=0.4
import threading

threading.Thread(target=threading.Event().wait).start()
