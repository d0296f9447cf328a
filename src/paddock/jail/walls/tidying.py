"""The process that outlives its host for a moment: it removes what a host that is killed has no time to remove.

`start.py tidier PIDFD group:PATH… folder:PATH…`, as the host's own user. It waits until the host has ended, however it
did, tidies for a minute at most, and ends. It imports little, and all before it waits: later the files may be gone.
"""

from __future__ import annotations

import os
import select
import signal
import time
from collections.abc import Callable, Sequence
from contextlib import suppress

from paddock.jail.walls.cgroup_end import end_members, groups_in, remove, write

PATIENCE_SECONDS = 60.0
PAUSE_SECONDS = 0.005
GROUP, FOLDER = "group:", "folder:"


def main(host: int, promised: Sequence[str]) -> None:
    """`host` is a pidfd. Never returns."""
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)  # who is told to end with the host does so: after it
    with suppress(OSError), open("/proc/self/comm", "w") as name:  # noqa: PTH123
        name.write("paddock-tidier")
    groups = [each.removeprefix(GROUP) for each in promised if each.startswith(GROUP)]
    folders = [each.removeprefix(FOLDER) for each in promised if each.startswith(FOLDER)]
    if folders:
        import shutil  # noqa: F401  megabytes that a tidier of groups does without
    ended = select.poll()
    ended.register(host, select.POLLIN)
    ended.poll()
    deadline = time.monotonic() + PATIENCE_SECONDS
    _stop(groups)
    for group in groups:
        _until_gone(group, _remove_group, deadline)
    for folder in folders:
        _until_gone(folder, _remove_folder, deadline)
    os._exit(0)


def _stop(groups: Sequence[str]) -> None:
    """Whatever is in them forks no more and, where the kernel can do that, is killed at once."""
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
    """Others may be at it too, or still write there until the kernel has ended them: so again and again."""
    while os.path.lexists(path) and time.monotonic() < deadline:
        with suppress(OSError):
            remove_one(path)
            continue
        time.sleep(PAUSE_SECONDS)
