# expect: namespaces=ok; chroot=ok; confined=ok
# stdout: ['EPERM']
# stdout: AF_UNIX made
# stdout chroot: ['EPERM']
# stdout chroot: AF_UNIX EPERM
# stdout confined: ['EPERM']
# stdout confined: AF_UNIX EPERM
# why confined: there is no socket but a connected pair
import errno
import socket


def made(*arguments):
    try:
        socket.socket(*arguments).close()
        return "made"
    except OSError as error:
        return errno.errorcode[error.errno]


found = {}
for family in range(2, 46):
    for kind in (1, 2, 3, 4, 5, 10):
        found[family, kind] = made(family, kind, 0)
found["icmp"] = made(socket.AF_INET, socket.SOCK_DGRAM, 1)
found["raw"] = made(socket.AF_INET, socket.SOCK_RAW, 255)
print(sorted(set(found.values())) if "made" not in found.values() else f"HOLE {found}")
print("AF_UNIX", made(socket.AF_UNIX, socket.SOCK_STREAM, 0))
