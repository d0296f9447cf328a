"""How a test runs a script in a guest for JavaScript: as one for Python, from another nursery."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from paddock.jail import wire
from paddock.jail.wire import Kind
from tests.guest.harness import Nursery, Ran

Run = Callable[..., Ran]


class JavaScriptNursery(Nursery):
    """A process that forks guests for JavaScript."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._requests, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        program = Path(__file__).with_name("javascript_nursery.py")
        path = str(Path(wire.__file__).parents[2])
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, str(program), str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                env={"PYTHONPATH": path, "PATH": os.environ["PATH"]},
            )


def logs(ran: Ran) -> list[tuple[str, str]]:
    """What `console` said: level and text."""
    return [(frame.values()["level"], frame.body.decode()) for frame in ran.frames if frame.kind == Kind.LOG]


def text(ran: Ran) -> str:
    return "\n".join(line for _, line in logs(ran))
