# expect: namespaces=ok; chroot=ok; confined=ok
# stdout: prlimit EPERM
# stdout: affinity EPERM
# stdout: scheduler EPERM
# stdout: priority EPERM
# stdout: priority of all EPERM
# stdout: io priority EPERM
# stdout: capabilities not told
import ctypes
import errno
import os
import resource

libc = ctypes.CDLL(None, use_errno=True)


def attempt(name, action):
    try:
        action()
        print(name, "HOLE")
    except OSError as error:
        print(name, errno.errorcode[error.errno])


def call(name, *arguments):
    if libc.syscall(SYSCALLS[name], *arguments) < 0:
        raise OSError(ctypes.get_errno(), name)


# As they are: were it allowed, nothing would change.
attempt("prlimit", lambda: resource.prlimit(1, resource.RLIMIT_NOFILE))
attempt("affinity", lambda: os.sched_setaffinity(1, {0, 1}))
attempt("scheduler", lambda: os.sched_setscheduler(1, os.SCHED_OTHER, os.sched_param(0)))
attempt("priority", lambda: os.setpriority(os.PRIO_PROCESS, 1, 0))
attempt("priority of all", lambda: os.setpriority(os.PRIO_USER, 0, 0))
attempt("io priority", lambda: call("ioprio_set", 1, 1, 0))
header, sets = (ctypes.c_uint32 * 2)(0x20080522, HOST_PID), (ctypes.c_uint32 * 6)()
print("capabilities", "HOLE" if libc.syscall(SYSCALLS["capget"], header, sets) == 0 else "not told")
