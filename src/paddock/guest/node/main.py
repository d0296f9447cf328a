"""Where a guest process becomes Node: already walled in, with the control socket as descriptor 3.

Node itself says READY, when it has nothing left to load. What it starts with is given as an argument: our own files
are not there inside, a guest may have no place to write one to, and an argument needs neither.
"""

from __future__ import annotations

import os
import resource
import socket
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

CONTROL = 3
SHARED = ("primordials", "kinds", "values", "bridge", "tokens", "wrap")
"""What both engines for JavaScript run, from the folder beside this one."""
OWN = ("channel", "stacks", "logs", "typescript", "script", "program", "boot")
FLAGS = (
    "--disable-warning=ExperimentalWarning",
    "--openssl-config=/dev/null",  # where the system's is there and may not be read, Node would not start
)
KEPT = ("PATH", "HOME", "LANG", "TZ", "TMPDIR", "PADDOCK_FILES")
MOST_TASKS = 64 + 32
"""Of processes that a script may have at most, and of threads that Node has for itself."""
TASKS = "PADDOCK_TASKS"
"""How many threads others have that the kernel counts together with ours, where this process shares their uid."""


def _source() -> str:
    here = Path(__file__).parent
    parts = [(name, here.with_name("javascript")) for name in SHARED] + [(name, here) for name in OWN]
    texts = (f"{name}:{(folder / f'{name}.js').read_text(encoding='utf-8').rstrip()}" for name, folder in parts)
    return "{const parts={" + ",\n".join(texts) + "};parts.boot(parts,require)}"


_text = _source()  # now: when the guests' root is built, the files are gone
_program: tuple[str, ...] = ()


def become(program: Sequence[str]) -> None:
    """For a zygote, before it forks: the path of Node, and what to start it with besides our own."""
    global _program  # noqa: PLW0603
    _program = tuple(program)


def serve(control: socket.socket, hurry: bool = False) -> NoReturn:
    """Become Node. In a `hurry`, one that does not rehearse."""
    os.dup2(control.fileno(), CONTROL, inheritable=True)
    _limit(resource.RLIMIT_NPROC, MOST_TASKS + int(os.environ.get(TASKS, "0")))
    variables = {name: os.environ[name] for name in KEPT if name in os.environ}
    path, *flags = _program
    text = _text if not hurry else f"globalThis.hurry=true;{_text}"
    os.execve(path, [path, *FLAGS, *flags, "-e", text], variables)  # noqa: S606


def _limit(kind: int, most: int) -> None:
    """The host may lower it further when it knows the script."""
    _, hard = resource.getrlimit(kind)
    most = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(kind, (most, most))
