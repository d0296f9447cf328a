# expect: namespaces=ok; chroot=ok; confined=ok
# stdout: chmod EPERM
# stdout: fchmod EPERM
# stdout: fchmodat2 EPERM
# stdout: open EPERM
# stdout: setgid EPERM
# stdout: mknod EPERM
# stdout: fifo EPERM
# stdout: xattr ENOTSUP
import ctypes
import errno
import os
import stat

libc = ctypes.CDLL(None, use_errno=True)


def attempt(name, action):
    try:
        action()
        print(name, "HOLE")
    except OSError as error:
        print(name, errno.errorcode[error.errno])


def call(name, *arguments):
    if libc.syscall(SYSCALLS[name], *arguments) < 0:
        raise OSError(ctypes.get_errno(), name)


place = os.environ.get("TMPDIR", "/tmp")
path = f"{place}/paddock-escape"
fd = os.open(path, os.O_CREAT | os.O_RDWR)
attempt("chmod", lambda: os.chmod(path, 0o4755))
attempt("fchmod", lambda: os.fchmod(fd, 0o4755))
attempt("fchmodat2", lambda: call("fchmodat2", -100, path.encode(), 0o4755, 0))
attempt("open", lambda: os.open(path + "2", os.O_CREAT | os.O_WRONLY, 0o4755))
attempt("setgid", lambda: os.chmod(path, 0o2755))
attempt("mknod", lambda: os.mknod(f"{place}/paddock-escape-device", stat.S_IFCHR | 0o600, os.makedev(1, 1)))
attempt("fifo", lambda: os.mkfifo(f"{place}/paddock-escape-fifo"))
attempt("xattr", lambda: os.setxattr(path, "user.x", b"1"))
