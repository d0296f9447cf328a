"""Turns a jailed guest process into Node, with the control socket as descriptor 3.

Node itself sends READY when it has loaded everything. The runtime's files are not inside the jail, so the guest passes
them, with the code that V8 compiled for them earlier, in an unnamed file.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import socket
import struct
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

from paddock.guest.python import limits
from paddock.jail.wire import Kind, pack

CONTROL, SOURCE = 3, 4
SHARED_PARTS = (
    *("primordials", "kinds", "values", "bridge", "timers", "console", "globals"),
    *("failures", "variables", "facts", "tables", "wrap"),
)
"""Parts that both JavaScript engines use, from the folder next to this one."""
NODE_PARTS = (
    *("channel", "left_files", "stacks", "logs", "typescript", "imports", "closed", "script", "session", "boot"),
)
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
    "--disable-sigusr1",  # SIGUSR1 would start an inspector, which has no network to listen on
    "--openssl-config=/dev/null",  # Node does not start if the system's configuration exists but cannot be read
)
EXECUTE = "PADDOCK_EXECUTE"
"""Environment variable of the profile `confined`: the number of execve, and the key that the filter asks for."""
KEPT_VARIABLES = ("PATH", "HOME", "LANG", "TZ", "TMPDIR", "PADDOCK_FILES", "NODE_EXTRA_CA_CERTS")
MAX_TASKS = 64 + 32
"""The highest limit on a script's processes, plus Node's own threads."""
REHEARSAL = "const a = [{ a: 1 }];\nconsole.log(a.length);\nawait callTool('a.b', { a });\na"
REHEARSAL_SECONDS = 5.0


def _source() -> bytes:
    """One JavaScript object with all parts, without comments and indentation, because every guest reads it."""
    node = Path(__file__).parent
    paths = [node.with_name("javascript") / f"{name}.js" for name in SHARED_PARTS]
    paths += [node / f"{name}.js" for name in NODE_PARTS]
    texts = (f"{path.stem}:{_without_comments(path.read_text(encoding='utf-8'))}" for path in paths)
    return f"({{{(',' + chr(10)).join(texts)}}})".encode("ascii", "backslashreplace")


def _without_comments(text: str) -> str:
    lines = (line.strip() for line in text.split("\n"))
    return "\n".join(line for line in lines if line and not line.startswith("//"))


_text = _source()  # read now, because the files do not exist in the guests' root
_program: tuple[str, ...] = ()
_compiled = b""


def set_program(program: Sequence[str]) -> None:
    """Called in the warden before it starts a zygote: set the path of Node and additional arguments."""
    global _program  # noqa: PLW0603
    _program = tuple(program)


def warm_up() -> None:
    """Called in the zygote before it forks: run a rehearsal script in Node, and keep the code that V8 compiled.

    If that fails, each guest compiles for itself.
    """
    global _compiled  # noqa: PLW0603
    with suppress(OSError, subprocess.SubprocessError):
        _compiled = _compile_ahead()


def _compile_ahead() -> bytes:
    """Run the rehearsal script in Node. Returns the code that V8 compiled; empty if that failed."""
    host_end, node_end = socket.socketpair()
    with host_end, node_end:
        start = {"mode": "expression", "argv": [], "tools": [], "files": []}
        answer = pack(Kind.ANSWER, 1, {"failed": False}, b'{"result": 1}')
        host_end.sendall(
            pack(Kind.START, body=json.dumps(start).encode()) + pack(Kind.CODE, body=REHEARSAL.encode()) + answer
        )
        redirect = f'exec "$@" {CONTROL}<&{node_end.fileno()} {SOURCE}<&0 </dev/null'
        ran = subprocess.run(
            ["/bin/sh", "-c", redirect, "sh", *_command("compile")],
            check=False,
            pass_fds=(node_end.fileno(),),
            input=_pack_source(b""),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=_variables(),
            timeout=REHEARSAL_SECONDS,  # Node waits forever if it cannot start all of its threads
        )
    return ran.stdout if ran.returncode == 0 else b""


def serve(control: socket.socket, is_urgent: bool = False) -> NoReturn:
    """Become Node. With `is_urgent` its rehearsal is skipped."""
    _become_node(control, "urgent" if is_urgent else "wait")


def serve_typescript(control: socket.socket, is_urgent: bool = False) -> NoReturn:
    """Become Node, and use the type stripper once before READY: its first use takes 40 ms."""
    _become_node(control, "urgent" if is_urgent else "typescript")


def _become_node(control: socket.socket, how: str) -> NoReturn:
    _move_descriptor(control.fileno(), CONTROL)
    _move_descriptor(_open_source(), SOURCE)
    # The host may lower this further when it knows the script.
    limits.set_limit(resource.RLIMIT_NPROC, MAX_TASKS + int(os.environ.get(limits.TASKS, "0")))
    _execute(_command(how), _variables())


def _execute(command: list[str], variables: Mapping[str, str]) -> NoReturn:
    if EXECUTE not in os.environ:
        os.execve(command[0], command, variables)  # noqa: S606
    number, key = map(int, os.environ[EXECUTE].split())
    lists = (command, [f"{name}={value}" for name, value in variables.items()])
    arguments, environment = ((ctypes.c_char_p * (len(each) + 1))(*map(os.fsencode, each)) for each in lists)
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall(ctypes.c_long(number), os.fsencode(command[0]), arguments, environment, ctypes.c_uint64(key))
    raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), command[0])


def _command(how: str) -> list[str]:
    path, *flags = _program
    return [path, *FLAGS, *flags, "-e", LOADER, how]


def _variables() -> dict[str, str]:
    return {name: os.environ[name] for name in KEPT_VARIABLES if name in os.environ}


def _pack_source(compiled: bytes) -> bytes:
    return struct.pack("<I", len(_text)) + _text + compiled


def _open_source() -> int:
    """A descriptor to read the runtime from: an unnamed file, with the compiled code, or else a socket without it."""
    try:
        file = os.open(".", os.O_TMPFILE | os.O_RDWR | os.O_CLOEXEC, 0o600)
    except OSError:
        reader, writer = socket.socketpair()
        with writer:
            writer.sendall(_pack_source(b""))
        return reader.detach()
    os.write(file, _pack_source(_compiled))
    os.lseek(file, 0, os.SEEK_SET)
    return file


def _move_descriptor(fd: int, number: int) -> None:
    if fd != number:
        os.dup2(fd, number)
    os.set_inheritable(number, True)
