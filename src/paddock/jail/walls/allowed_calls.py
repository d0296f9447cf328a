"""Which system calls a guest may make, and with which arguments. `seccomp` compiles this into a filter.

It is an allow-list: a call that is not named here is refused. A name that an architecture lacks is skipped there.
"""

from __future__ import annotations

import errno
from collections.abc import Callable, Mapping
from typing import Literal, NamedTuple

from paddock.jail.walls.bpf import ANY_BIT, EQUAL, Node, answer, branch, high, keep_bits, low, search

ERRNO_ZERO = 0x0005_0000  # SECCOMP_RET_ERRNO without an error
NOTIFY = 0x7FC0_0000  # SECCOMP_RET_USER_NOTIF
Rule = Callable[[Node, Node], Node]  # gets the nodes that allow and refuse, returns the one that decides


class Policy(NamedTuple):
    """What a guest's filter allows. Threads are always allowed. `confined` means one process without sockets."""

    processes: bool = True  # fork and exec
    execute: bool = False  # exec without fork, for a process that walls itself in and executes another program
    execute_key: int = 0
    """If set, only execve executes, and only with this number as a fourth argument, which the kernel ignores. The
    program that is executed does not know it, and so executes nothing."""
    sockets: Literal["none", "unix", "host", "doors"] = "none"
    """`host`: an installer, which uses the host's network. `doors`: a guest in its own network, for which the host
    makes each connection (`jail/doors`)."""
    confined: bool = False
    """No namespaces around it: refuse calls that reach other processes, or files that Landlock does not guard."""
    own_pids: bool = True  # it has its own pid namespace, and can name only its own processes
    counted: bool = True
    """A memory control group counts what no process maps: memfds, shared memory, bytes in sockets."""
    sessions: bool = True
    """setsid works. False outside a CPU control group: each session there gets an equal share of the CPU, so a guest
    could gain time by making sessions."""
    trace: bool = False  # refused calls are reported to a listener, see `notices.denied_calls`

    @property
    def is_installer(self) -> bool:
        """Whether the filter is for uv or npm, which reads what an index sends, and runs none of it."""
        return self.sockets == "host"


def _names(words: str) -> frozenset[str]:
    return frozenset(words.split())


# Stands for the guest's own pid in a confined program, until `seccomp.for_process` puts in the real one.
PID_PLACEHOLDER = 0x7FFF_FFF0

ALWAYS = _names("""
    read write readv writev pread64 pwrite64 preadv pwritev preadv2 pwritev2 lseek close dup dup2 dup3
    stat fstat lstat newfstatat statx access faccessat faccessat2 readlink readlinkat
    getdents getdents64 getcwd chdir fchdir mkdir mkdirat rmdir rename renameat renameat2 link linkat symlink symlinkat
    unlink unlinkat umask truncate ftruncate readahead
    statfs fstatfs copy_file_range pipe pipe2
    poll ppoll select pselect6 epoll_create epoll_create1 epoll_ctl epoll_wait epoll_pwait epoll_pwait2
    eventfd eventfd2 signalfd signalfd4 timerfd_create timerfd_settime timerfd_gettime
    mmap munmap mprotect mremap mincore brk mlock mlock2 munlock munlockall mseal map_shadow_stack
    pkey_alloc pkey_free pkey_mprotect membarrier get_mempolicy
    futex set_robust_list rseq set_tid_address restart_syscall exit exit_group wait4 waitid
    rt_sigaction rt_sigprocmask rt_sigreturn rt_sigsuspend rt_sigpending rt_sigtimedwait sigaltstack pause
    alarm setitimer getitimer
    nanosleep clock_nanosleep clock_gettime clock_getres gettimeofday time times
    getpid gettid getppid getpgrp getpgid getsid getuid geteuid getgid getegid getresuid getresgid getgroups
    getrlimit getrusage getpriority ioprio_get sysinfo uname getcpu getrandom
    sched_yield sched_getaffinity sched_getscheduler sched_getparam sched_getattr
    sched_get_priority_max sched_get_priority_min sched_rr_get_interval
    recvfrom recvmsg recvmmsg shutdown getsockname getpeername
""")

# In a pid namespace, or with its own uid, these reach only the guest's own processes and files.
UNLESS_CONFINED = _names("""
    chown fchown lchown fchownat utime utimes utimensat futimesat
    getxattr lgetxattr fgetxattr listxattr llistxattr flistxattr
    kill tkill tgkill rt_sigqueueinfo rt_tgsigqueueinfo pidfd_open pidfd_send_signal
""")

