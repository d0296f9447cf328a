# expect: namespaces=ok; chroot=ok; confined=ok
# stdout: [True, True, 'PermissionError', True]
# With a limit of 0 the kernel still starts the host's crash handler when a guest crashes; with 1 it does not.
import ctypes
import resource
import struct

libc = ctypes.CDLL(None, use_errno=True)
before, core, zeros = resource.getrlimit(resource.RLIMIT_CORE), resource.RLIMIT_CORE, struct.pack("=QQ", 0, 0)
changes = [
    lambda: resource.setrlimit(core, (0, 0)),
    lambda: libc.syscall(SYSCALLS["setrlimit"], ctypes.c_long(core | 1 << 32), zeros),
    lambda: resource.prlimit(0, core, (0, 1)),
    lambda: libc.syscall(SYSCALLS["prlimit64"], 0, ctypes.c_long(core | 1 << 32), zeros, 0),
]
found = []
for change in changes:
    try:
        change()
        found.append(resource.getrlimit(core) == before)
    except OSError as error:
        found.append(type(error).__name__)
print(found)
