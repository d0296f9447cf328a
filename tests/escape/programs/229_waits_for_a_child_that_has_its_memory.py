# expect: namespaces=timeout; chroot=timeout; confined=raised
# limits: wall_seconds=1
# stdout: waiting
# why confined: a guest is one process, and fork is refused
# A parent that the kernel does not let go on before its child has become another program, which it never does.
import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
print("waiting", flush=True)
VM, VFORK, CHILD = 0x100, 0x4000, 17
if libc.syscall(SYSCALLS["clone"], ctypes.c_ulong(VM | VFORK | CHILD), None, None, None, None) < 0:
    raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
while True:
    libc.pause()