MEMFDS = _names("memfd_create")
# It puts pages of a file into a pipe or socket, not bytes. One byte there keeps a page, or 2 MB of them, that no
# process maps, even if the file is gone.
SENDFILE = _names("sendfile")
# They need no write permission: for a file of the runtime, a guest in a loop would have the host's disk flush its cache
# thousands of times a second. Its own files end with it.
SYNC = _names("fsync fdatasync msync sync_file_range")
CLOCKS = _names("clock_gettime clock_getres clock_nanosleep")
PROCESSES = _names("fork vfork execve execveat setsid setpgid")
EXECUTE = _names("execve execveat")
ADDRESSES = _names("connect bind listen accept accept4")

# Callers fall back to an older call only on ENOSYS. clone3 and openat2 take flags in memory, which filters cannot read.
# So does timer_create: its timer could send SIGCONT or SIGKILL, which act on a stopped process, and an idle session
# would go on. setitimer can only send signals that wait until the process is continued.
UNKNOWN = _names("clone3 openat2 futex_waitv futex_wake futex_wait futex_requeue timer_create")
# shutil.copy2 ignores ENOTSUP, and fails on EPERM. Programs expect it of fallocate, too.
UNSUPPORTED = _names("""
    fallocate
    setxattr lsetxattr fsetxattr removexattr lremovexattr fremovexattr setxattrat removexattrat
    getxattr lgetxattr fgetxattr listxattr llistxattr flistxattr getxattrat listxattrat
""")
# Guests share the files of their runtime with each other and with the host, and flock needs no write permission.
NO_LOCK = _names("flock")


def refusal(name: str | None) -> int:
    """The errno of a refused call; ENOSYS for a number without a name."""
    if name is None or name in UNKNOWN:
        return errno.ENOSYS
    if name in NO_LOCK:
        return errno.ENOLCK
    if name in SENDFILE:
        return errno.EINVAL  # libuv reads and writes instead only on this error
    return errno.EOPNOTSUPP if name in UNSUPPORTED else errno.EPERM


def allowed(_allow: Node, _refuse: Node) -> Node:
    """Allow the call with any arguments."""
    return _allow


def one_of(argument: int, *values: int, mask: int = 0) -> Rule:
    """Allow if the argument, an int, is one of these; with a `mask`, only its bits are compared."""

    def rule(allow: Node, refuse: Node) -> Node:
        found = search(dict.fromkeys(values, allow), refuse)
        return low(argument, keep_bits(mask, found) if mask else found)

    return rule


def case(argument: int, rules: Mapping[int, Rule]) -> Rule:
    """The argument, an int, selects the rule for the others."""

    def rule(allow: Node, refuse: Node) -> Node:
        return low(argument, search({value: each(allow, refuse) for value, each in rules.items()}, refuse))

    return rule


def equals(argument: int, value: int) -> Rule:
    """Allow if the argument, an int, is this."""
    return lambda allow, refuse: low(argument, branch(EQUAL, value, allow, refuse))


def none_of_bits(argument: int, bits: int) -> Rule:
    """Allow if the argument, an int, has none of these bits."""
    return lambda allow, refuse: low(argument, branch(ANY_BIT, bits, refuse, allow))


def any_of_bits(argument: int, bits: int) -> Rule:
    """Allow if the argument, an int, has one of these bits."""
    return lambda allow, refuse: low(argument, branch(ANY_BIT, bits, allow, refuse))


def upper_half(argument: int, value: int) -> Rule:
    """Allow if the upper 32 bits of the argument, a long, are this."""
    return lambda allow, refuse: high(argument, branch(EQUAL, value, allow, refuse))


def when(condition: Rule, then: Rule) -> Rule:
    """Require `then` if `condition` holds."""
    return lambda allow, refuse: condition(then(allow, refuse), allow)


def unless(condition: Rule) -> Rule:
    """Refuse if `condition` holds."""
    return lambda allow, refuse: condition(refuse, allow)


def without_effect(_allow: Node, _refuse: Node) -> Node:
    """Make the call return 0 and do nothing."""
    return answer(ERRNO_ZERO)


def ask_host(_allow: Node, _refuse: Node) -> Node:
    """Report the call to the listener, which answers it. The kernel makes it only if the answer says so."""
    return answer(NOTIFY)


def every(*rules: Rule) -> Rule:
    """Require all of these rules."""

    def rule(allow: Node, refuse: Node) -> Node:
        for each in reversed(rules):
            allow = each(allow, refuse)
        return allow

    return rule


