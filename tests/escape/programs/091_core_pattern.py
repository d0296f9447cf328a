# expect: namespaces=ok; chroot=ok; confined=ok
# stdout: ENOENT
# stdout confined: EACCES
# why confined: /proc is the host's, and closed
import errno
import os

try:
    os.close(os.open("/proc/sys/kernel/core_pattern", os.O_WRONLY))
    print("HOLE")
except OSError as error:
    print(errno.errorcode[error.errno])
