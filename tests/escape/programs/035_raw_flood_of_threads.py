# expect: namespaces=output_limit; chroot=output_limit; confined=output_limit
import os
import threading


def flood(fd):
    while True:
        os.write(fd, b"\xff" * 65536)


for fd in (1, 2, 1, 2):
    threading.Thread(target=flood, args=(fd,)).start()
