# expect: namespaces=ok; chroot=ok; confined=ok
# stdout: []
# Namespaces, a parent of one's own choice, a group of one's own choice: each flag that is more than a process.
import ctypes
import errno

libc = ctypes.CDLL(None, use_errno=True)
flags = {
    "PTRACE": 0x2000, "PARENT": 0x8000, "NEWNS": 0x20000, "UNTRACED": 0x800000, "NEWCGROUP": 0x2000000,
    "NEWUTS": 0x4000000, "NEWIPC": 0x8000000, "NEWUSER": 0x10000000, "NEWPID": 0x20000000, "NEWNET": 0x40000000,
    "IO": 0x80000000, "CLEAR_SIGHAND": 1 << 32, "INTO_CGROUP": 1 << 33,
}  # fmt: skip
made = []
for name, flag in flags.items():
    pid = libc.syscall(SYSCALLS["clone"], ctypes.c_ulong(flag | 17), None, None, None, None)
    if pid == 0:
        libc._exit(0)
    if pid > 0 or ctypes.get_errno() != errno.EPERM:
        made.append(f"HOLE {name}")
print(made)
