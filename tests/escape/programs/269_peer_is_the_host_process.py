# expect: namespaces=ok; chroot=ok; confined=ok
# output: ["EPERM"]
# SO_PEERCRED, PEERSEC, PEERGROUPS and PEERPIDFD of the channel to the host would tell about the host's process, and so
# would what comes with each message after SO_PASSCRED, PASSSEC or PASSPIDFD.
import errno
import os
import socket
import stat


def refusal(fd, option):
    with socket.socket(fileno=os.dup(fd)) as end:
        try:
            if option in (16, 34, 76):
                return end.setsockopt(socket.SOL_SOCKET, option, 1)
            return end.getsockopt(socket.SOL_SOCKET, option, 256)
        except OSError as problem:
            return errno.errorcode[problem.errno]


def is_socket(fd):
    try:
        return stat.S_ISSOCK(os.fstat(fd).st_mode)
    except OSError:
        return False


own, other = socket.socketpair()
sorted({refusal(fd, option) for fd in filter(is_socket, range(1024)) for option in (16, 34, 76, 17, 31, 59, 77)})
