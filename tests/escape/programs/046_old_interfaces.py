# expect: namespaces=ok; chroot=ok; confined=ok
# machine: x86_64
# stdout: modify_ldt EPERM
# stdout: ioperm EPERM
# stdout: iopl EPERM
# stdout: uselib EPERM
# stdout: _sysctl EPERM
# stdout: create_module EPERM
# stdout: nfsservctl EPERM
# stdout: vserver EPERM
import ctypes
import errno

libc = ctypes.CDLL(None, use_errno=True)


def attempt(name, *arguments):
    failed = libc.syscall(SYSCALLS[name], *arguments) < 0
    print(name, errno.errorcode[ctypes.get_errno()] if failed else "HOLE")


for name in ("modify_ldt", "ioperm", "iopl", "uselib", "_sysctl", "create_module", "nfsservctl", "vserver"):
    attempt(name, 0, 0, 0, 0)
