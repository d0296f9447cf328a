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
# stdout confined: link EXDEV
# stdout confined: rename EACCES
# stdout confined: exchange EACCES
# stdout confined: symlink EACCES
# stdout confined: mount EPERM
# stdout confined: bind EPERM
# stdout confined: move EPERM
# why confined: what lies outside of its folder is closed, not read-only
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


place = os.environ.get("TMPDIR", "/tmp")
files = os.environ.get("PADDOCK_FILES", "/files")
attempt("link", lambda: os.link("/etc/passwd", f"{place}/paddock-escape"))
attempt("rename", lambda: os.rename("/etc/hosts", "/etc/paddock-escape"))
attempt("exchange", lambda: call("renameat2", -100, place.encode(), -100, files.encode(), 2))
os.symlink("/etc/passwd", f"{place}/paddock-escape")
attempt("symlink", lambda: os.close(os.open(f"{place}/paddock-escape", os.O_WRONLY | os.O_APPEND)))
attempt("mount", lambda: call("mount", b"none", files.encode(), b"tmpfs", 0, None))
attempt("bind", lambda: call("mount", b"/etc", files.encode(), None, 4096, None))
attempt("move", lambda: call("move_mount", -100, b"/etc", -100, files.encode(), 0))
