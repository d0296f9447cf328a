"""Takes into the store what commands left in its spool. A run that goes on is left alone, and so is what is no run."""

from __future__ import annotations

import asyncio
import fcntl
import json
import logging
import math
import os
import stat
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paddock.model.journal import Intent, Outcome
from paddock.model.result import Verdict
from paddock.store.calls import concluding, intending, stored_text
from paddock.store.spool import waiting

if TYPE_CHECKING:
    import sqlalchemy

    from paddock.store.database import Store
    from paddock.store.statements import Prepared

log = logging.getLogger(__name__)
OWNER = "spool"
"""Of a run that a command made. No process is called so: one without an end is lost."""
FILE_BYTES = 256 * 1024 * 1024
"""A larger file is not read: no run writes so much."""
MOST_LINES = 2_100_000
"""Nor one with more lines: no run may make more than a million calls."""
_TEXTS = ("id", "code", "language", "tool", "arguments_json", "status", "answer_json", "verdict", "result_json")
_NUMBERS = ("at", "milliseconds")


async def take_in(store: Store, principal: str) -> int:
    """Make stored runs of those that wait in the spool, as runs of `principal`; how many.

    What a file says is not trusted: one that is odd is left as it is, and keeps no other from being taken in.
    """
    taken = 0
    for path in await asyncio.to_thread(waiting, store.spool):
        fd = await asyncio.to_thread(_locked, path)
        if fd is None:
            continue
        try:
            if await _taken(store, principal, fd):
                path.unlink(missing_ok=True)
                taken += 1
            else:
                log.warning("%s holds no run, and is left as it is", path)
        finally:
            os.close(fd)
    return taken


async def _taken(store: Store, principal: str, fd: int) -> bool:
    lines = await asyncio.to_thread(lambda: list(_lines(fd)))
    if not lines or lines[0][0] != "begin":
        return False

    try:
        for _, values in lines:
            _check(values)
        works = [_work(lines[0][1]["id"], principal, what, values) for what, values in lines]
    except (KeyError, TypeError, ValueError, AttributeError):
        return False

    def work(connection: sqlalchemy.Connection) -> None:
        for each in works:
            each(connection)

    await store.writer.write(work, synced=True)
    return True


def _check(values: dict[str, Any]) -> None:
    """Refuse what the database could not hold, or what would be no run when it is read."""
    for name, value in values.items():
        if name in _TEXTS and not isinstance(value, str):
            raise TypeError(name)
        if name in _NUMBERS and (type(value) not in (int, float) or not math.isfinite(value)):
            raise TypeError(name)
    if type(values.get("number", 0)) is not int or not 0 <= values.get("number", 0) < 2**31:
        raise ValueError("number")
    if not isinstance(values.get("engine"), str | None) or not isinstance(values.get("is_read_only", False), bool):
        raise TypeError("engine")
    if "verdict" in values:
        Verdict(values["verdict"])
        if not values["result_json"].startswith("{"):
            raise ValueError("result_json")


def _work(run_id: str, principal: str, what: str, values: dict[str, Any]) -> Callable[[sqlalchemy.Connection], object]:
    """What writes one line of the file."""
    if what == "intend":
        return intending(Intent(**{**values, "run_id": run_id}))
    if what == "conclude":
        return concluding(Outcome(**{**values, "run_id": run_id}), values["answer_json"])
    if what == "end":
        text = values["result_json"]
        ended = {"engine": values["engine"], "ended_at": values["at"], "verdict": values["verdict"]}
        row = {"of_run": run_id, "result_bytes": len(text), "result_json": stored_text(text), **ended}
        return lambda connection: _prepared("finish").execute(connection, row)
    code = stored_text(values["code"])
    row = {"id": run_id, "principal": principal, "language": values["language"], "code": code}
    row |= {"owner": OWNER, "request_digest": "", "started_at": values["at"], "size_bytes": len(code)}
    row |= {"session": None, "definition": None, "idempotency_key": None}
    return lambda connection: _prepared("begin_once").execute(connection, row)


def _prepared(name: str) -> Prepared:
    from paddock.store import statements

    made: Prepared = getattr(statements, name)()
    return made


def _lines(fd: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """What the file says, up to a line that was never finished."""
    if os.fstat(fd).st_size > FILE_BYTES:
        return
    with os.fdopen(os.dup(fd), "rb") as file:
        for line in islice(file, MOST_LINES):
            try:
                what, values = json.loads(line)
            except (ValueError, TypeError, RecursionError):
                return
            yield what, values


def _locked(path: Path) -> int | None:
    """The file, where no run goes on in it. What is no file of this user's own is not opened, or closed at once."""
    try:
        # Without waiting: a FIFO that nobody writes to would hold this thread for ever.
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return None
    try:
        found = os.fstat(fd)
        if stat.S_ISREG(found.st_mode) and found.st_uid == os.geteuid():
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.fstat(fd).st_nlink:
                return fd
    except OSError:
        pass
    os.close(fd)
    return None
