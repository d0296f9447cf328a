"""The command as a user runs it: in a separate process with its own streams."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from tests import envelopes
from tests.forks import fork

COMMAND = (sys.executable, "-m", "paddock")
EMPTY = Path(__file__).parent  # a working directory without a paddock.toml
SECONDS = 60
_STORE = TemporaryDirectory(prefix="paddock-test-store-")


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    status: int
    out: str
    err: str


def _ended(status: int, out: str, err: str) -> Ended:
    envelopes.watch(out)
    envelopes.watch(err)
    return Ended(status, out, err)


def environment(**more: str) -> dict[str, str]:
    """This environment without variables that change the command or its output, and with a separate store."""
    unwanted = ("PADDOCK_", "NO_COLOR", "TERM", "COLUMNS", "FORCE_COLOR")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(unwanted)}
    stored = {} if "PADDOCK_DATA_DIRECTORY" in more else {"PADDOCK_STORE__PATH": f"{_STORE.name}/paddock.db"}
    return {**kept, "TERM": "xterm", **stored, **more}


def paddock(*arguments: str, stdin: str | bytes = "", cwd: Path = EMPTY, **env: str) -> Ended:
    """Run `paddock` to its end, with pipes as its streams."""
    data = stdin.encode() if isinstance(stdin, str) else stdin
    if any(name.startswith("PYTHON") for name in env):  # read before the first line
        command = [*COMMAND, *arguments]
        ran = subprocess.run(
            command, input=data, capture_output=True, cwd=cwd, env=environment(**env), timeout=SECONDS, check=False
        )
        return _ended(ran.returncode, ran.stdout.decode(), ran.stderr.decode())
    status, out, err = fork.run(["-m", "paddock", *arguments], data, cwd=cwd, env=environment(**env), seconds=SECONDS)
    return _ended(status, out.decode(), err.decode())


def started(*arguments: str, **env: str) -> subprocess.Popen[str]:
    """Start `paddock` in a separate process group, as a shell does, and leave it running."""
    return subprocess.Popen(
        [*COMMAND, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=EMPTY,
        env=environment(**env),
        process_group=0,
    )


def on_a_terminal(*arguments: str, until: str | None = None, **env: str) -> tuple[int, str]:
    """The exit status and the output of both streams on a terminal, all of it or up to the text `until`."""
    import pty

    master, slave = pty.openpty()
    command = fork.command("-m", "paddock", *arguments)
    process = subprocess.Popen(command, stdin=slave, stdout=slave, stderr=slave, cwd=EMPTY, env=environment(**env))
    os.close(slave)
    received = b""
    while True:
        try:
            data = os.read(master, 65536)
        except OSError:  # on Linux: the other end is closed
            break
        if not data:
            break
        received += data
        if until is not None and until.encode() in received:
            process.kill()
            break
    os.close(master)
    return process.wait(), received.decode().replace("\r\n", "\n")
