# expect: namespaces=ok; chroot=ok; confined=ok
# stdout: []
# Every number that no table has a name for: a new call of a new kernel must not be open.
import ctypes
import errno

libc = ctypes.CDLL(None, use_errno=True)
known = set(SYSCALLS.values())
others = [number for number in range(1200) if number not in known] + [-1, 0x7FFFFFFF, 0x40000000 + 1100]
print([number for number in others if libc.syscall(ctypes.c_long(number), 0, 0, 0) != -1 or ctypes.get_errno() != errno.ENOSYS])