CLONE_FILES, CLONE_THREAD = 0x0000_0400, 0x0001_0000
# CSIGNAL, VM, FS, FILES, SIGHAND, PIDFD, VFORK, THREAD, SYSVSEM, SETTLS, PARENT_SETTID, CHILD_CLEARTID, DETACHED,
# CHILD_SETTID. Not PARENT: the zygote, which is the guest's parent, would become the parent of the new process too.
CLONE_FLAGS = 0x0000_00FF | 0x0000_1F00 | 0x0000_4000 | 0x017D_0000

AF_UNIX, AF_INET, AF_INET6, AF_NETLINK = 1, 2, 10, 16
STREAM, DGRAM, RAW, SEQPACKET = 1, 2, 3, 5
SOCKET_TYPE = 0xF  # the other bits are flags
MSG_OOB = 1  # a byte outside the stream: unused on Unix sockets, and its code had CVE-2025-38236
MSG_FASTOPEN = 0x2000_0000  # connects while sending
CLOSE_RANGE_UNSHARE = 2

# Huge pages come from a pool of the machine that neither a memory control group nor the resident size counts.
MAP_HUGETLB, MFD_HUGETLB = 0x4_0000, 4

# Memory that is both is a memfd without a descriptor: its pages stay when a process unmaps them (MADV_DONTNEED, too).
# The same holds for a writable mapping of /dev/zero, so a guest must not be able to open that for writing.
MAP_SHARED, MAP_ANONYMOUS = 0x01, 0x20

# The modes of fallocate that punch a hole and extend a file. RLIMIT_FSIZE does not limit what other modes allocate
# beyond the end of a file: one call would take the whole disk. Extending takes gigabytes in a millisecond, which is
# too fast where guests share a disk and what they take of it is polled.
PUNCH_HOLE, EXTEND = 3, 0

# What fadvise64 does for a file, these do for pages that are mapped, if the caller's uid owns the file.
MADV_COLD, MADV_PAGEOUT = 20, 21

RLIMIT_CORE = 4

# Of a process, and of a group. Not of a user: that shows whether the user has processes, and so which are whose.
PRIORITIES, IO_PRIORITIES = (0, 1), (1, 2)

PROCESS_CLOCK = 0x8000_0000  # a negative clock id means the CPU time of a process, which anybody may read

SETUID_AND_SETGID = 0o6000
O_CREAT_AND_O_TMPFILE = 0o100 | 0o2000_0000

FCNTL = (
    *range(6),  # DUPFD, GETFD, SETFD, GETFL, SETFL, GETLK
    *(1025, 1030, 1032, 1033, 1034),  # GETLEASE, DUPFD_CLOEXEC, GETPIPE_SZ, ADD_SEALS, GET_SEALS
)
# Not SETOWN and SETSIG (a signal to anyone), SETPIPE_SZ (uses up a quota that all processes of the uid share), SETLEASE
# (stalls whoever opens the file), SET_RW_HINT (needs no write permission, and stays with the file for the next guest).

# SETLK, SETLKW: SQLite needs them, but any guest can read the locks that another has on a file of the runtime, and
# no control group counts the kernel's memory for them. So they succeed without effect.
FCNTL_LOCKS = (6, 7)

IOCTL = (
    *(0x5401, 0x802C542A, 0x540F, 0x5413),  # TCGETS, TCGETS2, TIOCGPGRP, TIOCGWINSZ
    *(0x541B, 0x5421, 0x5450, 0x5451),  # FIONREAD, FIONBIO, FIONCLEX, FIOCLEX
    *(0x4004_9409, 0x4020_940D),  # FICLONE, FICLONERANGE: Path.copy falls back only if the kernel itself refuses them
)  # Not TIOCSTI, TIOCLINUX, TIOCSETD, FIOSETOWN

PRCTL = (
    *(2, 3, 7, 15, 16, 21, 23, 25, 27),  # GET_PDEATHSIG, GET_DUMPABLE, GET_KEEPCAPS, SET_NAME, GET_NAME, GET_*
    *(29, 30, 37, 38, 39, 40, 42),  # TIMERSLACK, GET_CHILD_SUBREAPER, NO_NEW_PRIVS, GET_TID_ADDRESS, GET_THP_DISABLE
    *(51, 52, 54, 55, 56, 60, 61, 64, 66),  # SVE, speculation (read), pointer authentication, tagged addresses, MDWE
    *(0x5356_4D41, 0x4155_5856),  # SET_VMA (V8 names its mappings), GET_AUXV
)  # Not SET_MM, SET_DUMPABLE, SET_PTRACER, SET_SECCOMP, SET_THP_DISABLE, SCHED_CORE
PR_SET_PDEATHSIG = 1

