# expect: namespaces=ok; chroot=ok; confined=ok
# stdout: no_new_privs 1
# stdout: seccomp 2
# stdout: held 0
# stdout: bounding []
# stdout: ambient []
# stdout: not root
# stdout: []
# stdout confined: no_new_privs 1
# stdout confined: seccomp 2
# stdout confined: held 0
# stdout confined: bounding of the user
# stdout confined: ambient []
# stdout confined: not root
# stdout confined: of the user
# why confined: without privilege nobody can empty the bounding set or leave groups; with no_new_privs none is gained by it
import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
print("no_new_privs", libc.prctl(39, 0, 0, 0, 0))
print("seccomp", libc.prctl(21, 0, 0, 0, 0))
header, sets = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
libc.syscall(SYSCALLS["capget"], header, sets)  # refused without a pid namespace, where `test_hosts` looks instead
print("held", sum(sets))
bounding = [number for number in range(41) if libc.prctl(23, number, 0, 0, 0) == 1]
print("bounding", bounding if PROFILE != "confined" else "of the user")
print("ambient", [number for number in range(41) if libc.prctl(47, 1, number, 0, 0) == 1])
print("HOLE" if 0 in (*os.getresuid(), *os.getresgid()) else "not root")
print(os.getgroups() if PROFILE != "confined" else "of the user")
