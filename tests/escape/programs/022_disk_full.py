# expect: namespaces=ok; chroot=ok; confined=ok
# stdout: ENOSPC
# stdout: ENOSPC
# stdout: ENOSPC
# stdout chroot: EFBIG
# stdout chroot: EFBIG
# stdout chroot: EFBIG
# stdout confined: EFBIG
# stdout confined: EFBIG
# stdout confined: EACCES
# why confined: a folder in memory is shared: the kernel bounds each file; /dev/shm is the host's, and closed
import errno
import os

places = [os.environ.get("TMPDIR", "/tmp"), os.environ.get("PADDOCK_FILES", "/files")]
for place in [*places, "/dev/shm"]:
    written = 0
    path = f"{place}/paddock-escape"
    try:
        with open(path, "wb", buffering=0) as file:
            while written < 1 << 30:
                written += file.write(bytes(1 << 20))
        print("HOLE")
    except OSError as error:
        print(errno.errorcode[error.errno])
    if os.path.exists(path):
        os.unlink(path)
