"""What the filters decide on both architectures, according to a BPF interpreter. `test_seccomp` asks the kernel."""

from __future__ import annotations

import errno
import itertools

import pytest

from paddock.jail.walls import allowed_calls, bpf, seccomp
from paddock.jail.walls.allowed_calls import NOTIFY
from paddock.jail.walls.seccomp import ALLOW, ARCHITECTURES, ERROR, KILL, Policy
from paddock.jail.walls.syscalls import NUMBERS
from tests.jail.bpf_interpreter import interpret

MACHINES = tuple(NUMBERS)
EPERM, ENOSYS, ENOTSUP, EINVAL = (
    ERROR | number for number in (errno.EPERM, errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL)
)
POLICIES = [
    *(Policy(processes=processes, sockets=sockets) for processes in (True, False) for sockets in ("none", "unix")),
    Policy(sockets="doors"),
    Policy(processes=False, execute=True),
    Policy(confined=True),
    Policy(confined=True, execute_key=1),
    Policy(counted=False, sessions=False),
    Policy(own_pids=False),
]
NORMAL, ALONE, CONFINED = Policy(), Policy(processes=False), Policy(confined=True)
UNIX = Policy(sockets="unix")
DOORS = Policy(sockets="doors")
SHARED = Policy(own_pids=False)
UNCOUNTED = Policy(counted=False, sessions=False)
NO_EFFECT = ERROR  # the call returns 0
THREAD, FORK = 0x3D0F00, 0x1200011
UPPER = 1 << 32
KEY = 0xFEDC_BA98_7654_3210
WITH_KEY = Policy(confined=True, execute_key=KEY)

