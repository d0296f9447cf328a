# expect: namespaces=crashed; chroot=crashed; confined=crashed
import os
import socket
import stat

control = next(fd for fd in range(3, 1024) if os.path.exists(f"/proc/self/fd/{fd}") and stat.S_ISSOCK(os.fstat(fd).st_mode))
import struct

os.write(control, struct.pack("!BIII", 20, 0, 100, 1000) + b"{")
os._exit(0)
