# expect: namespaces=crashed; chroot=crashed; confined=crashed
# error: ProtocolError
import os
import socket
import stat

control = next(fd for fd in range(3, 1024) if os.path.exists(f"/proc/self/fd/{fd}") and stat.S_ISSOCK(os.fstat(fd).st_mode))
import struct

for kind in (4, 5, 1, 16, 0, 255):
    os.write(control, struct.pack("!BIII", kind, 0, 0, 0))
while True:
    pass
