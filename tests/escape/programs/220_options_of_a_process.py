# expect: namespaces=ok; chroot=ok; confined=ok
# stdout: []
# What would make a process traceable, its own reaper, untraceable by the kernel's bookkeeping, or differently filtered.
import ctypes
import errno

libc = ctypes.CDLL(None, use_errno=True)
options = {
    "SET_DUMPABLE": (4, 0), "SET_KEEPCAPS": (8, 1), "SET_SECCOMP": (22, 1), "CAPBSET_DROP": (24, 0), "SET_TSC": (26, 2),
    "SET_SECUREBITS": (28, 0), "MCE_KILL": (33, 0), "SET_MM": (35, 1), "SET_CHILD_SUBREAPER": (36, 1),
    "CAP_AMBIENT": (47, 4), "SET_SPECULATION": (53, 0), "SET_IO_FLUSHER": (57, 1), "SET_SYSCALL_USER_DISPATCH": (59, 0),
    "SCHED_CORE": (62, 1), "SET_PTRACER": (0x59616D61, 2**64 - 1),
}  # fmt: skip
allowed = []
for name, (option, value) in options.items():
    if libc.prctl(option, ctypes.c_ulong(value), 0, 0, 0) != -1 or ctypes.get_errno() != errno.EPERM:
        allowed.append(f"HOLE {name}")
print(allowed)
