"""The journal on disk: a call that may change something is made only when its intent is committed and synced."""

from __future__ import annotations

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
_RUNS = 1000
_INTENDED, _INTENDED_CHARACTERS = 500, 16 * 1024


class StoredJournal:
    """Keeps calls in the database. The intent of a read-only call, and what any call came to, cost no wait."""

    def __init__(self, writer: Writer, read: Read) -> None:
        self._writer, self._read = writer, read
        self._characters: OrderedDict[str, int] = OrderedDict()  # of answers kept, of the runs that were last heard of
        # Of read-only calls that go on, the latest: what they come to may be written with them.
        self._intended: OrderedDict[tuple[str, int], tuple[Intent, Item]] = OrderedDict()

    async def intend(self, intent: Intent) -> None:
        work, size = intending(intent), len(intent.arguments_json)
        if not intent.is_read_only:
            await self._writer.write(work, synced=True)
            return
        item = await self._writer.soon(work, size_bytes=size)
        if not item.is_taken and size <= _INTENDED_CHARACTERS:
            self._intended[intent.run_id, intent.number] = intent, item
            while len(self._intended) > _INTENDED:
                self._intended.popitem(last=False)

    async def conclude(self, outcome: Outcome) -> None:
        answer = outcome.answer_json if self._has_room(outcome) else ""
        intent, item = self._intended.pop((outcome.run_id, outcome.number), (None, None))
        if intent is not None and item is not None:
            size = len(intent.arguments_json) + len(answer)
            if self._writer.instead_of(item, intending(intent, outcome, answer), size_bytes=size):
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
