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

header = b'{"status": "rejected", "type": "SyntaxError", "message": "nothing ran"}'
os.write(control, struct.pack("!BIII", 20, 0, len(header), 0) + header)
while True:
    pass
