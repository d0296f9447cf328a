"""Takes into the store what commands left in its spool. A run that goes on is left alone, and so is what is no run."""

from __future__ import annotations

import asyncio
import fcntl
import json
import logging
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paddock.model.journal import Intent, Outcome
from paddock.store.calls import concluding, intending, stored_text
from paddock.store.spool import waiting

if TYPE_CHECKING:
    import sqlalchemy

    from paddock.store.database import Store

log = logging.getLogger(__name__)
OWNER = "spool"
"""Of a run that a command made. No process is called so: one without an end is lost."""
FILE_BYTES = 256 * 1024 * 1024
"""A larger file is not read: no run writes so much."""


async def take_in(store: Store, principal: str) -> int:
    """Make stored runs of those that wait in the spool, as runs of `principal`; how many."""
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
        works = [_work(lines[0][1]["id"], principal, what, values) for what, values in lines]
    except (KeyError, TypeError, AttributeError):
        return False

    def work(connection: sqlalchemy.Connection) -> None:
        for each in works:
            each(connection)

    await store.writer.write(work, synced=True)
    return True


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
        return lambda connection: connection.execute(_statement("finish"), row)
    code = stored_text(values["code"])
    row = {"id": run_id, "principal": principal, "language": values["language"], "code": code}
    row |= {"owner": OWNER, "request_digest": "", "started_at": values["at"], "size_bytes": len(code)}
    return lambda connection: connection.execute(_statement("begin").prefix_with("OR IGNORE"), row)


def _statement(name: str) -> Any:
    from paddock.store import statements

    return getattr(statements, name)()


def _lines(fd: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """What the file says, up to a line that was never finished."""
    if os.fstat(fd).st_size > FILE_BYTES:
        return
    with os.fdopen(os.dup(fd), "rb") as file:
        for line in file:
            try:
                what, values = json.loads(line)
            except (ValueError, TypeError, RecursionError):
                return
            yield what, values


def _locked(path: Path) -> int | None:
    """The file, where no run goes on in it."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.fstat(fd).st_nlink:
            return fd
    except BlockingIOError:
        pass
    os.close(fd)
    return None
