# expect: namespaces=ok; chroot=ok; confined=ok
# stdout: TIOCSTI ['EPERM']
# stdout: TIOCSCTTY ['EPERM']
# stdout: TIOCLINUX ['EPERM']
# stdout: TIOCSETD ['EPERM']
# stdout: /dev/tty ENOENT
# stdout: /dev/console ENOENT
# stdout: /dev/ptmx ENOENT
# stdout: /dev/pts ENOENT
# stdout: /dev/vda ENOENT
# stdout: /dev/mem ENOENT
# stdout: /dev/kmsg ENOENT
# stdout: /dev/fuse ENOENT
# stdout: /dev/kvm ENOENT
# stdout: isatty False
import errno
import fcntl
import os

for name, number in {"TIOCSTI": 0x5412, "TIOCSCTTY": 0x540E, "TIOCLINUX": 0x541C, "TIOCSETD": 0x5423}.items():
    found = set()
    for fd in (0, 1, 2):
        try:
            fcntl.ioctl(fd, number, b"x")
            found.add("HOLE")
        except OSError as error:
            found.add(errno.errorcode[error.errno])
    print(name, sorted(found))
for name in ("tty", "console", "ptmx", "pts", "vda", "mem", "kmsg", "fuse", "kvm"):
    try:
        os.close(os.open(f"/dev/{name}", os.O_RDONLY | os.O_NOCTTY))
        print("HOLE", name)
    except OSError as error:
        print(f"/dev/{name}", errno.errorcode[error.errno])
print("isatty", any(os.isatty(fd) for fd in (0, 1, 2)))
