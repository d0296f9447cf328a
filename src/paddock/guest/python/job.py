"""What the host sends before a script runs: settings, inputs, files and the source."""

from __future__ import annotations

import json
import os
import socket
from dataclasses import dataclass, field
from typing import Any

from paddock.jail import wire
from paddock.jail.wire import Kind

FILES = "/files"
ELSEWHERE = "PADDOCK_FILES"
"""Environment variable with the folder that replaces FILES, in a jail that has no root of its own."""


@dataclass(slots=True)
class Job:
    """A script and everything that it was given."""

    start: dict[str, Any] = field(default_factory=dict)
    inputs: dict[str, str] = field(default_factory=dict)  # by name, as JSON text
    code: str = ""

    @property
    def is_script(self) -> bool:
        return self.start.get("mode") == "script"

    @property
    def limits(self) -> dict[str, Any]:
        return self.start.get("limits") or {}


def receive(control: socket.socket) -> Job | None:
    """Receive a whole job. None where the host closed the socket instead."""
    job = Job()
    while (frame := wire.receive(control)) is not None:
        if frame.kind == Kind.START:
            job.start = frame.values() or json.loads(frame.body)
            for entry in job.start.get("files") or ():
                entry["path"] = _placed(entry["path"])
        elif frame.kind == Kind.INPUT:
            job.inputs[frame.values()["name"]] = frame.body.decode()
        elif frame.kind == Kind.FILE:
            _append(frame.values()["path"], frame.body)
        elif frame.kind == Kind.CODE:
            job.code = frame.body.decode()
            return job
    return None


def _append(path: str, data: bytes) -> None:
    path = _placed(os.path.join(FILES, path))  # noqa: PTH118 (pathlib would read a trailing dot away)
    os.makedirs(os.path.dirname(path), exist_ok=True)  # noqa: PTH103, PTH120
    with open(path, "ab") as file:  # noqa: PTH123
        file.write(data)


def _placed(path: str) -> str:
    """The real path of a file below FILES."""
    elsewhere = os.environ.get(ELSEWHERE)
    return path if elsewhere is None else elsewhere + path.removeprefix(FILES)