ARCH_PRCTL = (
    *(0x1001, 0x1002, 0x1003, 0x1004),  # the FS and GS bases
    *range(0x1021, 0x1026),  # AMX state
    *(0x3001, *range(0x5001, 0x5006)),  # shadow stacks
)

SOL_SOCKET, IPPROTO_IP, IPPROTO_TCP, IPPROTO_UDP, IPPROTO_IPV6 = 1, 0, 6, 17, 41
NETLINK_ROUTE = 0
# Not ATTACH_FILTER (26), ATTACH_BPF (50), ATTACH_REUSEPORT_* (51, 52): a guest's own programs would run in the
# kernel. Not ZEROCOPY (60), TXTIME (61). Not PASSCRED (16), PASSSEC (34), PASSPIDFD (76): see PEER. The kernel checks
# options that need privileges.
_RANGES = ((1, 16), (17, 26), (28, 34), (35, 50), (53, 60), (62, 76), (78, 80))
SOCKET_OPTIONS = tuple(number for start, end in _RANGES for number in range(start, end))
PEER = (17, 31, 59, 77)  # PEERCRED, PEERSEC, PEERGROUPS, PEERPIDFD: of a guest's own channel, that is the host
BUFFERS = (7, 8, 72, 73)  # SNDBUF, RCVBUF, BUF_LOCK, RESERVE_MEM
LINGER = 13  # makes whoever closes a connection last wait for its peer: that can be the host
MAX_PACING_RATE = 47  # at a byte a second, what was sent would stay in the kernel for days after the run
INTERFACES = (25, 62)  # BINDTODEVICE, BINDTOIFINDEX
IP_OPTIONS = (1, 11)  # TOS, which Node sets; RECVERR, without which libc does not resolve. Not OPTIONS (a route)
IPV6_OPTIONS = (25, 26, 67)  # RECVERR, V6ONLY, TCLASS
TCP_OPTIONS = (*range(1, 14), 25)  # NODELAY to CONGESTION, NOTSENT_LOWAT. Not ULP (31), REPAIR (19)
USER_TIMEOUT = 18  # if it is long, what a peer that has vanished did not take stays in the kernel as long
ZEROCOPY_RECEIVE = 35  # of getsockopt: maps received pages, which neither a control group nor a watcher counts


def rules(policy: Policy) -> dict[str, Rule]:
    """Every call that this policy allows, with what its arguments must be."""
    if policy.confined and policy.sockets != "none":
        raise ValueError("a confined guest shares the host's network: its sockets must be 'none'")
    processes = policy.processes and not policy.confined
    calls = dict.fromkeys(ALWAYS, allowed) | _self_only() | _open_calls() | _options(policy) | _sockets(policy)
    calls["clone"] = _clone(processes=processes)
    calls["mmap"] = none_of_bits(3, MAP_HUGETLB)
    if policy.confined or not policy.counted:
        calls["mmap"] = every(calls["mmap"], when(any_of_bits(3, MAP_ANONYMOUS), none_of_bits(3, MAP_SHARED)))
    elif policy.sockets != "doors":  # a connection outlives its guest until the peer has taken what waits in it
        calls |= dict.fromkeys(SENDFILE, allowed)
    has_own_disk = policy.own_pids and not policy.confined
    calls["fallocate"] = one_of(1, PUNCH_HOLE, *((EXTEND,) if has_own_disk else ()))
    calls["fadvise64"] = without_effect  # it could empty the cache of the runtime's files, which slows everybody down
    calls |= dict.fromkeys(SYNC, allowed if policy.is_installer else without_effect)
    calls["madvise"] = lambda allow, _refuse: one_of(2, MADV_COLD, MADV_PAGEOUT)(answer(ERRNO_ZERO), allow)
    calls["close_range"] = none_of_bits(2, CLOSE_RANGE_UNSHARE)
    if policy.confined or not policy.own_pids:
        calls |= dict.fromkeys(CLOCKS, none_of_bits(0, PROCESS_CLOCK))
        calls |= {"getpriority": one_of(0, *PRIORITIES), "ioprio_get": one_of(0, *IO_PRIORITIES)}
    else:
        calls["capget"] = allowed  # it shows the capabilities of any process that it can name
    if processes:
        calls |= dict.fromkeys(PROCESSES, allowed)
        if not policy.sessions:
            calls["setsid"] = without_effect
    if policy.execute or policy.execute_key:
        calls |= _execution(policy.execute_key)
    if policy.confined:
        # abort and pthread_kill signal the process itself, with tgkill. Other processes of this uid are the host's.
        calls |= {"kill": equals(0, PID_PLACEHOLDER), "tgkill": equals(0, PID_PLACEHOLDER)}
    else:
        calls |= dict.fromkeys(UNLESS_CONFINED, allowed)
        if policy.counted:
            calls |= dict.fromkeys(MEMFDS, none_of_bits(1, MFD_HUGETLB))
        calls |= {name: none_of_bits(1, SETUID_AND_SETGID) for name in ("chmod", "fchmod")}
        calls |= {name: none_of_bits(2, SETUID_AND_SETGID) for name in ("fchmodat", "fchmodat2")}
        calls |= {name: _changes_owner(1, 2) for name in ("chown", "fchown", "lchown")} | {
            "fchownat": _changes_owner(2, 3)
        }
    if policy.is_installer:
        calls |= {"flock": allowed, "fcntl": one_of(1, *FCNTL, *FCNTL_LOCKS)}  # the cache of uv is locked
    return calls


