"""The profile `confined`: for an ordinary user where no user namespace can be created.

A guest is one process of this user in the host's own namespaces. Landlock lets it read its runtime and write to one
folder in memory. The system call filter allows no call that reaches another process, another file or a socket. This
profile guarantees less than the others, so it is used only if `jail.accept_confined` is set: see docs/security.md.
"""

from __future__ import annotations

import errno
import hashlib
import os
import secrets
import select
import signal
import socket
import stat
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from paddock.jail import reaper
from paddock.jail.walls import landlock, notices, privileges, quota, roots, seccomp
from paddock.jail.walls.roots import LOADERS
from paddock.jail.walls.syscalls import MACHINE, NUMBERS
from paddock.jail.zygote import Order, Spec, close_all_but

OPEN_FILES = 256
"""Few, because nothing limits the unread bytes in a guest's pipes and sockets."""
TASKS = "PADDOCK_TASKS"
"""Environment variable: how many threads this user has during a run, not counting the guest's. `guest/python/limits`
reads it."""
EXECUTE = "PADDOCK_EXECUTE"
"""Environment variable: the number of execve, and the key that its filter asks for. `guest/node/main` reads it."""
PID = "pid"
"""The file in a guest's folder that tells the reaper the guest's pid and start time."""
THREADS, STARTED = 17, 19  # indexes into the result of `_stat`
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")


class ConfinedProfile:
    """Landlock, seccomp and rlimits around one process."""

    def __init__(self, spec: Spec) -> None:
        self._spec = spec
        self._secret = secrets.token_bytes(16)
        # A thread that executes a program becomes the first of its process, and has no parent-death signal: the process
        # would outlive the host. So a guest executes its own program, and that executes nothing.
        self._execute_key = secrets.randbits(64) or 1 if spec.program else 0
        policy = seccomp.Policy(processes=False, execute_key=self._execute_key, confined=True, trace=spec.trace)
        self._program = seccomp.program(policy)
        # The kernel executes a dynamic loader to start a program.
        loaders = [path for path in LOADERS if os.path.exists(path)]  # noqa: PTH110
        self._executable = [*spec.program[:1], *loaders] if spec.program else []

    def enter(self, host: socket.socket) -> None:
        if os.geteuid() == 0:
            raise PermissionError("this profile is for ordinary users: root's guests would be root")
        if landlock.abi() < landlock.TRUNCATE_SINCE:
            raise OSError(f"Landlock is version {landlock.abi()} here, and 3 is needed")
        privileges.die_with_parent(os.getppid())
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        privileges.limit({**privileges.DEFAULT_LIMITS, "open_files": OPEN_FILES})
        self._prefix = _folder_prefix(self._spec.memory_folders)
        self._folders: dict[int, Path] = {}  # by the pid of the reaper
        for folder in _left_behind(self._prefix):
            self._clean_up(folder)
        self._readable, self._listed = _without((*self._spec.reads, *DEVICES), self._spec.hidden)

    def start_reaper(self, order: Order, report: int) -> int:
        folder = self._folder(order)
        pid = reaper.start(lambda: ConfinedDuty(folder, self._spec), report)
        # The reaper comes first, because it removes the folder even if this process is killed.
        try:
            for part in () if folder is None else (folder, folder / "tmp", folder / "files"):
                part.mkdir(mode=0o700)
        except OSError:
            os.kill(pid, reaper.END)
            raise
        if folder is not None:
            self._folders[pid] = folder
        return pid

    def reaper_ended(self, pid: int) -> None:
        folder = self._folders.pop(pid, None)
        if folder is not None and _is_own_folder(folder):  # it was killed
            self._clean_up(folder)

    def _clean_up(self, folder: Path) -> None:
        """Have another reaper do what the one of this folder has not done."""
        with suppress(OSError):  # no process can be started: the next warden does it
            self.end_reaper(reaper.start(lambda: ConfinedDuty(folder, self._spec), report=0))

    def end_reaper(self, pid: int) -> None:
        os.kill(pid, reaper.END)

    def join(self, reaper_pidfd: int) -> None: ...

    def wall_in(self, order: Order, keep: int) -> None:
        folder = self._folder(order)
        if folder is not None:
            # For the reaper, which was started before the guest. The start time reveals a reused pid.
            (folder / PID).write_text(f"{os.getpid()} {_stat(os.getpid())[STARTED]}")
        os.environ.pop("HOME", None)
        os.environ[TASKS] = str(_tasks_of(os.getuid()))  # without the guest, and with the thread that its reaper starts
        if self._execute_key:
            os.environ[EXECUTE] = f"{NUMBERS[MACHINE]['execve']} {self._execute_key}"
        writable = ["/dev/null"]
        if folder is not None:
            tmp, files = str(folder / "tmp"), str(folder / "files")
            os.environ.update(HOME=tmp, TMPDIR=tmp, PADDOCK_FILES=files)
            writable += [tmp, files]
        os.chdir("/" if folder is None else folder / "tmp")
        close_all_but(0, 1, 2, keep)
        # Processes are not limited: the kernel counts them together with all other processes of this user.
        limits = {name: value for name, value in self._spec.rlimits.items() if name != "processes"}
        privileges.limit({"file_bytes": self._spec.tmp_bytes if folder else 0, **limits})
        privileges.drop_all()
        privileges.no_new_privs()
        ruleset = landlock.prepare(
            self._readable, writable, execute=False, programs=self._executable, listed=self._listed
        )
        landlock.enforce(ruleset)
        privileges.die_with_parent(os.getppid())
        notices.install_in_guest(seccomp.for_process(self._program, os.getpid()), keep, listen=self._spec.trace)

    def _folder(self, order: Order) -> Path | None:
        """A name that other users, who can list the names of earlier folders, can neither guess nor take."""
        if self._prefix is None:
            return None
        name = hashlib.blake2b(str(order.number).encode(), key=self._secret, digest_size=8).hexdigest()
        return Path(f"{self._prefix}-{name}")


