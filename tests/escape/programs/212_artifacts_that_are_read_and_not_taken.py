# expect: namespaces=timeout; chroot=timeout; confined=timeout
# limits: wall_seconds=2
# stdout: True
# stdout: asked
# Each answer is large, and this end takes none of them: they must not pile up in the host.
import os
import struct
import sys
import time

made = await create_artifact("paddock-escape.bin", bytes(15 << 20))
print(made["success"], flush=True)
# Not the first socket that is open: that is one of the event loop's own.
control = sys.modules["paddock.guest.python.main"]._channel._socket.fileno()
header = b'{"do": "read", "ref": "paddock-escape.bin"}'
frame = struct.pack("!BIII", 19, 7, len(header), 0) + header
os.set_blocking(control, True)
os.write(control, frame * 16)
print("asked", flush=True)
time.sleep(3600)
