# expect: namespaces=ok; chroot=ok; confined=ok
# stdout: ENOSPC
# stdout: ENOSPC
# stdout: ENOSPC
# stdout chroot: EFBIG
# stdout chroot: EFBIG
# stdout chroot: EFBIG
import errno
import os

for place in ("/tmp", "/files", "/dev/shm"):
    written = 0
    path = f"{place}/paddock-escape"
    try:
        with open(path, "wb", buffering=0) as file:
            while written < 1 << 30:
                written += file.write(bytes(1 << 20))
        print("HOLE")
    except OSError as error:
        print(errno.errorcode[error.errno])
    os.unlink(path)
