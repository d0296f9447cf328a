"""The job that the host sends to a guest: settings, inputs, files and the source of a script."""

from __future__ import annotations

import contextlib
import json
import os
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from os import _exit
from typing import Any, NoReturn

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
    is_fork: bool = False  # nothing to run: the process is to fork itself

    @property
    def is_script(self) -> bool:
        """Whether it runs as a plain program, whose last expression is not its value."""
        return self.start.get("mode") == "script"

    @property
    def limits(self) -> dict[str, Any]:
        return self.start.get("limits") or {}


def receive(control: wire.Readable, *, replaces_files: bool = False) -> Job | None:
    """Receive a whole job, or None if the host closed the socket.

    `replaces_files`: attached files replace those of the same name that an earlier run of the session had.
    """
    job = Job()
    while (frame := wire.receive(control)) is not None:
        if frame.kind == Kind.START:
            job.start = frame.values() or json.loads(frame.body)
            for entry in job.start.get("files") or ():
                entry["path"] = real_path(entry["path"])
                if replaces_files:
                    with contextlib.suppress(OSError):
                        os.unlink(entry["path"])  # noqa: PTH108
        elif frame.kind == Kind.INPUT:
            job.inputs[frame.values()["name"]] = frame.body.decode()
        elif frame.kind == Kind.FILE:
            _append(frame.values()["path"], frame.body)
        elif frame.kind == Kind.CODE:
            job.code = frame.body.decode()
            return job
        elif frame.kind == Kind.FORK:
            job.is_fork = True
            return job
    return None


def run_to_exit(serve: Callable[[], NoReturn]) -> NoReturn:
    """Call `serve` and exit. A forked process must never return into the zygote's code."""
    try:
        serve()
    except OSError:
        pass  # the script has closed the control socket, or the host is gone
    except BaseException:  # noqa: BLE001 (whatever a script has done to this process)
        with contextlib.suppress(BaseException):
            traceback.print_exc()
    finally:
        _exit(1)


def _append(path: str, data: bytes) -> None:
    path = real_path(os.path.join(FILES, path))  # noqa: PTH118 (pathlib would drop a trailing `/.`)
    os.makedirs(os.path.dirname(path), exist_ok=True)  # noqa: PTH103, PTH120
    with open(path, "ab") as file:  # noqa: PTH123
        file.write(data)


def real_path(path: str) -> str:
    """Where a file below FILES is really stored: elsewhere in a jail without its own root."""
    folder = os.environ.get(FILES_VARIABLE)
    return path if folder is None else folder + path.removeprefix(FILES)
