# expect: namespaces=crashed; chroot=crashed; confined=crashed
# error: ProtocolError
import os
import socket
import stat


def is_socket(fd):
    try:
        return stat.S_ISSOCK(os.fstat(fd).st_mode)
    except OSError:
        return False


control = next(filter(is_socket, range(3, 1024)))
os.write(control, bytes([17]) + b"\xff" * 12)
while True:
    os.write(control, bytes(65536))
