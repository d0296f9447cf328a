"""System calls: their numbers on both architectures (up to Linux 6.18), and a way to make those that Python lacks.

A call that fails raises an OSError with the name of the call.
"""

from __future__ import annotations

import ctypes
import errno
import os

# A number belongs to the name after it. Each further name has the next number.
_X86_64 = """
    0 read write open close stat fstat lstat poll lseek mmap mprotect munmap brk rt_sigaction rt_sigprocmask
    rt_sigreturn ioctl pread64 pwrite64 readv writev access pipe select sched_yield mremap msync mincore madvise
    shmget shmat shmctl dup dup2 pause nanosleep getitimer alarm setitimer getpid sendfile socket connect accept
    sendto recvfrom sendmsg recvmsg shutdown bind listen getsockname getpeername socketpair setsockopt getsockopt
    clone fork vfork execve exit wait4 kill uname semget semop semctl shmdt msgget msgsnd msgrcv msgctl fcntl flock
    fsync fdatasync truncate ftruncate getdents getcwd chdir fchdir rename mkdir rmdir creat link unlink symlink
    readlink chmod fchmod chown fchown lchown umask gettimeofday getrlimit getrusage sysinfo times ptrace getuid
    syslog getgid setuid setgid geteuid getegid setpgid getppid getpgrp setsid setreuid setregid getgroups setgroups
    setresuid getresuid setresgid getresgid getpgid setfsuid setfsgid getsid capget capset rt_sigpending
    rt_sigtimedwait rt_sigqueueinfo rt_sigsuspend sigaltstack utime mknod uselib personality ustat statfs fstatfs
    sysfs getpriority setpriority sched_setparam sched_getparam sched_setscheduler sched_getscheduler
    sched_get_priority_max sched_get_priority_min sched_rr_get_interval mlock munlock mlockall munlockall vhangup
    modify_ldt pivot_root _sysctl prctl arch_prctl adjtimex setrlimit chroot sync acct settimeofday mount umount2
    swapon swapoff reboot sethostname setdomainname iopl ioperm create_module init_module delete_module
    get_kernel_syms query_module quotactl nfsservctl getpmsg putpmsg afs_syscall tuxcall security gettid readahead
    setxattr lsetxattr fsetxattr getxattr lgetxattr fgetxattr listxattr llistxattr flistxattr removexattr
    lremovexattr fremovexattr tkill time futex sched_setaffinity sched_getaffinity set_thread_area io_setup
    io_destroy io_getevents io_submit io_cancel get_thread_area lookup_dcookie epoll_create epoll_ctl_old
    epoll_wait_old remap_file_pages getdents64 set_tid_address restart_syscall semtimedop fadvise64 timer_create
    timer_settime timer_gettime timer_getoverrun timer_delete clock_settime clock_gettime clock_getres
    clock_nanosleep exit_group epoll_wait epoll_ctl tgkill utimes vserver mbind set_mempolicy get_mempolicy mq_open
    mq_unlink mq_timedsend mq_timedreceive mq_notify mq_getsetattr kexec_load waitid add_key request_key keyctl
    ioprio_set ioprio_get inotify_init inotify_add_watch inotify_rm_watch migrate_pages openat mkdirat mknodat
    fchownat futimesat newfstatat unlinkat renameat linkat symlinkat readlinkat fchmodat faccessat pselect6 ppoll
    unshare set_robust_list get_robust_list splice tee sync_file_range vmsplice move_pages utimensat epoll_pwait
    signalfd timerfd_create eventfd fallocate timerfd_settime timerfd_gettime accept4 signalfd4 eventfd2
    epoll_create1 dup3 pipe2 inotify_init1 preadv pwritev rt_tgsigqueueinfo perf_event_open recvmmsg fanotify_init
    fanotify_mark prlimit64 name_to_handle_at open_by_handle_at clock_adjtime syncfs sendmmsg setns getcpu
    process_vm_readv process_vm_writev kcmp finit_module sched_setattr sched_getattr renameat2 seccomp getrandom
    memfd_create kexec_file_load bpf execveat userfaultfd membarrier mlock2 copy_file_range preadv2 pwritev2
    pkey_mprotect pkey_alloc pkey_free statx io_pgetevents rseq uretprobe uprobe
"""
_AARCH64 = """
    0 io_setup io_destroy io_submit io_cancel io_getevents setxattr lsetxattr fsetxattr getxattr lgetxattr fgetxattr
    listxattr llistxattr flistxattr removexattr lremovexattr fremovexattr getcwd lookup_dcookie eventfd2
    epoll_create1 epoll_ctl epoll_pwait dup dup3 fcntl inotify_init1 inotify_add_watch inotify_rm_watch ioctl
    ioprio_set ioprio_get flock mknodat mkdirat unlinkat symlinkat linkat renameat umount2 mount pivot_root
    nfsservctl statfs fstatfs truncate ftruncate fallocate faccessat chdir fchdir chroot fchmod fchmodat fchownat
    fchown openat close vhangup pipe2 quotactl getdents64 lseek read write readv writev pread64 pwrite64 preadv
    pwritev sendfile pselect6 ppoll signalfd4 vmsplice splice tee readlinkat newfstatat fstat sync fsync fdatasync
    sync_file_range timerfd_create timerfd_settime timerfd_gettime utimensat acct capget capset personality exit
    exit_group waitid set_tid_address unshare futex set_robust_list get_robust_list nanosleep getitimer setitimer
    kexec_load init_module delete_module timer_create timer_gettime timer_getoverrun timer_settime timer_delete
    clock_settime clock_gettime clock_getres clock_nanosleep syslog ptrace sched_setparam sched_setscheduler
    sched_getscheduler sched_getparam sched_setaffinity sched_getaffinity sched_yield sched_get_priority_max
    sched_get_priority_min sched_rr_get_interval restart_syscall kill tkill tgkill sigaltstack rt_sigsuspend
    rt_sigaction rt_sigprocmask rt_sigpending rt_sigtimedwait rt_sigqueueinfo rt_sigreturn setpriority getpriority
    reboot setregid setgid setreuid setuid setresuid getresuid setresgid getresgid setfsuid setfsgid times setpgid
    getpgid getsid setsid getgroups setgroups uname sethostname setdomainname getrlimit setrlimit getrusage umask
    prctl getcpu gettimeofday settimeofday adjtimex getpid getppid getuid geteuid getgid getegid gettid sysinfo
    mq_open mq_unlink mq_timedsend mq_timedreceive mq_notify mq_getsetattr msgget msgctl msgrcv msgsnd semget semctl
    semtimedop semop shmget shmctl shmat shmdt socket socketpair bind listen accept connect getsockname getpeername
    sendto recvfrom setsockopt getsockopt shutdown sendmsg recvmsg readahead brk munmap mremap add_key request_key
    keyctl clone execve mmap fadvise64 swapon swapoff mprotect msync mlock munlock mlockall munlockall mincore
    madvise remap_file_pages mbind get_mempolicy set_mempolicy migrate_pages move_pages rt_tgsigqueueinfo
    perf_event_open accept4 recvmmsg 260 wait4 prlimit64 fanotify_init fanotify_mark name_to_handle_at
    open_by_handle_at clock_adjtime syncfs setns sendmmsg process_vm_readv process_vm_writev kcmp finit_module
    sched_setattr sched_getattr renameat2 seccomp getrandom memfd_create bpf execveat userfaultfd membarrier mlock2
    copy_file_range preadv2 pwritev2 pkey_mprotect pkey_alloc pkey_free statx io_pgetevents rseq kexec_file_load
"""
_SINCE_5_1 = """
    424 pidfd_send_signal io_uring_setup io_uring_enter io_uring_register open_tree move_mount fsopen fsconfig
    fsmount fspick pidfd_open clone3 close_range openat2 pidfd_getfd faccessat2 process_madvise epoll_pwait2
    mount_setattr quotactl_fd landlock_create_ruleset landlock_add_rule landlock_restrict_self memfd_secret
    process_mrelease futex_waitv set_mempolicy_home_node cachestat fchmodat2 map_shadow_stack futex_wake futex_wait
    futex_requeue statmount listmount lsm_get_self_attr lsm_set_self_attr lsm_list_modules mseal setxattrat
    getxattrat listxattrat removexattrat open_tree_attr file_getattr file_setattr
"""


