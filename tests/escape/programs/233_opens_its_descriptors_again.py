# expect: namespaces=ok; chroot=ok; confined=ok
# stdout: []
# Through /proc a descriptor opens anew, with other rights than it was given.
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

again = []
for fd in (0, 1, 2, control):
    for flags in (os.O_RDONLY, os.O_WRONLY, os.O_RDWR):
        try:
            opened = os.open(f"/proc/self/fd/{fd}", flags | os.O_NONBLOCK)
        except OSError:
            continue
        kind = os.fstat(opened).st_mode
        if not stat.S_ISFIFO(kind) and not stat.S_ISCHR(kind):  # its own pipes, and /dev/null
            again.append(f"HOLE {fd}")
        os.close(opened)
print(again)