Case = tuple[Policy, str, tuple[int, ...], int]
CASES: list[Case] = [
    (NORMAL, "read", (), ALLOW),
    (NORMAL, "clone3", (), ENOSYS),
    *((policy, "fadvise64", (3, 0, 0, 4), NO_EFFECT) for policy in (NORMAL, CONFINED)),  # DONTNEED
    *((CONFINED, "madvise", (0, 4096, advice), NO_EFFECT) for advice in (20, 21)),  # COLD, PAGEOUT
    (CONFINED, "madvise", (0, 4096, 4), ALLOW),  # DONTNEED
    *((NORMAL, name, (3,), NO_EFFECT) for name in ("fsync", "fdatasync", "msync", "sync_file_range")),
    (NORMAL, "clone", (FORK,), ALLOW),
    (NORMAL, "clone", (THREAD,), ALLOW),
    (ALONE, "clone", (THREAD,), ALLOW),
    (ALONE, "clone", (FORK,), EPERM),
    (CONFINED, "clone", (THREAD,), ALLOW),
    (CONFINED, "clone", (FORK,), EPERM),
    (NORMAL, "clone", (FORK | UPPER,), EPERM),
    (NORMAL, "clone", (FORK | 0x8000,), EPERM),  # CLONE_PARENT
    *((NORMAL, "clone", (FORK | flag,), EPERM) for flag in (0x20000, *(1 << bit for bit in range(25, 32)))),
    *((policy, "clone", (THREAD & ~0x400,), EPERM) for policy in (NORMAL, ALONE, CONFINED)),  # without CLONE_FILES
    (NORMAL, "close_range", (3, 0xFFFFFFFF, 0), ALLOW),
    (NORMAL, "close_range", (3, 0xFFFFFFFF, 4), ALLOW),  # CLOSE_RANGE_CLOEXEC
    *((policy, "close_range", (3, 9, 2), EPERM) for policy in (NORMAL, CONFINED)),  # CLOSE_RANGE_UNSHARE
    (NORMAL, "execve", (), ALLOW),
    (ALONE, "execve", (), EPERM),
    (Policy(processes=False, execute=True), "execve", (), ALLOW),
    (Policy(processes=False, execute=True), "clone", (FORK,), EPERM),
    (WITH_KEY, "execve", (0, 0, 0, KEY), ALLOW),
    *((WITH_KEY, "execve", (0, 0, 0, key), EPERM) for key in (0, 1, KEY - 1, KEY - UPPER, KEY & (UPPER - 1))),
    *((WITH_KEY, "execveat", arguments, EPERM) for arguments in ((3, 0, 0, 0, 0x1000), (3, 0, 0, KEY, 0x1000))),
    (NORMAL, "socket", (1, 1, 0), EPERM),
    (NORMAL, "connect", (), EPERM),
    *((DOORS, name, (3,), NOTIFY) for name in ("connect", "bind")),
    *((DOORS, name, (3,), EPERM) for name in ("listen", "accept", "accept4", "io_uring_setup")),
    *((DOORS, "socket", (family, kind, 0), ALLOW) for family in (2, 10) for kind in (1, 0x80801)),
    *((DOORS, "socket", (family, kind, 0), NOTIFY) for family in (2, 10) for kind in (2, 0x80802)),
    (DOORS, "socket", (2, 2, 136), EPERM),
    *((DOORS, "socket", (2, 1, protocol), EPERM) for protocol in (1, 132, 136, 262)),
    *((DOORS, "socket", (family, 1, 0), EPERM) for family in (0, 1, 16, 17, 38, 40)),
    *((DOORS, "socket", (2, kind, 0), EPERM) for kind in (3, 4, 5, 10)),
    (DOORS, "sendto", (3, 0, 0, 0x2000_0000), EPERM),
    (DOORS, "sendmsg", (3, 0, 0x2000_4000), EPERM),
    (DOORS, "sendmmsg", (3, 0, 1, 0x2000_0000), EPERM),
    *((DOORS, "setsockopt", (3, 1, number), EPERM) for number in (25, 26, 50, 62)),
    (DOORS, "setsockopt", (3, 1, 13), NO_EFFECT),  # SO_LINGER
    (DOORS, "setsockopt", (3, 6, 18), NO_EFFECT),  # TCP_USER_TIMEOUT
    *((DOORS, "setsockopt", (3, 6, number), EPERM) for number in (19, 23, 29, 30, 31)),
    *((DOORS, "setsockopt", (3, 0, number), EPERM) for number in (4, 15, 19)),
    *((DOORS, "setsockopt", (3, 0, number), ALLOW) for number in (1, 11)),
    *((UNIX, "setsockopt", (3, 0, number), EPERM) for number in (1, 11)),
    (DOORS, "ioctl", (3, 0x8912), EPERM),
    (NORMAL, "socketpair", (1, 0x80801, 0), ALLOW),
    (NORMAL, "socketpair", (1, 2, 0), EPERM),  # a datagram socket could be sent anywhere
    (NORMAL, "socketpair", (2, 1, 0), EPERM),
    (UNIX, "socketpair", (1, 2, 0), ALLOW),
    (UNIX, "socket", (1, 1, 0), ALLOW),
    (UNIX, "socket", (1, 3, 0), EPERM),
    (UNIX, "socket", (2, 1, 0), EPERM),
    (UNIX, "connect", (), ALLOW),
    (UNIX, "socket", (2, 1, 6), EPERM),
    (UNIX, "socket", (10, 0x80802, 17), EPERM),
    (UNIX, "socket", (1 | UPPER, 1, 0), ALLOW),  # an int: the kernel ignores the upper half too
    (UNIX, "socket", (2, 3, 1), EPERM),  # raw
    (UNIX, "socket", (2, 2, 1), EPERM),  # ping
    (UNIX, "socket", (2, 1, 262), EPERM),  # MPTCP
    *((UNIX, "socket", (family, 2, 0), EPERM) for family in (0, 16, 17, 38, 40, 44)),
    (NORMAL, "sendto", (3, 0, 0, 0x4000), ALLOW),
    (NORMAL, "sendto", (3, 0, 0, 0x20004000), EPERM),
    (NORMAL, "sendmsg", (3, 0, 0x20000000), EPERM),
    *((policy, "sendto", (3, 0, 0, 1), EPERM) for policy in (NORMAL, UNIX, CONFINED)),  # MSG_OOB
    *((UNIX, name, arguments, EPERM) for name, arguments in (("sendmsg", (3, 0, 1)), ("sendmmsg", (3, 0, 1, 1)))),
    (UNIX, "setsockopt", (3, 1, 2), ALLOW),
    *(
        (policy, "setsockopt", (3, 1, option), EPERM)  # SO_PASSCRED, PASSSEC, PASSPIDFD
        for policy in (NORMAL, UNIX, DOORS, CONFINED)
        for option in (16, 34, 76)
    ),
    *(
        (policy, "getsockopt", (3, 1, option), EPERM)  # SO_PEERCRED, PEERSEC, PEERGROUPS, PEERPIDFD
        for policy in (NORMAL, UNIX, DOORS, CONFINED)
        for option in (17, 31, 59, 77)
    ),
    *((NORMAL, "getsockopt", (3, level, number), ALLOW) for level, number in ((1, 4), (1, 3), (6, 77))),
    (UNIX, "setsockopt", (3, 1, 26), EPERM),
    (UNIX, "setsockopt", (3, 6, 1), ALLOW),
    (UNIX, "setsockopt", (3, 6, 31), EPERM),
    (UNIX, "setsockopt", (3, 41, 26), EPERM),
    (UNIX, "setsockopt", (3, 0, 64), EPERM),
    (NORMAL, "setsockopt", (3, 41, 26), EPERM),
    (NORMAL, "prlimit64", (0, 7), ALLOW),
    (NORMAL, "prlimit64", (1, 7), EPERM),
    (NORMAL, "prlimit64", (0, 7, 1, 1), ALLOW),
    (NORMAL, "prlimit64", (0, 4, 0, 1), ALLOW),
    *((NORMAL, "prlimit64", (0, 4, limit), NO_EFFECT) for limit in (1, UPPER)),
    *((NORMAL, "prlimit64", (0, 4, limit, old), EPERM) for limit, old in ((1, 1), (UPPER, UPPER))),
    (NORMAL, "setrlimit", (7, 1), ALLOW),
    (NORMAL, "setrlimit", (4, 1), NO_EFFECT),
    (NORMAL, "sched_setaffinity", (1,), EPERM),
    *((NORMAL, f"sched_set{what}", (0,), NO_EFFECT) for what in ("affinity", "scheduler", "param", "attr")),
    (NORMAL, "setpriority", (0, 0), NO_EFFECT),
    (NORMAL, "setpriority", (0, 1), EPERM),
    (NORMAL, "setpriority", (2, 0), EPERM),
    (NORMAL, "ioprio_set", (1, 0), ALLOW),
    (NORMAL, "ioprio_set", (3, 0), EPERM),
    (NORMAL, "ioctl", (0, 0x5401), ALLOW),
    *((NORMAL, "ioctl", (0, request), EPERM) for request in (0x5412, 0x541C, 0x5423, 0x8901, 0x5412 | UPPER)),
    (NORMAL, "fcntl", (0, 1030), ALLOW),
    *((NORMAL, "fcntl", (0, command), EPERM) for command in (8, 10, 15, 36, 37, 38, 1024, 1026, 1031)),
    *((NORMAL, "prctl", (option,), ALLOW) for option in (1, 15, 23, 38, 0x53564D41)),
    *((NORMAL, "prctl", (option,), EPERM) for option in (4, 22, 24, 35, 41, 47, 62, 0x59616D61)),
    (CONFINED, "prctl", (1,), EPERM),
    (NORMAL, "personality", (0xFFFFFFFF,), ALLOW),
    (NORMAL, "personality", (8,), EPERM),
    (NORMAL, "fallocate", (3, 0), ALLOW),
    (NORMAL, "fallocate", (3, 3), ALLOW),
    (NORMAL, "fallocate", (3, 1), ENOTSUP),
    *((policy, "fallocate", (3, 0), ENOTSUP) for policy in (SHARED, CONFINED)),
    *((policy, "fallocate", (3, 3), ALLOW) for policy in (SHARED, CONFINED)),
    (NORMAL, "getpriority", (2,), ALLOW),
    *((policy, "getpriority", (1,), ALLOW) for policy in (CONFINED, Policy(own_pids=False))),
    *((policy, "getpriority", (2,), EPERM) for policy in (CONFINED, Policy(own_pids=False))),
    *((policy, "ioprio_get", (2,), ALLOW) for policy in (CONFINED, Policy(own_pids=False))),
    *((policy, "ioprio_get", (3,), EPERM) for policy in (CONFINED, Policy(own_pids=False))),
    (NORMAL, "clock_gettime", (0xFFFFFFFA,), ALLOW),
    *((policy, "clock_gettime", (1,), ALLOW) for policy in (CONFINED, Policy(own_pids=False))),
    *((policy, "clock_gettime", (0xFFFFFFFA,), EPERM) for policy in (CONFINED, Policy(own_pids=False))),
    (NORMAL, "memfd_create", (), ALLOW),
    (CONFINED, "memfd_create", (), EPERM),
    (NORMAL, "openat", (3, 0, 0o100, 0o644), ALLOW),
    (NORMAL, "openat", (3, 0, 0o100, 0o4755), EPERM),
    (NORMAL, "openat", (3, 0, 0o20200000, 0o2755), EPERM),  # O_TMPFILE
    (NORMAL, "openat", (3, 0, 0o2000000, 0o7777), ALLOW),  # no creation: the mode is not looked at
    (NORMAL, "openat2", (), ENOSYS),
    (NORMAL, "fchmod", (3, 0o755), ALLOW),
    (NORMAL, "fchmod", (3, 0o4755), EPERM),
    (NORMAL, "fchmodat", (3, 0, 0o2755), EPERM),
    (CONFINED, "fchmod", (3, 0o755), EPERM),
    (CONFINED, "fchownat", (), EPERM),
    (CONFINED, "utimensat", (), EPERM),
    (NORMAL, "getxattr", (), ALLOW),
    (NORMAL, "setxattr", (), ENOTSUP),
    (CONFINED, "getxattr", (), ENOTSUP),
    (NORMAL, "kill", (7, 9), ALLOW),
    (CONFINED, "kill", (7, 9), EPERM),
    (CONFINED, "tgkill", (7, 7, 9), EPERM),
    (CONFINED, "pidfd_send_signal", (7, 9), EPERM),
    *((policy, "timer_create", (1, 0), ENOSYS) for policy in (NORMAL, CONFINED)),
    (CONFINED, "setsid", (), EPERM),
    (NORMAL, "setsid", (), ALLOW),
    (UNCOUNTED, "setsid", (), NO_EFFECT),
    (Policy(sessions=False, trace=True), "setsid", (), NO_EFFECT),
    (Policy(processes=False, sessions=False), "setsid", (), EPERM),
    (UNCOUNTED, "memfd_create", (), EPERM),
    (NORMAL, "mmap", (0, 4096, 3, 0x21), ALLOW),  # shared and anonymous
    *((policy, "mmap", (0, 4096, 3, 0x21), EPERM) for policy in (UNCOUNTED, CONFINED)),
    *((policy, "mmap", (0, 4096, 3, kind), ALLOW) for policy in (UNCOUNTED, CONFINED) for kind in (0x01, 0x22)),
    *((policy, "mmap", (0, 4096, 3, 0x4_0022), EPERM) for policy in (NORMAL, UNCOUNTED, CONFINED)),  # huge pages
    (NORMAL, "sendfile", (), ALLOW),
    *((policy, "sendfile", (), EINVAL) for policy in (UNCOUNTED, CONFINED)),
    (UNCOUNTED, "socketpair", (1, 0x80801, 0), ALLOW),
    (NORMAL, "socketpair", (1, 5, 0), ALLOW),
    *((policy, "socketpair", (1, 5, 0), EPERM) for policy in (UNCOUNTED, CONFINED)),  # SOCK_SEQPACKET
    *((NORMAL, "setsockopt", (3, 1, option), ALLOW) for option in (7, 8)),  # SO_SNDBUF, SO_RCVBUF
    *((policy, "setsockopt", (3, 1, option), EPERM) for policy in (UNCOUNTED, CONFINED) for option in (7, 8)),
]  # fmt: skip

