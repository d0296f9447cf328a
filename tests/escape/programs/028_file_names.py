# expect: namespaces=ok; chroot=ok; confined=ok
# stdout: ValueError
# stdout: made
# stdout: made
# stdout: made
# stdout: ENAMETOOLONG
# stdout: EROFS
# stdout chroot: ValueError
# stdout chroot: made
# stdout chroot: made
# stdout chroot: made
# stdout chroot: ENAMETOOLONG
# stdout chroot: EACCES
# stdout confined: ValueError
# stdout confined: made
# stdout confined: made
# stdout confined: made
# stdout confined: ENAMETOOLONG
# stdout confined: EACCES
# why confined: what lies outside of its folder is closed, not read-only
import errno
import os

place = os.environb.get(b"TMPDIR", b"/tmp") + b"/"
for name in (b"a\0b", b"a\nb", b"\xff\xfe", b"-rf *", b"x" * 4096, b"../" * 8 + b"etc/paddock-escape"):
    try:
        os.close(os.open(place + name, os.O_CREAT | os.O_WRONLY))
        print("made")
    except OSError as error:
        print(errno.errorcode[error.errno])
    except ValueError as error:
        print(type(error).__name__)
