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

header = b'{"status": "ok"}'
body = b"null}, {\"verdict\": \"ok\""
os.write(control, struct.pack("!BIII", 20, 0, len(header), len(body)) + header + body)
while True:
    pass
