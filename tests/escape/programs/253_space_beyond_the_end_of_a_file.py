# expect: namespaces=ok; chroot=ok; confined=ok
# limits: file_bytes=16777216
# The kernel does not limit what a file keeps beyond its end, and reserves gigabytes of a disk in a few milliseconds.
import ctypes
import os
import tempfile

KEEP_SIZE, PUNCH_HOLE, ZERO_RANGE, UNSHARE_RANGE = 1, 2, 16, 64
libc = ctypes.CDLL(None, use_errno=True)
libc.fallocate.argtypes = (ctypes.c_int, ctypes.c_int, ctypes.c_long, ctypes.c_long)
with tempfile.NamedTemporaryFile(prefix="paddock-escape") as file:
    for mode in (KEEP_SIZE, ZERO_RANGE | KEEP_SIZE, UNSHARE_RANGE | KEEP_SIZE, ZERO_RANGE):
        libc.fallocate(file.fileno(), mode, 0, 64 << 20)
        if os.fstat(file.fileno()).st_blocks * 512 > 32 << 20:
            print("HOLE", mode)
    os.posix_fallocate(file.fileno(), 0, 1 << 20)
    if libc.fallocate(file.fileno(), PUNCH_HOLE | KEEP_SIZE, 0, 1 << 20) or os.fstat(file.fileno()).st_size != 1 << 20:
        print("an ordinary call failed")
