"""The journal on disk: a call that may change something is made only when its intent is committed and synced."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING

from paddock.model.journal import Intent, Outcome

if TYPE_CHECKING:
    import sqlalchemy

    from paddock.store.reader import Read
    from paddock.store.writer import Item, Writer

ANSWER_CHARACTERS = 1024 * 1024
"""A longer answer is not kept."""
RUN_CHARACTERS = 64 * 1024 * 1024
"""Of all answers of one run; those over it are not kept."""
LEARNED_CHARACTERS = 64 * 1024
"""A longer answer is not learned from."""
TOGETHER_CHARACTERS = 256 * 1024
"""Of read-only calls that are written together."""
_RUNS = 1000


class StoredJournal:
    """Keeps calls in the database. The intent of a read-only call, and what any call came to, cost no wait."""

    def __init__(self, writer: Writer, read: Read) -> None:
        self._writer, self._read = writer, read
        self._characters: OrderedDict[str, int] = OrderedDict()  # of answers kept, of the runs that were last heard of
        self._together: tuple[_Together, Item] | None = None

    async def intend(self, intent: Intent) -> None:
        if not intent.is_read_only:
            await self._writer.write(intending(intent), synced=True)
            return
        if self._together is not None:
            together, item = self._together
            if not item.is_taken and together.intend(intent):
                return
        together = _Together(max(TOGETHER_CHARACTERS, len(intent.arguments_json)))
        together.intend(intent)
        self._together = together, await self._writer.soon(together.write, size_bytes=together.room)

    async def conclude(self, outcome: Outcome) -> None:
        answer = outcome.answer_json if self._has_room(outcome) else ""
        if self._together is not None:
            together, item = self._together
            if not item.is_taken and together.conclude(outcome, answer):
                return
        await self._writer.soon(concluding(outcome, answer), size_bytes=len(answer))

    async def calls(self, run_id: str) -> list[tuple[Intent, Outcome | None]]:
        return await self._read(lambda connection: calls_of(connection, run_id))

    async def answers(self, tool: str, limit: int) -> list[str]:
        return await self._read(lambda connection: _answers(connection, tool, limit))

    def _has_room(self, outcome: Outcome) -> bool:
        size, kept = len(outcome.answer_json), self._characters.pop(outcome.run_id, 0)
        fits = size <= ANSWER_CHARACTERS and kept + size <= RUN_CHARACTERS
        self._characters[outcome.run_id] = kept + size if fits else kept
        while len(self._characters) > _RUNS:
            self._characters.popitem(last=False)
        return fits


class _Together:
    """Read-only calls while they lie in memory: they are written at once, each with what it has come to by then."""

    def __init__(self, room: int) -> None:
        self.room = room
        self._left = room
        self._calls: dict[tuple[str, int], tuple[Intent, Outcome | None, str]] = {}
        self._is_open = True
        self._lock = threading.Lock()

    def intend(self, intent: Intent) -> bool:
        """Take `intent`; False where these are being written, or are too many."""
        with self._lock:
            if not self._is_open or len(intent.arguments_json) > self._left:
                return False
            self._left -= len(intent.arguments_json)
            self._calls[intent.run_id, intent.number] = intent, None, ""
            return True

    def conclude(self, outcome: Outcome, answer: str) -> bool:
        """Add what one of them came to; False where it is none of them, or as above."""
        with self._lock:
            known = self._calls.get((outcome.run_id, outcome.number))
            if not self._is_open or known is None or len(answer) > self._left:
                return False
            self._left -= len(answer)
            self._calls[outcome.run_id, outcome.number] = known[0], outcome, answer
            return True

    def write(self, connection: sqlalchemy.Connection) -> None:
        """In the writer's thread."""
        with self._lock:
            self._is_open = False
        for intent, outcome, answer in self._calls.values():
            intending(intent, outcome, answer)(connection)


def calls_of(connection: sqlalchemy.Connection, run_id: str) -> list[tuple[Intent, Outcome | None]]:
    """The calls of a run, in the order of its program."""
    from sqlalchemy import select

    from paddock.store.tables import calls

    rows = connection.execute(select(calls).where(calls.c.run_id == run_id).order_by(calls.c.number))
    return [
        (
            Intent(row.run_id, row.number, row.tool, row.arguments_json, row.is_read_only, row.at),
            None
            if row.status is None
            else Outcome(row.run_id, row.number, row.status, row.milliseconds, row.answer_json),
        )
        for row in rows
    ]


def _answers(connection: sqlalchemy.Connection, tool: str, limit: int) -> list[str]:
    from sqlalchemy import select

    from paddock.store.tables import calls

    found = (
        select(calls.c.answer_json)
        .where(calls.c.tool == tool, calls.c.status == "ok", calls.c.answer_json != "")
        .where(calls.c.size_bytes <= LEARNED_CHARACTERS)
        .order_by(calls.c.at.desc(), calls.c.number.desc())
        .limit(limit)
    )
    return list(connection.execute(found).scalars())


def intending(
    intent: Intent, outcome: Outcome | None = None, answer: str = ""
) -> Callable[[sqlalchemy.Connection], None]:
    """What writes that a call is to be made; or, where it has been, what it came to, with so much of its answer."""

    def work(connection: sqlalchemy.Connection) -> None:
        from paddock.store.statements import intend

        values = {
            "run_id": intent.run_id,
            "number": intent.number,
            "tool": stored_text(intent.tool),
            "is_read_only": intent.is_read_only,
            "at": intent.at,
            "status": None if outcome is None else outcome.status,
            "milliseconds": None if outcome is None else outcome.milliseconds,
            "size_bytes": len(intent.arguments_json) + len(answer),
            "arguments_json": stored_text(intent.arguments_json),
            "answer_json": None if outcome is None else stored_text(answer),
        }
        intend().execute(connection, values)

    return work


def concluding(outcome: Outcome, answer: str) -> Callable[[sqlalchemy.Connection], None]:
    """What writes what a call came to, with so much of its answer."""

    def work(connection: sqlalchemy.Connection) -> None:
        from paddock.store.statements import conclude

        values = {
            "of_run": outcome.run_id,
            "of_number": outcome.number,
            "status": outcome.status,
            "milliseconds": outcome.milliseconds,
            "answer_json": stored_text(answer),
            "more_bytes": len(answer),
        }
        conclude().execute(connection, values)

    return work


def stored_text(text: str) -> str:
    """`text` as the database can hold it: half of a surrogate pair is written out as an escape."""
    return text if text.isascii() else text.encode(errors="backslashreplace").decode()