def _changes_owner(user: int, group: int) -> Rule:
    """Refuse -1 for both ids: the kernel allows that on any file, and removes its capabilities and setuid bits."""
    unchanged = 0xFFFF_FFFF
    return lambda allow, refuse: equals(user, unchanged)(equals(group, unchanged)(refuse, allow), allow)


def _clone(*, processes: bool) -> Rule:
    """Threads must share the descriptors of their process: the quota looks for deleted files in one thread only."""
    known = every(upper_half(0, 0), none_of_bits(0, 0xFFFF_FFFF & ~CLONE_FLAGS))
    shares_files = any_of_bits(0, CLONE_FILES)
    if not processes:
        return every(any_of_bits(0, CLONE_THREAD), shares_files, known)
    return every(when(any_of_bits(0, CLONE_THREAD), shares_files), known)


def _execution(key: int) -> dict[str, Rule]:
    if not key:
        return dict.fromkeys(EXECUTE, allowed)
    return {"execve": every(equals(3, key & 0xFFFF_FFFF), upper_half(3, key >> 32))}


def _open_calls() -> dict[str, Rule]:
    """Any file may be opened, but none created setuid. Without creation the mode argument is undefined."""

    def opening(flags: int) -> Rule:
        return when(any_of_bits(flags, O_CREAT_AND_O_TMPFILE), none_of_bits(flags + 1, SETUID_AND_SETGID))

    return {"open": opening(1), "openat": opening(2), "creat": none_of_bits(1, SETUID_AND_SETGID)}


def _keep_limit(allow: Node, refuse: Node) -> Node:
    """Let prlimit64 read a limit. Setting it has no effect; with a request for the old limit it is refused."""

    def is_null(argument: int) -> Rule:
        return every(equals(argument, 0), upper_half(argument, 0))

    return is_null(2)(allow, is_null(3)(answer(ERRNO_ZERO), refuse))


def _self_only() -> dict[str, Rule]:
    """Calls that name a process may only name 0, the caller. Two of them could also name a group or a user.

    No process can get less of the CPU than the others of its guest. It would keep what it holds for long: memory that
    it frees as it ends, which nobody sees any more, and locks that the host waits for.
    """
    scheduling = ("sched_setaffinity", "sched_setscheduler", "sched_setparam", "sched_setattr")
    return dict.fromkeys(scheduling, every(equals(0, 0), without_effect)) | {
        "prlimit64": every(equals(0, 0), when(equals(1, RLIMIT_CORE), _keep_limit)),
        "setrlimit": lambda allow, _refuse: equals(0, RLIMIT_CORE)(answer(ERRNO_ZERO), allow),
        "setpriority": every(equals(0, 0), equals(1, 0), without_effect),
        "ioprio_set": every(equals(0, 1), equals(1, 0)),
    }


