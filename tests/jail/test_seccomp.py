"""The filter in the kernel: hostile calls by number, in children without capabilities, where a hole does no harm."""

from __future__ import annotations

import ctypes
import errno
import faulthandler
import mmap
import os
import platform
import signal
import socket
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from paddock.jail.walls import notices, privileges, seccomp
from paddock.jail.walls.notices import Denied
from paddock.jail.walls.seccomp import ALLOW, ARCHITECTURES, ERROR, Policy
from paddock.jail.walls.syscalls import MACHINE, NUMBERS
from tests.jail.bpf_interpreter import interpret
from tests.jail.forked import errno_name, forked, outcome

TIOCSTI = 0x5412


def walled(policy: Policy) -> None:
    os.setsid()
    privileges.no_new_privs()
    privileges.drop_all()
    seccomp.install(seccomp.for_process(seccomp.program(policy), os.getpid()))


def behind(policy: Policy, trial: Callable[[], object]) -> object:
    def both() -> object:
        walled(policy)
        return trial()

    return forked(both)


def exit_code(trial: Callable[[], object]) -> int:
    pid = os.fork()
    if pid == 0:
        try:
            trial()
        finally:
            os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def test_the_probe_finds_that_it_works() -> None:
    assert seccomp.probe() is None


@pytest.mark.parametrize("policy", [Policy(), Policy(processes=False), Policy(confined=True)], ids=str)
def test_the_kernel_refuses_each_call_as_the_interpreter_says(policy: Policy) -> None:
    program = seccomp.program(policy)
    expected = {}
    # The kernel hides its own probes' calls from filters, and kills who makes them without a probe.
    hidden = {NUMBERS[MACHINE].get(name) for name in ("uretprobe", "uprobe")}
    for number in {*range(600), 2**30 + 1} - hidden:
        answer = interpret(program, number, ARCHITECTURES[MACHINE])
        if answer != ALLOW:
            expected[str(number)] = errno_name(answer & ~ERROR) if answer != ERROR else "done"
    assert len(expected) > 200

    assert behind(policy, lambda: {number: outcome(int(number)) for number in expected}) == expected


ARGUMENTS = {
    ("clone", 0x10000000 | signal.SIGCHLD): "EPERM",  # CLONE_NEWUSER
    ("clone", 0x00020000 | signal.SIGCHLD): "EPERM",  # CLONE_NEWNS
    ("clone3", 0, 88): "ENOSYS",
    ("unshare", 0x10000000): "EPERM",
    ("ioctl", 0, TIOCSTI, b"x"): "EPERM",
    ("ioctl", 0, TIOCSTI | 1 << 32, b"x"): "EPERM",
    ("prctl", 22, 2): "EPERM",
    ("prlimit64", 1, 7): "EPERM",
    ("sched_setaffinity", 1): "EPERM",
    ("setpriority", 2, 0, 5): "EPERM",
    ("socket", socket.AF_UNIX, 1): "EPERM",
    ("socket", socket.AF_NETLINK, 3): "EPERM",
    ("socket", 40, 1): "EPERM",  # AF_VSOCK
    ("socketpair", socket.AF_UNIX, socket.SOCK_DGRAM): "EPERM",
    ("mknodat", -100, b"/tmp/x", 0o10600): "EPERM",
    ("fchmodat", -100, b"/tmp/none", 0o4755): "EPERM",
    ("fchmodat", -100, b"/tmp/none", 0o755): "ENOENT",
}


@pytest.mark.parametrize(("call", "expected"), ARGUMENTS.items(), ids=str)
def test_arguments_decide_in_the_kernel_too(call: tuple[str, int], expected: str) -> None:
    assert behind(Policy(), lambda: outcome(*call)) == expected


def test_sockets_are_of_the_families_that_the_policy_names() -> None:
    kinds = [(1, 1, 0), (1, 2, 0), (2, 1, 0), (10, 2, 0), (2, 3, 1), (2, 2, 1), (16, 3, 0), (17, 3, 0), (40, 1, 0)]

    opened = {
        sockets: behind(Policy(sockets=sockets), lambda: [outcome("socket", *kind) != "EPERM" for kind in kinds])
        for sockets in ("none", "unix")
    }

    assert opened == {"none": [False] * 9, "unix": [True] * 2 + [False] * 7}


def test_without_processes_threads_start_and_nothing_forks_or_execs() -> None:
    def trial() -> list[object]:
        ran: list[object] = []
        thread = threading.Thread(target=lambda: ran.append("thread"))
        thread.start()
        thread.join()
        calls = (
            ("clone", signal.SIGCHLD),
            ("clone", 0x4100),
            ("execve", b"/bin/true"),
            ("execveat", -100, b"/bin/true"),
        )
        return [*ran, *(outcome(*call) for call in calls)]

    assert behind(Policy(processes=False), trial) == ["thread", "EPERM", "EPERM", "EPERM", "EPERM"]


def test_confined_a_guest_signals_itself_and_no_other_process() -> None:
    others = [os.getpid(), 1, 0, -1, -os.getpid()]

    assert behind(Policy(confined=True), lambda: [outcome("kill", pid) for pid in others]) == ["EPERM"] * 5
    assert behind(Policy(confined=True), lambda: outcome("kill", os.getpid(), 0)) == "done"


