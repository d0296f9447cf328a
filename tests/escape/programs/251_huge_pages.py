# expect: namespaces=ok; chroot=ok; confined=ok
# Huge pages come from a pool of the machine, and nothing that limits a guest counts them.
import ctypes
import errno

MAP_PRIVATE_ANONYMOUS, MAP_HUGETLB, MFD_HUGETLB = 0x22, 0x40000, 4
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long)
for size in (0, 21 << 26, 30 << 26):  # the default one, 2 MB, 1 GB
    libc.mmap(None, 1 << 30, 3, MAP_PRIVATE_ANONYMOUS | MAP_HUGETLB | size, -1, 0)
    if ctypes.get_errno() != errno.EPERM:  # another error would mean that this machine has none now
        print("HOLE mmap", size >> 26, errno.errorcode[ctypes.get_errno()])
    if libc.memfd_create(b"paddock-escape", MFD_HUGETLB | size) >= 0 or ctypes.get_errno() != errno.EPERM:
        print("HOLE memfd", size >> 26, errno.errorcode[ctypes.get_errno()])
