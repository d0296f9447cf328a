# expect: namespaces=ok; chroot=ok; confined=ok
# stdout: True
# Each descriptor in each epoll: what the kernel counts for a user, not for a process. And epolls in a circle.
import errno
import os
import select

watches = [select.epoll() for _ in range(100)]
events = [os.eventfd(0) for _ in range(100)]
for watch in watches:
    for event in events:
        watch.register(event)
refused = 0
for one, other in zip(watches, [*watches[1:], watches[0]], strict=True):
    try:
        one.register(other.fileno())
    except OSError as error:
        refused += error.errno in (errno.ELOOP, errno.EINVAL)
print(refused > 0)
