# expect: namespaces=timeout; chroot=timeout; confined=timeout
# limits: wall_seconds=1
# stdout: called
# A number that is used twice, or that is nobody's, concerns nobody else.
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

header = b'{"tool": "hang"}'
for number in (0, 7, 7, 2**32 - 1):
    os.write(control, struct.pack("!BIII", 17, number, len(header), 2) + header + b"{}")
print("called", flush=True)
time.sleep(3600)
