# expect: namespaces=timeout; chroot=timeout; confined=timeout
# limits: wall_seconds=0.5
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

header = b'{"done": 1, "message": "%s"}' % (b"x" * 1000)
frame = struct.pack("!BIII", 18, 0, len(header), 0) + header
with socket.socket(fileno=os.dup(control)) as end:
    end.setblocking(True)
    while True:
        end.sendall(frame * 100)