NEVER = """
    ptrace process_vm_readv process_vm_writev pidfd_getfd kcmp process_madvise unshare setns mount umount2
    pivot_root chroot open_tree move_mount fsopen fsconfig fsmount fspick mount_setattr bpf perf_event_open
    userfaultfd keyctl add_key request_key io_uring_setup io_uring_enter io_uring_register io_setup kexec_load
    kexec_file_load init_module finit_module delete_module reboot swapon swapoff acct quotactl quotactl_fd
    nfsservctl open_by_handle_at name_to_handle_at syslog lookup_dcookie fanotify_init fanotify_mark
    inotify_init1 mknodat vhangup set_mempolicy mbind move_pages migrate_pages settimeofday clock_settime
    adjtimex clock_adjtime sethostname setdomainname setuid setgid setreuid setregid setresuid setresgid
    setfsuid setfsgid setgroups capset seccomp landlock_create_ruleset memfd_secret shmget shmat msgget semget
    mq_open sync syncfs vmsplice splice tee iopl ioperm modify_ldt mknod inotify_init uselib sysfs _sysctl
""".split()  # noqa: SIM905


def decided(policy: Policy, machine: str, name: str, values: tuple[int, ...] = ()) -> int:
    return interpret(seccomp.program(policy, machine), NUMBERS[machine][name], ARCHITECTURES[machine], values)


