# expect: namespaces=ok; chroot=ok; confined=ok
# output: 1
# stdout: ""
# The first one counts, and what is said after it does not.
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


def result(header, body):
    return struct.pack("!BIII", 20, 0, len(header), len(body)) + header + body


os.write(control, result(b'{"status": "ok"}', b"1") + result(b'{"status": "raised", "type": "MemoryError"}', b""))
while True:
    pass
