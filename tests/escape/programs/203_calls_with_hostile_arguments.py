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
import time

bodies = [b"[]", b"null", b"1" * 5000, b'{"n": 1%s}' % (b"0" * 30), b"{" * 9999, b'{"\\ud800": "\\ud800"}', b"NaN", b'{"n": 1e999}', b""]
with socket.socket(fileno=os.dup(control)) as end:
    end.setblocking(True)
    for number, body in enumerate(bodies):
        for header in (b'{"tool": "hang"}', b'{"tool": "\\u0000\\u001b[2J"}'):
            end.sendall(struct.pack("!BIII", 17, number, len(header), len(body)) + header + body)
time.sleep(3600)
