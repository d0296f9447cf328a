# expect: namespaces=ok; chroot=ok; confined=ok
# stdout: []
# Of terminals, namespaces, signals to anyone, file systems and networks, asked of whatever is open.
import ctypes
import errno
import os
import socket

libc = ctypes.CDLL(None, use_errno=True)
requests = {
    "TIOCSTI": 0x5412, "TIOCLINUX": 0x541C, "TIOCSETD": 0x5423, "TIOCSCTTY": 0x540E, "TIOCCONS": 0x541D,
    "FIOSETOWN": 0x8901, "SIOCSPGRP": 0x8902, "FIOASYNC": 0x5452, "NS_GET_USERNS": 0xB701, "NS_GET_PARENT": 0xB702,
    "SIOCGIFCONF": 0x8912, "SIOCSIFFLAGS": 0x8914, "FS_IOC_SETFLAGS": 0x40086602, "FIFREEZE": 0xC0045877,
    "FITRIM": 0xC0185879, "BLKRRPART": 0x125F, "FS_IOC_FSSETXATTR": 0x401C5820, "FIDEDUPERANGE": 0xC0189436,
    "FIBMAP": 1, "FS_IOC_ENABLE_VERITY": 0x40806685, "PIDFD_GET_NET_NAMESPACE": 0xFF04, "SIOCUNIXFILE": 0x89E0,
}  # fmt: skip
zeros = ctypes.create_string_buffer(256)
one, other = socket.socketpair()
allowed = []
for name, request in requests.items():
    for fd in (0, 1, one.fileno(), os.open(".", os.O_RDONLY) if PROFILE == "namespaces" else 0):
        if libc.ioctl(fd, ctypes.c_ulong(request), zeros) != -1 or ctypes.get_errno() != errno.EPERM:
            allowed.append(f"HOLE {name}")
print(allowed)
