# expect: namespaces=ok; chroot=ok; confined=ok
# stdout: EPERM
# stdout: EPERM
# A byte outside the stream: nobody needs it on a Unix socket, and its code in the kernel has been a way out.
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
import errno

for fd in (control, socket.socketpair()[0].detach()):
    with socket.socket(fileno=os.dup(fd)) as end:
        try:
            end.send(b"x", socket.MSG_OOB)
            print("HOLE")
        except OSError as error:
            print(errno.errorcode[error.errno])
