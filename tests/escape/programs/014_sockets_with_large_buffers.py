# expect: namespaces=ok; chroot=ok; confined=ok
# stdout: SO_SNDBUF set
# stdout: SO_RCVBUF set
# stdout confined: SO_SNDBUF EPERM
# stdout confined: SO_RCVBUF EPERM
# why confined: nobody counts what waits in sockets, so they stay as small as they are
import errno
import socket

one, other = socket.socketpair()
for name in ("SO_SNDBUF", "SO_RCVBUF"):
    try:
        one.setsockopt(socket.SOL_SOCKET, getattr(socket, name), 1 << 30)
        print(name, "set")
    except OSError as error:
        print(name, errno.errorcode[error.errno])
