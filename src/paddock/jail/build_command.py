"""One command of a build: its lines as they come, its end from outside, and what to say when it fails."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from paddock.errors import EnvironmentFailed
from paddock.jail.environment import Environment
from paddock.model.environments import requirement_name

LINES = 200
SHOWN = 20
# What uv says on every install and nobody needs to read.
_NOISE = re.compile(r"Using (Python|CPython) |Creating virtual environment|Activate with|$")
_CULPRIT = re.compile(
    r"Failed to (?:build|download|download and build|fetch)[^`]*`([A-Za-z0-9._-]+)|[Bb]ecause (\S+) was not"
)


class Stop:
    """Ends a build from another thread: kills the command that runs, and lets no other start."""

    def __init__(self) -> None:
        self._stopped = threading.Event()
        self._lock = threading.Lock()
        self._process: subprocess.Popen[str] | None = None

    def set(self) -> None:
        """Stop now. The build raises `EnvironmentFailed` in its own thread."""
        with self._lock:
            self._stopped.set()
            if self._process is not None:
                kill_group(self._process)

    def pause(self, seconds: float) -> None:
        """Wait; raise if the build is to stop."""
        if self._stopped.wait(seconds):
            raise EnvironmentFailed("the build of the environment was stopped")

    @contextmanager
    def watching(self, process: subprocess.Popen[str]) -> Iterator[None]:
        """While this lasts, `set` kills `process`."""
        with self._lock:
            self._process = process
        try:
            self.pause(0)
            yield
            self.pause(0)
        finally:
            with self._lock:
                self._process = None


def run_logged(
    command: list[str],
    env: dict[str, str],
    tell: Callable[[str], None],
    stop: Stop,
    *,
    keep_fd: int,
    seconds: float,
) -> tuple[int, list[str]]:
    """Run `command` in /, tell its lines, and give its status and its last lines. Whatever ends this ends it too.

    The command inherits `keep_fd`: if this process is killed, the lock holds until the command has ended as well, so
    that nobody builds in a directory that it still writes to.
    """
    lines: deque[str] = deque(maxlen=LINES)
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        cwd="/",
        env=env,
        umask=0o022,
        process_group=0,
        pass_fds=(keep_fd,),
    )
    timer = threading.Timer(seconds, kill_group, (process,))
    timer.start()
    try:
        with stop.watching(process), process.stdout or open(os.devnull) as output:  # noqa: PTH123
            for line in output:
                text = line.rstrip()
                lines.append(text)
                if not _NOISE.match(text):
                    tell(text)
            return process.wait(), list(lines)
    finally:
        timer.cancel()
        kill_group(process)
        process.wait()


def kill_group(process: subprocess.Popen[str]) -> None:
    """Kill `process` and what it started, if it has not been waited for."""
    if process.returncode is None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)


def failure_text(environment: Environment, status: int, lines: list[str]) -> str:
    """What went wrong, with the package if it can be told, and uv's last lines."""
    said = [line for line in lines if not _NOISE.match(line)]
    said = said[next((at for at, line in enumerate(said) if line.startswith("error:")), 0) :]
    culprit = _culprit(environment, said)
    what = f"the package {culprit!r} could not be installed" if culprit else "its packages could not be installed"
    why = "uv was killed" if status < 0 else f"uv ended with status {status}"
    shown = (
        "\n".join(f"  {line}" for line in (said if len(said) <= SHOWN else [*said[:3], "…", *said[4 - SHOWN :]]))
        or "  it said nothing"
    )
    return f"environment {environment.name!r} could not be built: {what} ({why}):\n{shown}"


def _culprit(environment: Environment, lines: list[str]) -> str | None:
    text = "\n".join(lines)
    found = _CULPRIT.search(text)
    if found:
        return found[1] or found[2]
    names = {requirement_name(package) for package in environment.packages}
    named = [name for name in sorted(names) if re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w-])", text)]
    return named[0] if len(named) == 1 else None
