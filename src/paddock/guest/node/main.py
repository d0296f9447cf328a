"""Where a guest process becomes Node: already walled in, with the control socket as descriptor 3.

Node itself says READY, when it has nothing left to load. Our files are not inside the jail: what Node starts with, and
the code that V8 compiled for it before, is read from an unnamed file that the guest makes for itself.
"""

from __future__ import annotations

import json
import os
import resource
import socket
import struct
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

from paddock.jail.wire import Kind, pack

CONTROL, SOURCE = 3, 4
SHARED = ("primordials", "kinds", "values", "bridge", "timers", "console", "globals", "failures", "scan", "wrap")
"""Parts that both engines for JavaScript run, from the folder beside this one."""
OWN = ("channel", "stacks", "logs", "typescript", "closed", "script", "program", "boot")
LOADER = """{
const { closeSync, readFileSync } = require('node:fs');
const { Script, constants } = require('node:vm');
const data = readFileSync(4);
const end = 4 + data.readUInt32LE(0);
closeSync(4);
const script = new Script(data.latin1Slice(4, end), {
  filename: '[eval]', cachedData: end < data.length ? data.subarray(end) : undefined,
  importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
});
const parts = script.runInThisContext();
parts.boot(parts, require, script);
}"""
FLAGS = (
    "--disable-warning=ExperimentalWarning",
    "--disable-sigusr1",  # it would start an inspector, which has no network to listen on
    "--openssl-config=/dev/null",  # where the system's is there and may not be read, Node would not start
)
KEPT = ("PATH", "HOME", "LANG", "TZ", "TMPDIR", "PADDOCK_FILES")
MOST_TASKS = 64 + 32
"""The most processes that a script may have, and the threads that Node has for itself."""
TASKS = "PADDOCK_TASKS"
"""Names the number of threads of others that the kernel counts with ours, where this process shares their uid."""
REHEARSED = "const a = [{ a: 1 }];\nconsole.log(a.length);\nawait callTool('a.b', { a });\na"
REHEARSAL_SECONDS = 20.0


def _source() -> bytes:
    """One object of all parts, without comments and indentation: Node reads it at every start."""
    here = Path(__file__).parent
    parts = [(name, here.with_name("javascript")) for name in SHARED] + [(name, here) for name in OWN]
    texts = (f"{name}:{_bare((folder / f'{name}.js').read_text(encoding='utf-8'))}" for name, folder in parts)
    return f"({{{(',' + chr(10)).join(texts)}}})".encode("ascii", "backslashreplace")


def _bare(text: str) -> str:
    lines = (line.strip() for line in text.split("\n"))
    return "\n".join(line for line in lines if line and not line.startswith("//"))


_text = _source()  # now: when the guests' root is built, the files are gone
_program: tuple[str, ...] = ()
_compiled = b""


def become(program: Sequence[str]) -> None:
    """For a zygote, before it forks: the path of Node, and what to start it with besides our own."""
    global _program  # noqa: PLW0603
    _program = tuple(program)


def warm_up() -> None:
    """For a zygote, before it forks: have Node run a script of ours once, and keep what V8 compiled for it.

    Where that fails, guests compile for themselves.
    """
    global _compiled  # noqa: PLW0603
    with suppress(OSError, subprocess.SubprocessError):
        _compiled = _rehearsed()


def _rehearsed() -> bytes:
    ours, its = socket.socketpair()
    given, text = os.pipe()
    with ours, its:
        start = {"mode": "expression", "argv": [], "tools": [], "files": []}
        answer = pack(Kind.ANSWER, 1, {"failed": False}, b'{"result": 1}')
        ours.sendall(
            pack(Kind.START, body=json.dumps(start).encode()) + pack(Kind.CODE, body=REHEARSED.encode()) + answer
        )
        process = subprocess.Popen(
            ["/bin/sh", "-c", f'exec "$@" {CONTROL}<&{its.fileno()} {SOURCE}<&{given}', "sh", *_command("compile")],
            pass_fds=(its.fileno(), given),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=_variables(),
        )
        os.close(given)
        with open(text, "wb") as pipe:  # noqa: PTH123
            pipe.write(_framed(b""))
        made, _ = process.communicate(timeout=REHEARSAL_SECONDS)
    return made if process.returncode == 0 else b""


def serve(control: socket.socket, hurry: bool = False) -> NoReturn:
    """Become Node. In a `hurry`, one that does not rehearse."""
    _become_node(control, "hurry" if hurry else "wait")


def serve_typescript(control: socket.socket, hurry: bool = False) -> NoReturn:
    """Become a Node that has stripped types once, which takes 40 ms the first time."""
    _become_node(control, "hurry" if hurry else "typescript")


def _become_node(control: socket.socket, how: str) -> NoReturn:
    _keep(control.fileno(), CONTROL)
    _keep(_nameless(_framed(_compiled)), SOURCE)
    _limit(resource.RLIMIT_NPROC, MOST_TASKS + int(os.environ.get(TASKS, "0")))
    command = _command(how)
    os.execve(command[0], command, _variables())  # noqa: S606


def _command(how: str) -> list[str]:
    path, *flags = _program
    return [path, *FLAGS, *flags, "-e", LOADER, how]


def _variables() -> dict[str, str]:
    return {name: os.environ[name] for name in KEPT if name in os.environ}


def _framed(compiled: bytes) -> bytes:
    return struct.pack("<I", len(_text)) + _text + compiled


def _nameless(data: bytes) -> int:
    """A descriptor to read `data` from. Where there is no place for a file, a socket takes as much as it holds."""
    try:
        file = os.open(".", os.O_TMPFILE | os.O_RDWR | os.O_CLOEXEC, 0o600)
    except OSError:
        reader, writer = socket.socketpair()
        with writer:
            writer.sendall(_framed(b""))
        return reader.detach()
    os.write(file, data)
    os.lseek(file, 0, os.SEEK_SET)
    return file


def _keep(fd: int, number: int) -> None:
    if fd != number:
        os.dup2(fd, number)
    os.set_inheritable(number, True)


def _limit(kind: int, most: int) -> None:
    """The host may lower it further when it knows the script."""
    _, hard = resource.getrlimit(kind)
    most = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(kind, (most, most))
