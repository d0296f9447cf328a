# expect: namespaces=out_of_memory; chroot=out_of_memory; confined=raised
# limits: memory_bytes=67108864
# says confined: Invalid argument
# why confined: nothing counts pages that only a socket keeps, so a file cannot be sent
# Two bytes in a socket keep two pages of a file that is empty again.
import os
import socket
import tempfile

pairs = [socket.socketpair() for _ in range(60)]
kept = 0
with tempfile.NamedTemporaryFile(prefix="paddock-escape-") as file:
    for one in (one for pair in pairs for one in pair):
        one.setblocking(False)
        while True:
            os.pwrite(file.fileno(), bytes(8192), 0)
            try:
                os.sendfile(one.fileno(), file.fileno(), 4095, 2)
            except BlockingIOError:
                break
            os.ftruncate(file.fileno(), 0)
            kept += 8192
print("HOLE", kept)
