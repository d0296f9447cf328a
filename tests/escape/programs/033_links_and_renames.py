# expect: namespaces=ok; chroot=ok; confined=ok
# stdout: link EXDEV
# stdout: rename EROFS
# stdout: exchange EROFS
# stdout: symlink EACCES
# stdout: mount EPERM
# stdout: bind EPERM
# stdout: move EPERM
# stdout chroot: link EPERM
# stdout chroot: rename EACCES
# stdout chroot: exchange EACCES
# stdout chroot: symlink EACCES
# stdout chroot: mount EPERM
# stdout chroot: bind EPERM
# stdout chroot: move EPERM
import ctypes
import errno
import os

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


attempt("link", lambda: os.link("/etc/passwd", "/tmp/paddock-escape"))
attempt("rename", lambda: os.rename("/etc/hosts", "/etc/paddock-escape"))
attempt("exchange", lambda: call("renameat2", -100, b"/tmp", -100, b"/files", 2))
os.symlink("/etc/passwd", "/tmp/paddock-escape")
attempt("symlink", lambda: os.close(os.open("/tmp/paddock-escape", os.O_WRONLY | os.O_APPEND)))
attempt("mount", lambda: call("mount", b"none", b"/files", b"tmpfs", 0, None))
attempt("bind", lambda: call("mount", b"/etc", b"/files", None, 4096, None))
attempt("move", lambda: call("move_mount", -100, b"/etc", -100, b"/files", 0))
