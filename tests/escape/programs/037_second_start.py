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
import struct

os.write(control, struct.pack("!BIII", 23, 0, 0, 0))
while True:
    pass
