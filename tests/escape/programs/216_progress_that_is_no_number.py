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
import time

for header in (b'{"done": 1e999}', b'{"done": NaN}', b'{"done": "1"}'):
    os.write(control, struct.pack("!BIII", 18, 0, len(header), 0) + header)
time.sleep(3600)