class ConfinedDuty:
    """The duty of a reaper in this profile: check the files of the guest, kill it, and remove the files."""

    def __init__(self, folder: Path | None, spec: Spec) -> None:
        self._folder = folder
        self._guest: tuple[int, int] | None = None  # pid and pidfd
        self._proc = os.open("/proc", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        # The files are in memory, which is scarcer than disk space: a file of unknown size counts as a full quota.
        size, inodes = spec.tmp_bytes, spec.tmp_inodes
        self._quota = None if folder is None else quota.Quota([str(folder)], size, inodes, mapped_bytes=size)

    def exceeds_disk_limit(self) -> bool:
        if self._folder is None or self._quota is None:
            return False
        self._find_guest()
        pids = [] if self._guest is None else [self._guest[0]]
        exceeded = self._quota.exceeded(pids, self._proc)
        if exceeded:
            self._signal(signal.SIGSTOP)  # not SIGKILL: the host must learn the reason before the guest dies
        return exceeded

    def free_bytes(self) -> tuple[int, int]:
        return (0, 0) if self._quota is None else self._quota.free_bytes()

    def clean_up(self) -> None:
        with suppress(OSError, ValueError):  # the guest has not written its pid yet, so it has no script either
            self._find_guest()
        self._signal(signal.SIGKILL)
        if self._guest is not None:
            # A system call in progress continues after the signal, and could replace a folder with a link meanwhile.
            gone = select.poll()
            gone.register(self._guest[1], select.POLLIN)
            gone.poll()
        # A guest that is being created may still write to the folder, until the folder is gone.
        while self._folder is not None and _is_own_folder(self._folder):
            try:
                roots.empty(str(self._folder))
                self._folder.rmdir()
            except OSError as problem:
                if problem.errno == errno.EROFS:  # somebody has made it read-only since
                    return

    def _find_guest(self) -> None:
        if self._folder is not None and self._guest is None and _is_own_folder(self._folder):
            self._guest = _open_guest((self._folder / PID).read_text())

    def _signal(self, what: signal.Signals) -> None:
        if self._guest is not None:
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._guest[1], what)


