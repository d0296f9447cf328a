# expect: namespaces=ok; chroot=ok; confined=ok
# stdout: EFBIG
# stdout: 0
# A file of eight exabytes that holds nothing: whoever read it to its end would not come back.
import errno
import os

fd = os.open(os.environ.get("TMPDIR", "/tmp") + "/paddock-escape", os.O_RDWR | os.O_CREAT)
try:
    os.ftruncate(fd, 2**63 - 4096)
except OSError as error:
    print(errno.errorcode[error.errno])
print(os.fstat(fd).st_size)