@pytest.mark.parametrize("machine", MACHINES)
def test_a_call_with_its_arguments_is_decided_as_the_table_says(machine: str) -> None:
    answers = [(*case[:3], decided(case[0], machine, case[1], case[2])) for case in CASES]

    assert answers == list(CASES)


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("policy", POLICIES, ids=str)
def test_what_reaches_past_the_jail_is_refused_under_every_policy(policy: Policy, machine: str) -> None:
    answers = {name: decided(policy, machine, name) for name in NEVER if name in NUMBERS[machine]}

    assert answers == dict.fromkeys(answers, EPERM)


@pytest.mark.parametrize("machine", MACHINES)
def test_numbers_without_a_name_and_those_of_x32_are_unknown(machine: str) -> None:
    known = set(NUMBERS[machine].values())
    unknown = [*(number for number in range(1000) if number not in known), 2**30, 2**30 + 59, 2**31, 2**32 - 1]
    program = seccomp.program(Policy(), machine)

    assert {interpret(program, number, ARCHITECTURES[machine]) for number in unknown} == {ENOSYS}


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("foreign", [0x40000003, 0x40000028, 0])
def test_a_foreign_architecture_is_killed_for_any_call(machine: str, foreign: int) -> None:
    program = seccomp.program(Policy(), machine)

    assert {interpret(program, number, foreign) for number in range(500)} == {KILL}


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("policy", POLICIES, ids=str)
def test_the_program_follows_the_rules_for_every_number(policy: Policy, machine: str) -> None:
    """The layout of the tree, shared leaves and long jumps included, changes nothing."""
    program, permitted = seccomp.program(policy, machine), allowed_calls.rules(policy)
    samples = list(itertools.product((0, 1, 2, 0x5412), (0, 1, 2, 6), (0, 1, 64)))
    for name, number in NUMBERS[machine].items():
        refused = ERROR | allowed_calls.refusal(name)
        rule = permitted.get(name)
        alone = bpf.assemble(rule(bpf.answer(ALLOW), bpf.answer(refused)) if rule else bpf.answer(refused))
        for values in samples:
            assert interpret(program, number, ARCHITECTURES[machine], values) == interpret(alone, number, 0, values)


