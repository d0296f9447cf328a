# expect: namespaces=timeout; chroot=timeout; confined=timeout
# limits: wall_seconds=2
# stdout: sent
# Descriptors that travel with a frame must not arrive in the host.
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

header = b'{"done": 1}'
frame = struct.pack("!BIII", 18, 0, len(header), 0) + header
with socket.socket(fileno=os.dup(control)) as end:
    end.setblocking(True)
    for _ in range(200):
        try:
            socket.send_fds(end, [frame], [0, 1, 2] * 20)
        except OSError:  # ETOOMANYREFS, where the host is slow to drop them
            pass
print("sent", flush=True)
time.sleep(3600)
