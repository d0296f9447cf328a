# expect: namespaces=ok; chroot=ok; confined=ok
# stdout: ENOENT ECONNREFUSED
# stdout: ENOENT ECONNREFUSED
# stdout chroot: EPERM EPERM
# stdout chroot: EPERM EPERM
# stdout confined: EPERM EPERM
# stdout confined: EPERM EPERM
# why confined: there is no socket but a connected pair
import errno
import socket

for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
    said = []
    for name in HOST_SOCKETS:
        try:
            with socket.socket(socket.AF_UNIX, kind) as end:
                end.connect(name)
            said.append("HOLE")
        except OSError as error:
            said.append(errno.errorcode[error.errno])
    print(*said)
