"""Python programs in processes that have imported what most of them import, which is most of the time of a short one.

A process of its own imports the packages once, and forks for each program: that has its own streams, folder, variables
and end. Where imports, signals or a process's own place are what a test is about, it starts the program for itself.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import tempfile
import traceback
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import NoReturn

IMPORTED = (
    "alembic",
    "mcp",
    "paddock.cli.app",
    "paddock.run",
    "paddock.store.runs",
    "rich.traceback",
    "sqlalchemy.dialects.sqlite",
    "uvicorn",
)
"""Not `pydantic_monty`, whose presence changes how a command ends."""
HERE = Path(__file__).parent
STREAMS = 3
_LARGEST = 1 << 17
_folder = tempfile.TemporaryDirectory(prefix="paddock-forks-")


@cache
def address() -> str:
    """Of the socket where programs are asked for. The process behind it is no child of this one, and ends with it."""
    path = f"{_folder.name}/socket"
    ends, _held = os.pipe()  # the other end is closed with this process
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listening:
        listening.bind(path)
        listening.listen(64)
        command = [sys.executable, "-m", "tests.forks.fork", str(listening.fileno())]
        subprocess.run(
            command,
            cwd=HERE.parents[1],
            pass_fds=[listening.fileno()],
            stdin=ends,
            stdout=subprocess.DEVNULL,
            check=True,
        )
    os.close(ends)
    return path


def command(*program: str) -> list[str]:
    """What starts a program that is a file, or `-m` and a module, with its arguments."""
    return [sys.executable, "-I", "-S", str(HERE / "start.py"), address(), *program]


def settings(*program: str) -> dict[str, object]:
    """Those of an upstream that is such a program."""
    first, *others = command(*program)
    return {"command": first, "args": others}


def run(
    program: list[str], stdin: bytes = b"", *, cwd: Path, env: dict[str, str], seconds: float
) -> tuple[int, bytes, bytes]:
    """Run a program to its end: its status, negative for a signal, and what it wrote to both streams."""
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        given.write(stdin)
        given.seek(0)
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as asking:
            asking.settimeout(seconds)
            asking.connect(address())
            asked = json.dumps([program, str(cwd), env]).encode()
            socket.send_fds(asking, [asked], [stream.fileno() for stream in (given, out, err)])
            try:
                status = int(asking.recv(16))
            except TimeoutError:  # its keeper ends it, now that nobody listens
                raise subprocess.TimeoutExpired(program, seconds) from None
        out.seek(0)
        err.seek(0)
        return status, out.read(), err.read()


def _serve(listening: socket.socket) -> None:
    if os.fork():
        os._exit(0)
    for name in IMPORTED:
        import_module(name)
    gc.collect()
    gc.freeze()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while True:
        if 0 in _ready(0, listening.fileno()):
            return
        asking, _ = listening.accept()
        if os.fork() == 0:
            listening.close()
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            _keep(asking)
        asking.close()


def _ready(*fds: int) -> set[int]:
    """Those of which there is news, once there is. Numbers may be too large for `select`."""
    waiting = select.poll()
    for fd in fds:
        waiting.register(fd, select.POLLIN)
    return {fd for fd, _ in waiting.poll()}


def _keep(asking: socket.socket) -> NoReturn:
    asked, streams, _, _ = socket.recv_fds(asking, _LARGEST, STREAMS)
    pid = os.fork()
    if pid == 0:
        asking.close()
        program, cwd, env = json.loads(asked)
        _become(program, cwd, env, streams)
    for stream in streams:
        os.close(stream)
    ended = os.pidfd_open(pid)
    ready = _ready(ended, asking.fileno())
    if ended not in ready:  # whoever asked has gone
        os.kill(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    if ended in ready:
        asking.send(str(os.waitstatus_to_exitcode(status)).encode())
    os._exit(0)


def _become(program: list[str], cwd: str, env: dict[str, str], streams: list[int]) -> NoReturn:
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    sys.stdout.reconfigure(line_buffering=os.isatty(1))  # type: ignore[union-attr]
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(env)
    status = 1
    try:
        if program[0] == "-m":
            sys.argv = program[1:]
            runpy.run_module(program[1], run_name="__main__", alter_sys=True)
        else:
            sys.argv, sys.path[0] = program, str(Path(program[0]).parent)
            runpy.run_path(program[0], run_name="__main__")
        status = 0
    except SystemExit as left:
        status = left.code if isinstance(left.code, int) else int(left.code is not None)
    except BaseException:  # noqa: BLE001  shown as Python itself would
        traceback.print_exc()
    finally:
        atexit._run_exitfuncs()  # and no more of an ending, which takes every module apart
        sys.stdout.flush()
        os._exit(status)


if __name__ == "__main__":
    _serve(socket.socket(fileno=int(sys.argv[1])))
