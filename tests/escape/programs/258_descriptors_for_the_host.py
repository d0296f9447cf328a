# expect: namespaces=ok; chroot=ok; confined=ok
# stdout: PermissionError
# It sends a descriptor to the host, which would have to close it: the host's event loop, and not the guest, would free
# what belongs to the file (a memfd of hundreds of megabytes, an epoll object with a million watches).
import socket
import struct
import sys

control = sys.modules["paddock.guest.python.main"]._channel._socket
header = b'{"line": 1}'
reached = struct.pack("!BIII", 25, 0, len(header), 0) + header
try:
    socket.send_fds(control, [reached], [0])
    print("HOLE")
except OSError as error:
    print(type(error).__name__)