def test_confined_a_guest_reaches_no_other_process_no_metadata_and_no_hidden_memory(tmp_path: Path) -> None:
    host, path = os.getpid(), bytes(tmp_path)
    calls: list[tuple[str | int | bytes, ...]] = [
        ("prlimit64", host, 7),
        ("sched_setaffinity", host, 8, b"\1" + bytes(7)),
        ("setpriority", 0, host, 5),
        ("ioprio_set", 1, host, 0x6000),
        ("pidfd_open", host),
        ("fchmodat", -100, path, 0o700),
        ("fchownat", -100, path, 0, 0),
        ("utimensat", -100, path),
        ("socket", socket.AF_INET, socket.SOCK_DGRAM),
        ("memfd_create", b"x"),
        ("shmget", 0, 4096, 0o1600),
        ("fcntl", 1, 8, host),  # F_SETOWN: a signal to the host at the next byte
        ("prctl", 1, 0),  # to outlive it
        ("setsid",),
    ]

    def trial() -> dict[str, str]:
        return {str(name): outcome(str(name), *arguments) for name, *arguments in calls}  # type: ignore[arg-type]

    assert behind(Policy(confined=True), trial) == dict.fromkeys((str(call[0]) for call in calls), "EPERM")


def test_no_file_is_made_or_becomes_setuid(tmp_path: Path) -> None:
    path = bytes(tmp_path / "file")

    assert behind(
        Policy(),
        lambda: [
            outcome("openat", -100, path, os.O_CREAT | os.O_WRONLY, 0o4755),
            outcome("openat", -100, bytes(tmp_path), os.O_TMPFILE | os.O_WRONLY, 0o2755),
            outcome("openat", -100, path, os.O_CREAT | os.O_WRONLY, 0o755),
            outcome("fchmodat", -100, path, 0o4755),
            outcome("fchmodat", -100, path, 0o700),
        ],
    ) == ["EPERM", "EPERM", "done", "EPERM", "done"]


@pytest.mark.parametrize("signal_number", [signal.SIGKILL, signal.SIGTERM, signal.SIGABRT, signal.SIGSEGV])
@pytest.mark.parametrize("policy", [Policy(), Policy(confined=True)], ids=str)
def test_a_guest_that_ends_itself_by_a_signal_is_seen_to(policy: Policy, signal_number: int) -> None:
    def trial() -> None:
        walled(policy)
        faulthandler.disable()  # pytest's, which would print the whole stack
        if signal_number == signal.SIGABRT:
            os.abort()
        os.kill(os.getpid(), signal_number)

    assert exit_code(trial) == -signal_number


@pytest.mark.skipif(platform.machine() != "x86_64", reason="int 0x80 is x86's door to 32-bit calls")
def test_a_32_bit_call_kills() -> None:
    def trial() -> None:
        code = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
        code.write(b"\xb8\x14\x00\x00\x00\xcd\x80\xc3")  # mov eax, 20 (getpid); int 0x80; ret
        walled(Policy())
        ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(code)))()

    # Without 32-bit support in the kernel the instruction itself faults.
    assert exit_code(trial) in (-signal.SIGSYS, -signal.SIGSEGV)


def test_a_filter_cannot_be_taken_down_or_joined_by_another() -> None:
    assert behind(Policy(), lambda: [outcome("seccomp", 1), outcome("prctl", 22, 2)]) == ["EPERM", "EPERM"]


def test_an_unprivileged_process_needs_no_new_privs_first() -> None:
    def trial() -> int | None:
        privileges.drop_all()
        try:
            seccomp.install(seccomp.program(Policy()))
        except OSError as error:
            return error.errno
        return None

    assert forked(trial) == errno.EACCES


def test_tracing_names_refused_calls_and_answers_as_without_it() -> None:
    ours, theirs = socket.socketpair()
    pid = os.fork()
    if pid == 0:
        try:
            privileges.no_new_privs()
            listener = seccomp.install(seccomp.program(Policy(trace=True)), listen=True)
            socket.send_fds(theirs, [b"."], [listener])
            os.close(listener)
            said = [outcome("chroot"), outcome("clone3"), outcome(1000), outcome("setxattr"), outcome("getpid")]
            theirs.send(" ".join(said).encode())
        finally:
            os._exit(0)
    theirs.close()
    _, (listener, *_), _, _ = socket.recv_fds(ours, 1, 1)

    reported = list(notices.denied_calls(listener))

    assert ours.recv(100) == b"EPERM ENOSYS ENOSYS EOPNOTSUPP done"
    assert reported == [Denied(name, pid, (0,) * 6) for name in ("chroot", "clone3", "syscall 1000", "setxattr")]
    os.close(listener)
    ours.close()
    os.waitpid(pid, 0)


def test_the_tables_agree_with_this_machine() -> None:
    ours = {"getppid": os.getppid(), "getpid": os.getpid(), "getuid": os.getuid(), "gettid": threading.get_native_id()}
    libc = ctypes.CDLL(None)

    assert {name: libc.syscall(NUMBERS[MACHINE][name]) for name in ours} == ours