def _number(table: str) -> dict[str, int]:
    numbers: dict[str, int] = {}
    number = 0
    for word in table.split():
        if word.isdigit():
            number = int(word)
        else:
            numbers[word] = number
            number += 1
    return numbers


# Calls since Linux 5.1 have the same number on every architecture.
NUMBERS = {
    "x86_64": _number(_X86_64 + _SINCE_5_1),
    "aarch64": _number(_AARCH64 + _SINCE_5_1),
}
MACHINE = os.uname().machine


_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long
# Every call passes six arguments at full width, because a register that is not set would hold a leftover value. ctypes
# converts them: doing it in Python would make a freshly forked guest copy a hundred pages.
_libc.syscall.argtypes = [ctypes.c_long, *[ctypes.c_void_p] * 6]
_PAUSE = ctypes.cast(_libc.pause, ctypes.c_void_p)
_libc_with_gil = ctypes.PyDLL(None, use_errno=True)
if hasattr(_libc, "prctl"):  # Linux; elsewhere this module can still be imported
    _libc.prctl.argtypes = [ctypes.c_int, *[ctypes.c_ulong] * 4]

Argument = int | bytes | ctypes.Array[ctypes.c_char] | None

_OWN = NUMBERS.get(MACHINE, {})
_ABSENT = [(None,) * (6 - count) for count in range(7)]


