# expect: namespaces=output_limit; chroot=output_limit; confined=output_limit
import os
import socket
import stat

control = next(fd for fd in range(3, 1024) if os.path.exists(f"/proc/self/fd/{fd}") and stat.S_ISSOCK(os.fstat(fd).st_mode))
import struct

os.write(control, struct.pack("!BIII", 20, 0, 0, 2**32 - 1))
while True:
    os.write(control, bytes(65536))
