# expect: namespaces=ok|crashed; chroot=ok|crashed; confined=ok|crashed
# limits: wall_seconds=10
# Frames that are torn apart by other frames: the run fails, or does not; the host reads on either way.
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
import threading

header = b'{"done": 1}'
frame = struct.pack("!BIII", 18, 0, len(header), 0) + header


def send():
    while True:
        try:
            os.write(control, frame * 50)
        except OSError:
            pass


for _ in range(4):
    threading.Thread(target=send, daemon=True).start()
sum(range(10**6))
