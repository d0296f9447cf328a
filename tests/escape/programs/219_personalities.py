# expect: namespaces=ok; chroot=ok; confined=ok
# stdout: personality EPERM
# stdout: personality EPERM
# stdout: personality EPERM
# Pages that can be executed though nobody said so, addresses that can be foretold, another kind of program.
import ctypes
import errno

libc = ctypes.CDLL(None, use_errno=True)


def attempt(name, *arguments):
    failed = libc.syscall(SYSCALLS[name], *map(ctypes.c_ulong, arguments)) < 0
    print(name, errno.errorcode[ctypes.get_errno()] if failed else "HOLE")


for persona in (0x0400000, 0x0040000, 0x0008):
    attempt("personality", persona)
