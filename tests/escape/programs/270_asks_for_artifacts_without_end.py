# expect: namespaces=timeout|crashed; chroot=timeout|crashed; confined=timeout|crashed
# limits: wall_seconds=2
# The host answers two at a time. What it has not answered yet must wait here, not in the host.
import os
import select
import socket
import stat
import struct


def is_socket(fd):
    try:
        return stat.S_ISSOCK(os.fstat(fd).st_mode)
    except OSError:
        return False


control = next(filter(is_socket, range(3, 1024)))
header = b'{"do": "read", "ref": "none"}'
frames = struct.pack("!BIII", 19, 1, len(header), 0) + header
frames *= 20_000
rest = memoryview(frames)
while True:
    try:
        rest = rest[os.write(control, rest) :] or memoryview(frames)
    except BlockingIOError:
        select.select([], [control], [])
    try:
        os.read(control, 1 << 20)
    except BlockingIOError:
        pass
