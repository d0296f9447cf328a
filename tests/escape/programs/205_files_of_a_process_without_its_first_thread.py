# expect: namespaces=crashed; chroot=crashed; confined=crashed
# limits: wall_seconds=10
# stdout: ""
# A process whose first thread has ended shows no descriptors in /proc: its files without a name must be seen.
import ctypes
import tempfile
import threading
import time

libc = ctypes.CDLL(None)
kept = []


def fill():
    for _ in range(8):
        kept.append(tempfile.TemporaryFile(buffering=0))
        kept[-1].write(bytes(32 << 20))
    time.sleep(2)
    libc.write(1, b"HOLE\n", 5)


threading.Thread(target=fill).start()
libc.syscall(SYSCALLS["exit"], 0)
