# expect: namespaces=crashed; chroot=crashed; confined=crashed
# signal: 11
# stdout: before
import ctypes

print("before")
ctypes.string_at(0)
