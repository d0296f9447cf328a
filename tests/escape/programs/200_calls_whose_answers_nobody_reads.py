# expect: namespaces=timeout|crashed; chroot=timeout|crashed; confined=timeout|crashed
# limits: wall_seconds=0.8
# The host must not keep answers without end for who does not read them.
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

header = b'{"tool": "%s"}' % (b"x" * 190)
frame = struct.pack("!BIII", 17, 1, len(header), 2) + header + b"{}"
with socket.socket(fileno=os.dup(control)) as end:
    end.setblocking(True)
    while True:
        end.sendall(frame * 1000)