def syscall(name: str, *arguments: Argument) -> int:
    """Make the call and return its result."""
    if name not in _OWN:
        raise OSError(errno.ENOSYS, f"{name}: unknown on {MACHINE}")
    result: int = _libc.syscall(_OWN[name], *arguments, *_ABSENT[len(arguments)])
    if result < 0:
        raise _error(name)
    return result


def _error(name: str) -> OSError:
    number = ctypes.get_errno()
    return OSError(number, f"{name}: {os.strerror(number)}")


def prctl(option: int, *arguments: int) -> int:
    """Call prctl(2) and return its result."""
    result: int = _libc.prctl(option, *[*arguments, 0, 0, 0, 0][:4])
    if result < 0:
        raise _error(f"prctl({option})")
    return result


class ProcessName:
    """The name that `ps` and `top` show for a process; at most 15 bytes."""

    def __init__(self, name: str) -> None:
        self._held = ctypes.create_string_buffer(name.encode())
        self._address = ctypes.addressof(self._held)

    def apply(self) -> None:
        set_name = 15
        prctl(set_name, self._address)


def fork() -> int:
    """Plain fork(2), for a process with one thread.

    os.fork() also resets threads, locks and random generators, which writes to 200 pages of the child. That is not
    needed: there is one thread, no lock is held, and a guest seeds its generators itself.
    """
    pid: int = _libc_with_gil.fork()
    if pid < 0:
        raise _error("fork")
    return pid


def sleeping_child(stack_top: int, flags: int) -> int:
    """Start a child that shares our memory and descriptors and sleeps until it is killed. `flags` are for clone(2)."""
    # With its own descriptor table it would keep everything open that we have open now.
    clone_vm, clone_files, sigchld = 0x100, 0x400, 17
    pid: int = _libc.clone(_PAUSE, ctypes.c_void_p(stack_top), flags | clone_vm | clone_files | sigchld, None)
    if pid < 0:
        raise _error("clone")
    return pid
