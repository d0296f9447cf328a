# expect: namespaces=ok; chroot=ok; confined=raised
# output: "dropped"
# output confined: null
# why confined: no descriptor can be sent
# Two sockets, each on its way through the other, and nobody holds them: the kernel has to find out.
import errno
import socket


def send(end, *others):
    try:
        socket.send_fds(end, [b"x"], [other.fileno() for other in others])
    except OSError as error:
        if error.errno != errno.ETOOMANYREFS:  # so many are on their way already
            raise


for _ in range(300):
    one, other = socket.socketpair()
    first, second = socket.socketpair()
    send(one, first, second, other)
    send(first, one, other, second)
    for end in (one, other, first, second):
        end.close()
"dropped"
