# expect: namespaces=crashed; chroot=crashed; confined=crashed
# says: exit code 3
import ctypes

ctypes.CDLL(None).exit(3)
