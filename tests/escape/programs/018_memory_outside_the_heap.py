# expect: namespaces=ok|out_of_memory; chroot=ok|out_of_memory; confined=ok|out_of_memory
# limits: memory_bytes=67108864
import ctypes

libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
libc.malloc.argtypes = [ctypes.c_size_t]
taken = 0
while taken < 1 << 30 and (block := libc.malloc(1 << 20)):
    ctypes.memset(block, 1, 1 << 20)
    taken += 1 << 20
print("refused" if taken <= 80 << 20 else f"HOLE {taken}")
