# expect: namespaces=ok; chroot=ok; confined=ok
# output: 42
# Its own result it may say as it likes; what it does afterwards does not matter any more.
import os
import socket
import stat

control = next(fd for fd in range(3, 1024) if os.path.exists(f"/proc/self/fd/{fd}") and stat.S_ISSOCK(os.fstat(fd).st_mode))
import struct

header = b'{"status": "ok"}'
os.write(control, struct.pack("!BIII", 20, 0, len(header), 2) + header + b"42")
while True:
    pass
