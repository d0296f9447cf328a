# expect: namespaces=ok; chroot=ok; confined=ok
# output: ["EPERM"]
# SO_PEERPIDFD of the channel to the host would be a descriptor of the host's process.
import errno
import os
import socket
import stat


def refusal(fd):
    with socket.socket(fileno=os.dup(fd)) as end:
        try:
            return end.getsockopt(socket.SOL_SOCKET, 77)
        except OSError as problem:
            return errno.errorcode[problem.errno]


def is_socket(fd):
    try:
        return stat.S_ISSOCK(os.fstat(fd).st_mode)
    except OSError:
        return False


own, other = socket.socketpair()
sorted({refusal(fd) for fd in filter(is_socket, range(1024))})
