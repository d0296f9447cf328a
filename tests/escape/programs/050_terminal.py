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
# stdout confined: TIOCSTI ['EPERM']
# stdout confined: TIOCSCTTY ['EPERM']
# stdout confined: TIOCLINUX ['EPERM']
# stdout confined: TIOCSETD ['EPERM']
# stdout confined: /dev/tty closed
# stdout confined: /dev/console closed
# stdout confined: /dev/ptmx closed
# stdout confined: /dev/pts closed
# stdout confined: /dev/vda closed
# stdout confined: /dev/mem closed
# stdout confined: /dev/kmsg closed
# stdout confined: /dev/fuse closed
# stdout confined: /dev/kvm closed
# stdout confined: isatty False
# why confined: /dev is the host's, and closed
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
        # Of the host's own devices some are not there, and the others closed.
        said = errno.errorcode[error.errno]
        print(f"/dev/{name}", "closed" if PROFILE == "confined" and said in ("EACCES", "ENOENT") else said)
print("isatty", any(os.isatty(fd) for fd in (0, 1, 2)))
