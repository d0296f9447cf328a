# expect: namespaces=timeout; chroot=timeout; confined=timeout
# limits: wall_seconds=0.25
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

os.write(control, struct.pack("!BIII", 20, 0, 100, 1000) + b"{")
time.sleep(3600)
