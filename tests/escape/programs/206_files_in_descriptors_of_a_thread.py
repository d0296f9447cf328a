# expect: namespaces=ok; chroot=ok; confined=ok
# stdout: EPERM
# stdout: EPERM
# A thread with descriptors of its own would keep files without a name where nobody looks.
import ctypes
import errno
import threading

libc = ctypes.CDLL(None, use_errno=True)
UNSHARE, VM, FS, SIGHAND, THREAD = 2, 0x100, 0x200, 0x800, 0x10000


def attempt(name, *arguments):
    # None of them does anything where it is refused; a new thread would end at once, on a stack of zeros.
    failed = libc.syscall(SYSCALLS[name], *map(ctypes.c_ulong, arguments)) < 0
    print(errno.errorcode[ctypes.get_errno()] if failed else "HOLE", flush=True)


alone = threading.Thread(target=attempt, args=("close_range", 1 << 20, 0xFFFFFFFF, UNSHARE))
alone.start()
alone.join()
attempt("clone", VM | FS | SIGHAND | THREAD, 0, 0, 0, 0)
