# expect: namespaces=ok; chroot=ok; confined=ok
# stdout: ptrace EPERM
# stdout: ptrace EPERM
# stdout: process_vm_readv EPERM
# stdout: process_vm_writev EPERM
# stdout: pidfd_getfd EPERM
# stdout: process_madvise EPERM
# stdout: kcmp EPERM
# stdout: process_mrelease EPERM
import ctypes
import errno

libc = ctypes.CDLL(None, use_errno=True)


def attempt(name, *arguments):
    failed = libc.syscall(SYSCALLS[name], *arguments) < 0
    print(name, errno.errorcode[ctypes.get_errno()] if failed else "HOLE")


import os

attempt("ptrace", 0, 0, 0, 0)
attempt("ptrace", 16, 1, 0, 0)
attempt("process_vm_readv", 1, None, 0, None, 0, 0)
attempt("process_vm_writev", 1, None, 0, None, 0, 0)
attempt("pidfd_getfd", 0, 0, 0)
attempt("process_madvise", 0, None, 0, 0, 0)
attempt("kcmp", 1, os.getpid(), 0, 0, 0)
attempt("process_mrelease", 0, 0)
