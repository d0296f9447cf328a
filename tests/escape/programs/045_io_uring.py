# expect: namespaces=ok; chroot=ok; confined=ok
# stdout: io_uring_setup EPERM
# stdout: io_uring_enter EPERM
# stdout: io_uring_register EPERM
# stdout: io_setup EPERM
# stdout: io_submit EPERM
import ctypes
import errno

libc = ctypes.CDLL(None, use_errno=True)


def attempt(name, *arguments):
    failed = libc.syscall(SYSCALLS[name], *arguments) < 0
    print(name, errno.errorcode[ctypes.get_errno()] if failed else "HOLE")


attempt("io_uring_setup", 8, ctypes.create_string_buffer(256))
attempt("io_uring_enter", 0, 0, 0, 0, None, 0)
attempt("io_uring_register", 0, 0, None, 0)
attempt("io_setup", 1, ctypes.create_string_buffer(8))
attempt("io_submit", 0, 0, None)
