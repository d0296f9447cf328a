"""The host's side of a guest, in a few lines: it sends a job, answers what is asked, and collects what comes back."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from paddock.jail import wire
from paddock.jail.wire import Frame, Kind

PATIENCE_SECONDS = 30.0
INTERPRETER = os.environ.get("PADDOCK_TEST_INTERPRETER", sys.executable)
"""What guests run in; another version may be named."""
Answers = Iterator[bytes]
Answer = Callable[[Frame], Answers]


@dataclass
class Ran:
    """How a guest ended, and what it sent on its way there."""

    header: dict[str, Any]
    body: bytes
    stdout: str
    stderr: str
    exit_code: int  # of the process; minus the signal that ended it
    frames: list[Frame] = field(default_factory=list)

    @property
    def status(self) -> Any:
        return self.header.get("status")

    @property
    def value(self) -> Any:
        assert self.status == "ok", self.header
        return json.loads(self.body)

    @property
    def raised(self) -> tuple[Any, Any]:
        assert self.status == "raised", (self.header, self.body)
        return self.header["type"], self.header["message"]

    @property
    def calls(self) -> list[tuple[str, Any]]:
        return [(frame.values()["tool"], json.loads(frame.body)) for frame in self.frames if frame.kind == Kind.CALL]


class Nursery:
    """A process that forks guests, and how a test runs a script in one."""

    runtime = "paddock.guest.python.main"

    def __init__(self, directory: Path, interpreter: str = INTERPRETER, preload: Sequence[str] = ()) -> None:
        self.directory = directory
        self._requests, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        program = Path(__file__).with_name("nursery.py")
        path = str(Path(wire.__file__).parents[2])
        with theirs:
            self._process = subprocess.Popen(
                [interpreter, str(program), str(theirs.fileno()), self.runtime, *preload],
                pass_fds=[theirs.fileno()],
                env={"PYTHONPATH": path, "PATH": os.environ["PATH"], "OPENBLAS_NUM_THREADS": "1"},
            )

    def close(self) -> None:
        self._requests.close()
        self._process.wait(PATIENCE_SECONDS)

    def _request(self) -> dict[str, str]:
        return {"directory": str(self.directory)}

    def run(
        self,
        code: str,
        *,
        start: Mapping[str, Any] | None = None,
        inputs: Mapping[str, Any] | None = None,
        files: Mapping[str, bytes] | None = None,
        answer: Answer | None = None,
    ) -> Ran:
        """Run `code` in a new guest; `start` adds to its START frame, `answer` gives the frames that answer one."""
        ours, control = socket.socketpair()
        out, err = os.pipe(), os.pipe()
        socket.send_fds(
            self._requests,
            [json.dumps(self._request()).encode()],
            [control.fileno(), out[1], err[1]],
        )
        control.close()
        os.close(out[1])
        os.close(err[1])
        printed = [_Drain(out[0]), _Drain(err[0])]
        with ours:
            ours.settimeout(PATIENCE_SECONDS)
            ready = wire.receive(ours)
            assert ready is not None
            assert ready.kind == Kind.READY
            ours.sendall(_job(code, start or {}, inputs or {}, files or {}))
            frames = _converse(ours, answer)
            self._requests.settimeout(PATIENCE_SECONDS)
            exit_code = os.waitstatus_to_exitcode(json.loads(self._requests.recv(100)))
        stdout, stderr = (drain.text() for drain in printed)
        last = frames.pop() if frames and frames[-1].kind == Kind.RESULT else Frame(0, 0, b"", b"")
        return Ran(last.values(), last.body, stdout, stderr, exit_code, frames)


def _job(code: str, start: Mapping[str, Any], inputs: Mapping[str, Any], files: Mapping[str, bytes]) -> bytes:
    parts = [wire.pack(Kind.START, 0, {"mode": "expression", "limits": {}, "tools": [], **start})]
    parts += [wire.pack(Kind.INPUT, 0, {"name": k}, json.dumps(v).encode()) for k, v in inputs.items()]
    for path, data in files.items():
        parts += [wire.pack(Kind.FILE, 0, {"path": path}, data[n : n + 100]) for n in range(0, len(data) or 1, 100)]
    return b"".join([*parts, wire.pack(Kind.CODE, 0, None, code.encode())])


def _converse(ours: socket.socket, answer: Answer | None) -> list[Frame]:
    frames: list[Frame] = []
    while (frame := _next(ours)) is not None:
        if frame.kind == Kind.STARTED:
            continue
        frames.append(frame)
        if frame.kind == Kind.RESULT:
            break
        for reply in answer(frame) if answer else ():
            ours.sendall(reply)
    return frames


def _next(ours: socket.socket) -> Frame | None:
    try:
        return wire.receive(ours)
    except ConnectionResetError:
        return None


class _Drain:
    """Reads a pipe to its end, in a thread."""

    def __init__(self, descriptor: int) -> None:
        self._data = b""
        self._thread = threading.Thread(target=self._read, args=[descriptor])
        self._thread.start()

    def _read(self, descriptor: int) -> None:
        with open(descriptor, "rb") as file:
            self._data = file.read()

    def text(self) -> str:
        self._thread.join(PATIENCE_SECONDS)
        return self._data.decode()


def tools(**functions: Callable[[Any], Any]) -> Answer:
    """Answer calls with these functions; what one raises is a failed call."""

    def answer(frame: Frame) -> Answers:
        if frame.kind != Kind.CALL:
            return
        try:
            value, failed = functions[frame.values()["tool"]](json.loads(frame.body)), False
        except ValueError as error:
            value, failed = {"error_kind": "internal_error", "summary": str(error)}, True
        yield wire.pack(Kind.ANSWER, frame.id, {"failed": failed}, json.dumps(value).encode())

    return answer
