# expect: namespaces=raised; chroot=raised; confined=raised
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
body = b"[" * 400_000 + b"]" * 400_000
with socket.socket(fileno=os.dup(control)) as end:
    end.setblocking(True)
    end.sendall(struct.pack("!BIII", 20, 0, len(header), len(body)) + header + body)
while True:
    pass
