# expect: namespaces=crashed; chroot=crashed; confined=crashed
import os
import stat


def is_socket(fd):
    try:
        return stat.S_ISSOCK(os.fstat(fd).st_mode)
    except OSError:
        return False


control = next(filter(is_socket, range(3, 1024)))
os.dup2(control, 1)
print("x" * 100_000)