def test_branches_further_apart_than_a_jump_reaches_still_arrive() -> None:
    far = bpf.search({number: bpf.answer(number + 1) for number in range(2000)}, bpf.answer(0))
    program = bpf.assemble(bpf.load(bpf.NUMBER, far))

    assert [interpret(program, number, 0) for number in range(2001)] == [*range(1, 2001), 0]


def test_every_name_in_the_rules_is_a_system_call_somewhere() -> None:
    known = set().union(*NUMBERS.values())
    named = set().union(
        *(allowed_calls.rules(policy) for policy in POLICIES), allowed_calls.UNKNOWN, allowed_calls.UNSUPPORTED, NEVER
    )

    assert named <= known


def test_a_confined_program_signals_the_process_it_was_made_for_and_no_other() -> None:
    machine = "x86_64"
    program = seccomp.for_process(seccomp.program(CONFINED, machine), 4711)
    kill, architecture = NUMBERS[machine]["kill"], ARCHITECTURES[machine]

    answers = {pid: interpret(program, kill, architecture, (pid, 9)) for pid in (4711, 1, 0, -1, -4711, 4712)}

    assert answers == {4711: ALLOW, 1: EPERM, 0: EPERM, -1: EPERM, -4711: EPERM, 4712: EPERM}


@pytest.mark.parametrize("machine", MACHINES)
def test_tracing_reports_exactly_what_is_refused_without_it(machine: str) -> None:
    for name in NUMBERS[machine]:
        plain, traced = (decided(Policy(trace=trace), machine, name) for trace in (False, True))
        assert traced == (plain if plain in (ALLOW, NO_EFFECT) else NOTIFY)


def test_a_confined_guest_cannot_be_given_sockets() -> None:
    with pytest.raises(ValueError, match="must be 'none'"):
        seccomp.program(Policy(confined=True, sockets="unix"))
