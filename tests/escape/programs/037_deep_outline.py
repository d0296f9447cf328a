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

body = b'{"more": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"
frame = struct.pack("!BIII", 24, 0, 0, len(body)) + body
while frame:
    frame = frame[os.write(control, frame) :]
while True:
    pass
