# expect: namespaces=timeout|crashed; chroot=timeout|crashed; confined=timeout|crashed
# limits: wall_seconds=1
import ctypes
import threading

threading.Thread(target=threading.Event().wait).start()
ctypes.CDLL(None).syscall(SYSCALLS["exit"], 0)
