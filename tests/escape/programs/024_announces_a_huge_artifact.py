# expect: namespaces=crashed; chroot=crashed; confined=crashed
# error: ProtocolError
# says: announces 4294967295 bytes
# It says that four gigabytes follow, and sends as many as are taken.
import os
import struct
import sys

control = sys.modules["paddock.guest.python.main"]._channel._socket.fileno()
header = b'{"do": "create", "filename": "paddock-escape"}'
os.set_blocking(control, True)
os.write(control, struct.pack("!BIII", 19, 7, len(header), 2**32 - 1) + header)
while True:
    os.write(control, bytes(1 << 16))
