# expect: namespaces=timeout; chroot=timeout; confined=timeout
# limits: wall_seconds=3
# stdout: refused
# Descriptors whose end takes long, sent to the host: whoever drops the last one has the work. The host's event loop had
# 0.4 s of it. Before Linux 6.16, a socket cannot refuse descriptors.
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
import select
import time

header = b'{"done": 1}'
frame = struct.pack("!BIII", 18, 0, len(header), 0) + header
events = [os.eventfd(0) for _ in range(150)]
said = "sent"
with socket.socket(fileno=os.dup(control)) as end:
    end.setblocking(True)
    for _ in range(10):
        heavy = [select.epoll() for _ in range(50)]
        for watch in heavy:
            for event in events:
                watch.register(event)
        try:
            socket.send_fds(end, [frame], [watch.fileno() for watch in heavy])
        except PermissionError:
            said = "refused"
        except OSError:  # ETOOMANYREFS
            pass
        for watch in heavy:
            watch.close()
is_old = tuple(map(int, os.uname().release.split(".")[:2])) < (6, 16)
print("refused" if is_old else said, flush=True)
time.sleep(3600)