def _without(paths: Iterable[str], hidden: Sequence[str]) -> tuple[list[str], list[str]]:
    """What to open in place of `paths` for all but what is `hidden`: paths to read, and folders to list.

    No rule of Landlock takes something out of a folder, so the entries of a folder take its place. Names stay visible.
    """
    read, listed = [], []
    waiting = list({os.path.realpath(path) for path in paths if os.path.exists(path)})  # noqa: PTH110
    while waiting:
        path = waiting.pop()
        if any(folder.startswith(f"{path}/") for folder in hidden):
            listed.append(path)
            # A rule for a link would be about its target.
            waiting += [entry.path for entry in os.scandir(path) if not entry.is_symlink()]
        elif path not in hidden:
            read.append(path)
    return read, listed


def _folder_prefix(candidates: Sequence[str]) -> str | None:
    """The prefix of guests' folders, on a tmpfs with a size limit; None if there is no such tmpfs."""
    namespace = os.stat("/proc/self/ns/pid").st_ino  # noqa: PTH116  containers may share the tmpfs
    for candidate in candidates:
        with suppress(OSError):
            if _is_tmpfs(candidate):
                prefix = f"{candidate}/paddock-{namespace}-{os.getpid()}"
                probe = Path(f"{prefix}-{secrets.token_hex(8)}")
                probe.mkdir(mode=0o700)
                probe.rmdir()
                return prefix
    return None


def _left_behind(prefix: str | None) -> list[Path]:
    """The folders of wardens of this user that were killed together with their reapers."""
    if prefix is None:
        return []
    found = Path(prefix).parent.glob(f"{Path(prefix).name.rpartition('-')[0]}-*-*")
    return [each for each in found if _is_own_folder(each) and not _is_alive(each.name.split("-")[2])]


def _is_alive(pid: str) -> bool:
    """Whether this user has a process with this number, which /proc may hide. Yes if it is no number."""
    try:
        os.kill(int(pid), 0)
    except (ProcessLookupError, PermissionError):
        return False
    except (ValueError, OverflowError):
        return True
    with suppress(OSError):
        return _stat(pid)[0] not in ("Z", "X")
    return True


def _is_own_folder(folder: Path) -> bool:
    """Whether it is a folder of this user. Others can take its name after it is removed, not before."""
    with suppress(OSError):
        found = folder.lstat()
        return stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid()
    return False


def _tasks_of(uid: int) -> int:
    """How many threads this user has now. RLIMIT_NPROC counts them together with a guest's threads."""
    found = 0
    for entry in os.scandir("/proc"):
        with suppress(OSError):
            if entry.name.isdigit() and entry.stat().st_uid == uid:
                found += int(_stat(entry.name)[THREADS])
    return found


def _open_guest(written: str) -> tuple[int, int] | None:
    """The pid and pidfd of the guest that wrote the text `written`; None if the guest is gone."""
    pid, started = written.split()
    with suppress(OSError):
        fd = os.pidfd_open(int(pid))
        if _stat(pid)[STARTED] == started:
            return int(pid), fd
        os.close(fd)
    return None


def _stat(pid: int | str) -> list[str]:
    """The fields of /proc/PID/stat from the third on. The second is the name, which may contain anything."""
    with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as stat:  # noqa: PTH123
        return stat.read().rpartition(")")[2].split()


def _is_tmpfs(folder: str) -> bool:
    """Whether `folder` is a tmpfs mount with a size limit."""
    if not os.path.isdir(folder):  # noqa: PTH112
        return False
    with open("/proc/self/mounts", encoding="utf-8") as mounts:  # noqa: PTH123
        kinds = [line.split()[2] for line in mounts if line.split()[1] == folder]
    return kinds[-1:] == ["tmpfs"] and os.statvfs(folder).f_blocks > 0
