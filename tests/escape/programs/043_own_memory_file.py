# expect: namespaces=ok; chroot=ok; confined=ok
# stdout: EROFS
# stdout chroot: ENOENT
# stdout confined: EACCES
# why confined: /proc is the host's, and closed
# Writing it is a way around read-only pages, and around seccomp's view of arguments.
import errno
import os

try:
    os.close(os.open("/proc/self/mem", os.O_RDWR))
    print("HOLE")
except OSError as error:
    print(errno.errorcode[error.errno])
