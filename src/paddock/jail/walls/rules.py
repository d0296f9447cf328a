"""Which system calls a guest may make, and with what arguments. Policy as data: `seccomp` makes the program of it.

An allow-list: a call that is named nowhere here is refused. A name that an architecture lacks is skipped there.
"""

from __future__ import annotations

import errno
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from paddock.jail.walls.bpf import ANY_BIT, EQUAL, Node, branch, high, low, masked, search

Rule = Callable[[Node, Node], Node]  # from what allows and what refuses to what decides


@dataclass(frozen=True, slots=True)
class Policy:
    """What a guest's filter leaves open. Threads always; `confined` is one process without sockets, whatever else."""

    processes: bool = True  # fork and exec
    execute: bool = False  # exec without fork: for a wrapper that walls itself in and becomes another program
    sockets: Literal["none", "unix", "inet"] = "none"
    confined: bool = False  # no namespaces around it: nothing that reaches other processes or files past Landlock
    memfds: bool = True  # memory that no process maps; a watcher does not see it, a control group does
    trace: bool = False  # refused calls are reported to a listener, see `notices`

    def __post_init__(self) -> None:
        if self.confined and self.sockets != "none":
            raise ValueError("a confined guest shares the host's network: its sockets must be 'none'")


def _names(words: str) -> frozenset[str]:
    return frozenset(words.split())


# The pid to signal in a confined program, until `seccomp.for_process` puts the real one in. No process has it.
NOBODY = 0x7FFF_FFF0

ALWAYS = _names("""
    read write readv writev pread64 pwrite64 preadv pwritev preadv2 pwritev2 lseek close dup dup2 dup3
    stat fstat lstat newfstatat statx access faccessat faccessat2 readlink readlinkat
    getdents getdents64 getcwd chdir fchdir mkdir mkdirat rmdir rename renameat renameat2 link linkat symlink symlinkat
    unlink unlinkat umask truncate ftruncate fallocate fsync fdatasync sync_file_range fadvise64 readahead flock
    statfs fstatfs sendfile copy_file_range pipe pipe2
    poll ppoll select pselect6 epoll_create epoll_create1 epoll_ctl epoll_wait epoll_pwait epoll_pwait2
    eventfd eventfd2 signalfd signalfd4 timerfd_create timerfd_settime timerfd_gettime
    mmap munmap mprotect mremap madvise msync mincore brk mlock mlock2 munlock munlockall mseal map_shadow_stack
    pkey_alloc pkey_free pkey_mprotect membarrier get_mempolicy
    futex set_robust_list rseq set_tid_address restart_syscall exit exit_group wait4 waitid
    rt_sigaction rt_sigprocmask rt_sigreturn rt_sigsuspend rt_sigpending rt_sigtimedwait sigaltstack pause
    alarm setitimer getitimer timer_create timer_settime timer_gettime timer_getoverrun timer_delete
    nanosleep clock_nanosleep clock_gettime clock_getres gettimeofday time times
    getpid gettid getppid getpgrp getpgid getsid getuid geteuid getgid getegid getresuid getresgid getgroups capget
    getrlimit setrlimit getrusage getpriority ioprio_get sysinfo uname getcpu getrandom
    sched_yield sched_getaffinity sched_getscheduler sched_getparam sched_getattr
    sched_get_priority_max sched_get_priority_min sched_rr_get_interval
    recvfrom recvmsg recvmmsg shutdown getsockname getpeername getsockopt
""")

# With a pid namespace, or a uid of its own, these reach only the guest's own processes and files.
UNLESS_CONFINED = _names("""
    chown fchown lchown fchownat utime utimes utimensat futimesat
    getxattr lgetxattr fgetxattr listxattr llistxattr flistxattr
    kill tkill tgkill rt_sigqueueinfo rt_tgsigqueueinfo pidfd_open pidfd_send_signal
""")

MEMFDS = _names("memfd_create")
PROCESSES = _names("fork vfork execve execveat setsid setpgid")
EXECUTE = _names("execve execveat")
ADDRESSES = _names("connect bind listen accept accept4")

# Callers fall back to an older call on ENOSYS alone. clone3 and openat2 take flags in memory, where no filter looks.
UNKNOWN = _names("clone3 openat2 futex_waitv futex_wake futex_wait futex_requeue")
# shutil.copy2 takes ENOTSUP for "no such attributes here", and EPERM for a failure.
UNSUPPORTED = _names("""
    setxattr lsetxattr fsetxattr removexattr lremovexattr fremovexattr setxattrat removexattrat
    getxattr lgetxattr fgetxattr listxattr llistxattr flistxattr getxattrat listxattrat
""")


def refusal(name: str | None) -> int:
    """The error of a refused call; of a number without a name, ENOSYS. It depends on nothing else."""
    if name is None or name in UNKNOWN:
        return errno.ENOSYS
    return errno.EOPNOTSUPP if name in UNSUPPORTED else errno.EPERM


def allowed(_allow: Node, _refuse: Node) -> Node:
    """Whatever its arguments."""
    return _allow


def one_of(argument: int, *values: int, mask: int = 0) -> Rule:
    """The argument, an int, is one of these (after masking, if a mask is given)."""

    def rule(allow: Node, refuse: Node) -> Node:
        found = search(dict.fromkeys(values, allow), refuse)
        return low(argument, masked(mask, found) if mask else found)

    return rule


def case(argument: int, rules: Mapping[int, Rule]) -> Rule:
    """The argument, an int, selects the rule for the others."""

    def rule(allow: Node, refuse: Node) -> Node:
        return low(argument, search({value: each(allow, refuse) for value, each in rules.items()}, refuse))

    return rule


def equals(argument: int, value: int) -> Rule:
    """The argument, an int, is this."""
    return lambda allow, refuse: low(argument, branch(EQUAL, value, allow, refuse))


def none_of_bits(argument: int, bits: int) -> Rule:
    """The argument, an int, has none of these bits."""
    return lambda allow, refuse: low(argument, branch(ANY_BIT, bits, refuse, allow))


def any_of_bits(argument: int, bits: int) -> Rule:
    """The argument, an int, has one of these bits."""
    return lambda allow, refuse: low(argument, branch(ANY_BIT, bits, allow, refuse))


def upper_half_zero(argument: int) -> Rule:
    """The argument, a long, fits in 32 bits."""
    return lambda allow, refuse: high(argument, branch(EQUAL, 0, allow, refuse))


def when(condition: Rule, then: Rule) -> Rule:
    """If the condition holds, so must the other."""
    return lambda allow, refuse: condition(then(allow, refuse), allow)


def every(*rules: Rule) -> Rule:
    """All of them hold."""

    def rule(allow: Node, refuse: Node) -> Node:
        for each in reversed(rules):
            allow = each(allow, refuse)
        return allow

    return rule
