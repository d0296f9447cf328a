"""A process that removes the control groups and folders of the host if the host is killed before it can do so itself.

`entry_point.py cleanup PIDFD` runs as the host's user, with `group:PATH` and `folder:PATH` as the values of its
variables. Other users cannot read these, so none of them can make a folder before the host does. It waits until the
host has ended, cleans up for at most a minute, and exits. It imports few modules, and all of them before it waits,
because their files may be gone later.
"""

from __future__ import annotations

import os
import select
import signal
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress

TYPE_CHECKING = False  # as in `typing`, whose import would cost a megabyte
if TYPE_CHECKING:
    import subprocess
    from pathlib import Path

PATIENCE_SECONDS = 2.0

Group = str | os.PathLike[str]


def write(path: str, text: str) -> None:
    """Write `text` to a file of a control group. Moving a process or lowering a limit may block for milliseconds."""
    fd = os.open(path, os.O_WRONLY | os.O_TRUNC | os.O_CLOEXEC)
    try:
        os.write(fd, text.encode())
    except OSError as error:
        raise OSError(error.errno, f"cannot write {text}: {error.strerror}", path) from error
    finally:
        os.close(fd)


def read(path: str) -> str:
    """The text of the file, stripped."""
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        # The kernel hands out cgroup.procs a page at a time.
        parts = iter(lambda: os.read(fd, 65536), b"")
        return b"".join(parts).decode().strip()
    finally:
        os.close(fd)


def members(group: Group) -> set[int]:
    """The processes of the group, except processes of another pid namespace, which the kernel lists as 0."""
    return {int(line) for line in read(f"{group}/cgroup.procs").split()} - {0}


def end_members(group: Group, *, within_seconds: float = PATIENCE_SECONDS) -> bool:
    """Kill the processes of the group until none is left. Returns False if the time is up before that.

    The caller must prevent forks first. A killed process stays in the group until its memory is freed.
    """
    deadline = time.monotonic() + within_seconds
    # The list is read repeatedly: a process that was forked meanwhile is in the next list.
    while alive := members(group):
        _kill(group, alive)
        if time.monotonic() > deadline:
            return False
        time.sleep(0.0005)
    return True


def _kill(group: Group, pids: set[int]) -> None:
    handles: dict[int, int] = {}
    try:
        for pid in pids:
            with suppress(ProcessLookupError):
                handles[pid] = os.pidfd_open(pid)
        # A pid can be reused before its pidfd is opened. If the group still lists it then, the pidfd is of a member.
        for pid in members(group) & handles.keys():
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(handles[pid], signal.SIGKILL)
    finally:
        for handle in handles.values():
            os.close(handle)


def remove(group: Group, *, within_seconds: float = PATIENCE_SECONDS) -> None:
    """Remove the group and the groups in it. Raises OSError if a process in one of them does not end."""
    with suppress(OSError):
        return os.rmdir(group)  # noqa: PTH106  if it is empty, this needs no descriptor
    with suppress(FileNotFoundError):
        for inside in groups_in(group):
            remove(inside, within_seconds=within_seconds)
    deadline = time.monotonic() + within_seconds
    while True:
        try:
            return os.rmdir(group)  # noqa: PTH106
        except FileNotFoundError:
            return None
        except OSError:
            # The last process leaves the list a moment before the group can be removed.
            if time.monotonic() > deadline:
                raise
        time.sleep(0.0005)


def groups_in(group: Group) -> list[str]:
    """The groups directly in this one."""
    with os.scandir(group) as entries:
        return [entry.path for entry in entries if entry.is_dir(follow_symlinks=False)]


CLEANUP_SECONDS = 60.0
PAUSE_SECONDS = 0.005
GROUP, FOLDER = "group:", "folder:"


def main(host: int) -> None:
    """Wait for the host, a pidfd, to end, then clean up. Never returns."""
    paths = tuple(os.environ.values())
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)  # a signal to the host's process group must not end this process too
    with suppress(OSError), open("/proc/self/comm", "w") as name:  # noqa: PTH123
        name.write("paddock-cleanup")
    groups = [each.removeprefix(GROUP) for each in paths if each.startswith(GROUP)]
    folders = [each.removeprefix(FOLDER) for each in paths if each.startswith(FOLDER)]
    if folders:
        import shutil  # noqa: F401  takes megabytes, and groups do not need it
    ended = select.poll()
    ended.register(host, select.POLLIN)
    ended.poll()
    deadline = time.monotonic() + CLEANUP_SECONDS
    _stop(groups)
    for group in groups:
        _until_gone(group, _remove_group, deadline)
    for folder in folders:
        _until_gone(folder, _remove_folder, deadline)
    os._exit(0)


def _stop(groups: Sequence[str]) -> None:
    """Prevent forks in these groups and, if the kernel can, kill everything in them."""
    for group in groups:
        for file, value in (("pids.max", "0"), ("cgroup.kill", "1")):
            with suppress(OSError):
                write(f"{group}/{file}", value)


def _remove_group(group: str) -> None:
    for inside in (*groups_in(group), group):
        end_members(inside)
    remove(group)


def _remove_folder(folder: str) -> None:
    import shutil

    shutil.rmtree(folder)


def _until_gone(path: str, remove_one: Callable[[str], None], deadline: float) -> None:
    """Remove `path`. Tries repeatedly: other processes may remove it too, or write there until they have ended."""
    while os.path.lexists(path) and time.monotonic() < deadline:
        with suppress(OSError):
            remove_one(path)
            continue
        time.sleep(PAUSE_SECONDS)


class Cleanup:
    """Removes these groups and folders if this process ends without calling `dismiss`, however it ends.

    Create it before the first group or folder. It takes 4 MB of memory. Descriptors in `locks` stay open until it is
    done. If the process cannot be started, a warning is logged, and the next host removes what is left.
    """

    def __init__(self, *, groups: Iterable[Path] = (), folders: Iterable[Path] = (), locks: Iterable[int] = ()) -> None:
        paths = [f"{GROUP}{group}" for group in groups] + [f"{FOLDER}{folder}" for folder in folders]
        import subprocess  # imported here, like others below, because the cleanup process does not need it

        from paddock.jail.entry_point import command

        self._process: subprocess.Popen[bytes] | None = None
        try:
            host = os.pidfd_open(os.getpid())
            try:
                self._process = subprocess.Popen(
                    command("cleanup", str(host)),
                    pass_fds=[host, *locks],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    cwd="/",
                    env={f"path_{number}": path for number, path in enumerate(paths)},
                    start_new_session=True,  # signals to a terminal or a process group do not end it
                )
            finally:
                os.close(host)
        except (AttributeError, OSError) as problem:  # no such call, no descriptor, no process
            import logging

            logging.getLogger("paddock.jail").warning(
                "no cleanup process was started, so control groups and temporary folders stay if this process dies: %s",
                problem,
            )

    def dismiss(self) -> None:
        """End the process: nothing is left to clean up. Takes a millisecond."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def __enter__(self) -> Cleanup:
        return self

    def __exit__(self, *_: object) -> None:
        self.dismiss()
