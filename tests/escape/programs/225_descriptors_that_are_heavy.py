# expect: namespaces=timeout; chroot=timeout; confined=timeout
# limits: wall_seconds=1
# stdout: sent
# stdout confined: refused
# why confined: no descriptor can be sent
# Descriptors whose end takes long, sent to the host: whoever drops the last one has the work.
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
print(said, flush=True)
time.sleep(3600)
