# expect: namespaces=ok; chroot=ok; confined=ok
# stdout: EPERM EPERM gaierror
import errno
import socket

said = []
for family in (socket.AF_INET, socket.AF_INET6):
    try:
        socket.socket(family, socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.1", 9))
        said.append("HOLE")
    except OSError as error:
        said.append(errno.errorcode[error.errno])
try:
    socket.getaddrinfo("example.com", 80)
    said.append("HOLE")
except OSError as error:
    said.append(type(error).__name__)
print(*said)
