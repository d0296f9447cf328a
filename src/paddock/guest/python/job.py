"""The job that the host sends before a script runs: settings, inputs, files and the source."""

from __future__ import annotations

import json
import os
import socket
from dataclasses import dataclass, field
from typing import Any

from paddock.jail import wire
from paddock.jail.wire import Kind

FILES = "/files"
FILES_VARIABLE = "PADDOCK_FILES"
"""Environment variable with the folder that replaces FILES, in a jail without its own root."""


@dataclass(slots=True)
class Job:
    """A script with its settings and inputs."""

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
    """Receive a whole job, or None if the host closed the socket."""
    job = Job()
    while (frame := wire.receive(control)) is not None:
        if frame.kind == Kind.START:
            job.start = frame.values() or json.loads(frame.body)
            for entry in job.start.get("files") or ():
                entry["path"] = _real_path(entry["path"])
        elif frame.kind == Kind.INPUT:
            job.inputs[frame.values()["name"]] = frame.body.decode()
        elif frame.kind == Kind.FILE:
            _append(frame.values()["path"], frame.body)
        elif frame.kind == Kind.CODE:
            job.code = frame.body.decode()
            return job
    return None


def _append(path: str, data: bytes) -> None:
    path = _real_path(os.path.join(FILES, path))  # noqa: PTH118 (pathlib would read a trailing dot away)
    os.makedirs(os.path.dirname(path), exist_ok=True)  # noqa: PTH103, PTH120
    with open(path, "ab") as file:  # noqa: PTH123
        file.write(data)


def _real_path(path: str) -> str:
    """The real path of a file below FILES."""
    folder = os.environ.get(FILES_VARIABLE)
    return path if folder is None else folder + path.removeprefix(FILES)
