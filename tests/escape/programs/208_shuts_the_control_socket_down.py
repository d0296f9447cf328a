# expect: namespaces=timeout; chroot=timeout; confined=timeout
# limits: wall_seconds=2
# stdout: shut
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

with socket.socket(fileno=os.dup(control)) as end:
    end.shutdown(socket.SHUT_RDWR)
print("shut", flush=True)
while True:
    pass
