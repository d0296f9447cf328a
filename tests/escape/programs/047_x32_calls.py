# expect: namespaces=ok; chroot=ok; confined=ok
# machine: x86_64
# stdout: getpid ENOSYS
# stdout: open ENOSYS
# stdout: execve ENOSYS
# stdout: unknown ENOSYS
import ctypes
import errno

libc = ctypes.CDLL(None, use_errno=True)


def attempt(name, *arguments):
    failed = libc.syscall(SYSCALLS[name], *arguments) < 0
    print(name, errno.errorcode[ctypes.get_errno()] if failed else "HOLE")


# The numbers of x32 have bit 30 set.
SYSCALLS |= {name: SYSCALLS[name] | 1 << 30 for name in ("getpid", "open", "execve")} | {"unknown": 9999}
attempt("getpid")
attempt("open", b"/etc/passwd", 0)
attempt("execve", b"/bin/sh", 0, 0)
attempt("unknown")
