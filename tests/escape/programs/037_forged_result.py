# expect: namespaces=ok; chroot=ok; confined=ok
# output: 42
# Its own result it may say as it likes; what it does afterwards does not matter any more.
import os
import socket
import stat


def is_socket(fd):
    try:
        return stat.S_ISSOCK(os.fstat(fd).st_mode)
    except OSError:
        return False


control = next(filter(is_socket, range(3, 1024)))
import struct

header = b'{"status": "ok"}'
os.write(control, struct.pack("!BIII", 20, 0, len(header), 2) + header + b"42")
while True:
    pass
