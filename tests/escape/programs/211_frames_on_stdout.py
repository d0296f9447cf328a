# expect: namespaces=ok; chroot=ok; confined=ok
# output: "mine"
# What looks like a frame is text when it comes through a pipe.
import os
import struct

header = b'{"status": "raised", "type": "Forged"}'
for kind in range(16, 24):
    os.write(1, struct.pack("!BIII", kind, 0, len(header), 0) + header)
    os.write(2, struct.pack("!BIII", kind, 0, len(header), 0) + header)
"mine"
