# expect: namespaces=output_limit; chroot=output_limit; confined=output_limit
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

os.write(control, struct.pack("!BIII", 20, 0, 0, 2**32 - 1))
while True:
    os.write(control, bytes(65536))
