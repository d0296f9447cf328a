# expect: namespaces=ok; chroot=ok; confined=ok
# stdout: 9223372036854771712
# stdout chroot: EFBIG
# stdout chroot: 0
# stdout confined: EFBIG
# stdout confined: 0
# why confined: the kernel bounds each file by its size, holes included
# A file of eight exabytes that holds nothing: whoever read it to its end would not come back.
import errno
import os

fd = os.open(os.environ.get("TMPDIR", "/tmp") + "/paddock-escape", os.O_RDWR | os.O_CREAT)
try:
    os.ftruncate(fd, 2**63 - 4096)
except OSError as error:
    print(errno.errorcode[error.errno])
print(os.fstat(fd).st_size)
