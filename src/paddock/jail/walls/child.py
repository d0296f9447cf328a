"""Try something that cannot be undone, in a process that ends with it."""

from __future__ import annotations

import os
from collections.abc import Callable


def attempt(trial: Callable[[], str | None]) -> str | None:
    """What `trial` says in a forked child: None for "it works", else the reason. Call it from a small process."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reader)
        _report(trial, writer)
    os.close(writer)
    with os.fdopen(reader, "rb") as said:
        text = said.read().decode(errors="replace")
    _, status = os.waitpid(pid, 0)
    if status:
        return text or f"the trial ended with exit code {os.waitstatus_to_exitcode(status)}"
    return text or None


def _report(trial: Callable[[], str | None], writer: int) -> None:
    code = 1
    try:
        os.write(writer, (trial() or "").encode())
        code = 0
    except BaseException as error:  # noqa: BLE001 - nothing may pass the fork: the caller's own stack is above
        os.write(writer, f"{type(error).__name__}: {error}".encode())
    finally:
        os._exit(code)
