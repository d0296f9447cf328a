# expect: namespaces=ok; chroot=ok; confined=ok
# stdout: []
# The first page, pages that stay in memory, and memory in one piece of two megabytes that the machine keeps for others.
import ctypes
import mmap

libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
PRIVATE, ANONYMOUS, FIXED, LOCKED, HUGE = 2, 0x20, 0x10, 0x2000, 0x40000
failed = ctypes.c_void_p(-1).value
wanted = {"first page": (4096, FIXED), "locked": (1 << 20, LOCKED), "huge": (1 << 21, HUGE)}
print([f"HOLE {name}" for name, (size, flag) in wanted.items() if libc.mmap(0, size, 3, PRIVATE | ANONYMOUS | flag, -1, 0) != failed])