def _options(policy: Policy) -> dict[str, Rule]:
    # A confined guest must not outlive its host, so it may not change its parent-death signal.
    pdeathsig = () if policy.confined else (PR_SET_PDEATHSIG,)
    return {
        "fcntl": case(1, dict.fromkeys(FCNTL, allowed) | dict.fromkeys(FCNTL_LOCKS, without_effect)),
        "ioctl": one_of(1, *IOCTL),
        "prctl": one_of(0, *PRCTL, *pdeathsig),
        "arch_prctl": one_of(0, *ARCH_PRCTL),
        "personality": one_of(0, 0, 0xFFFF_FFFF),
    }


def _sockets(policy: Policy) -> dict[str, Rule]:
    # A datagram socket of a pair can send to any address; a stream keeps its peer. asyncio needs a pair.
    # Where bytes in sockets are not counted, the number of descriptors has to bound them. So buffer sizes cannot be
    # changed, and SEQPACKET is refused, because it can exceed its buffer by a whole message.
    is_counted = policy.counted and not policy.confined
    pair = one_of(1, STREAM, *((SEQPACKET,) if is_counted else ()), mask=SOCKET_TYPE)
    any_unix = one_of(1, STREAM, DGRAM, SEQPACKET, mask=SOCKET_TYPE)
    options = [number for number in SOCKET_OPTIONS if is_counted or number not in BUFFERS]
    tcp_options = dict.fromkeys(TCP_OPTIONS, allowed) | {USER_TIMEOUT: without_effect}
    levels = {SOL_SOCKET: one_of(2, *options), IPPROTO_TCP: case(2, tcp_options)}
    refused = MSG_FASTOPEN | MSG_OOB
    # A descriptor that waits in a socket can hold a file that the quota does not see, so a confined guest may not send
    # any. With tracing it must send its listener.
    messages = {"sendmsg": none_of_bits(2, refused), "sendmmsg": none_of_bits(3, refused)}
    created = {
        "none": {},
        "unix": {"socket": every(equals(0, AF_UNIX), any_unix), **dict.fromkeys(ADDRESSES, allowed)},
        "host": {"socket": _host_sockets(), **dict.fromkeys(("connect", "bind"), allowed)},
        # A socket that the host has put here is in the host's network, and a connection that failed has no peer. So
        # nothing may give it one: no listen, no MSG_FASTOPEN, and each connect and bind is the host's to make.
        "doors": {"socket": _door_sockets(), "connect": ask_host, "bind": ask_host},
    }
    if policy.sockets == "doors":
        ignored = (LINGER, MAX_PACING_RATE, *BUFFERS)  # the buffers are the host's, and `doors` has chosen their size
        socket_options = dict.fromkeys((number for number in options if number not in INTERFACES), allowed)
        levels |= {SOL_SOCKET: case(2, socket_options | dict.fromkeys(ignored, without_effect))}
        levels |= {IPPROTO_IP: one_of(2, *IP_OPTIONS), IPPROTO_IPV6: one_of(2, *IPV6_OPTIONS)}
    if policy.is_installer:
        levels |= {IPPROTO_IP: allowed, IPPROTO_IPV6: allowed}
    return {
        "socketpair": every(equals(0, AF_UNIX), any_unix if policy.sockets in ("unix", "host") else pair),
        "setsockopt": case(1, levels),
        "sendto": none_of_bits(3, refused),
        "getsockopt": every(
            when(equals(1, SOL_SOCKET), every(*(unless(equals(2, number)) for number in PEER))),
            unless(every(equals(1, IPPROTO_TCP), equals(2, ZEROCOPY_RECEIVE))),
        ),
        **({} if policy.confined and not policy.trace else messages),
        **created[policy.sockets],
    }


def _host_sockets() -> Rule:
    """TCP and UDP over the host's network, and what libc asks for its addresses. Nothing can listen."""
    transport = one_of(1, STREAM, DGRAM, mask=SOCKET_TYPE)
    routes = every(one_of(1, RAW, mask=SOCKET_TYPE), equals(2, NETLINK_ROUTE))
    return case(0, {AF_INET: transport, AF_INET6: transport, AF_UNIX: transport, AF_NETLINK: routes})


def _door_sockets() -> Rule:
    """TCP, and a few sockets for UDP in the guest's own network, where only the name server is."""
    stream = every(one_of(1, STREAM, mask=SOCKET_TYPE), one_of(2, 0, IPPROTO_TCP))
    datagrams = every(one_of(1, DGRAM, mask=SOCKET_TYPE), one_of(2, 0, IPPROTO_UDP))

    def transport(allow: Node, refuse: Node) -> Node:
        return datagrams(ask_host(allow, refuse), stream(allow, refuse))

    return case(0, {AF_INET: transport, AF_INET6: transport})
