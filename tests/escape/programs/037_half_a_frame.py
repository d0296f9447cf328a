# expect: namespaces=timeout; chroot=timeout; confined=timeout
# limits: wall_seconds=0.5
import os
import socket
import stat

control = next(fd for fd in range(3, 1024) if os.path.exists(f"/proc/self/fd/{fd}") and stat.S_ISSOCK(os.fstat(fd).st_mode))
import struct
import time

os.write(control, struct.pack("!BIII", 20, 0, 100, 1000) + b"{")
time.sleep(3600)
