"""The journal of tool calls on disk. The intent of a call that may change something is on the disk before the call."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import TYPE_CHECKING, Any

from paddock.model.journal import Intent, Outcome

if TYPE_CHECKING:
    import sqlalchemy

    from paddock.store.database import Store

ANSWER_CHARACTERS = 1024 * 1024
"""A longer answer is not kept."""
RUN_CHARACTERS = 64 * 1024 * 1024
"""Of all answers of one run; further ones are not kept."""
BATCH_CHARACTERS = 256 * 1024
COUNTED_RUNS = 1000
Calls = list[tuple[Intent, Outcome | None]]


class StoredJournal:
    """The journal in the database. Only the intent of a call that is not read-only is waited for."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._characters: OrderedDict[str, int] = OrderedDict()  # of the answers of each recent run
        self._batch: _Batch | None = None

    async def intend(self, intent: Intent) -> None:
        row = {
            "run_id": intent.run_id,
            "number": intent.number,
            "tool": stored_text(intent.tool),
            "is_read_only": intent.is_read_only,
            "at": intent.at,
            "status": None,
            "milliseconds": None,
            "size_bytes": len(intent.arguments_json),
            "arguments_json": stored_text(intent.arguments_json),
            "answer_json": None,
        }
        if intent.is_read_only:
            await self._add(row, len(intent.arguments_json), is_outcome=False)
        else:
            await self._store.writer.write(lambda connection: _insert(connection, [row]), synced=True)

    async def conclude(self, outcome: Outcome) -> None:
        answer = outcome.answer_json if self._has_room(outcome) else ""
        row = {
            "of_run": outcome.run_id,
            "of_number": outcome.number,
            "status": outcome.status,
            "milliseconds": outcome.milliseconds,
            "more_bytes": len(answer),
            "answer_json": stored_text(answer),
        }
        await self._add(row, len(answer), is_outcome=True)

    async def calls(self, run_id: str) -> Calls:
        return await self._store.read(lambda connection: calls_of(connection, run_id))

    async def _add(self, row: dict[str, Any], characters: int, *, is_outcome: bool) -> None:
        """Add `row` to the batch that waits in memory, or begin another batch with it."""
        if self._batch is None or not self._batch.add(row, characters, is_outcome=is_outcome):
            batch = _Batch(max(BATCH_CHARACTERS, characters))
            batch.add(row, characters, is_outcome=is_outcome)
            await self._store.writer.put(batch.write, size_bytes=batch.room)
            self._batch = batch

    def _has_room(self, outcome: Outcome) -> bool:
        size, used = len(outcome.answer_json), self._characters.pop(outcome.run_id, 0)
        fits = size <= ANSWER_CHARACTERS and used + size <= RUN_CHARACTERS
        self._characters[outcome.run_id] = used + size if fits else used
        while len(self._characters) > COUNTED_RUNS:
            self._characters.popitem(last=False)
        return fits


class _Batch:
    """Read-only intents and outcomes in memory, which the writer writes as one piece of work."""

    def __init__(self, room: int) -> None:
        self.room = room
        self._left, self._is_open = room, True
        self._intents: dict[tuple[str, int], dict[str, Any]] = {}
        self._outcomes: dict[tuple[str, int], dict[str, Any]] = {}
        self._lock = threading.Lock()

    def add(self, row: dict[str, Any], characters: int, *, is_outcome: bool) -> bool:
        """Take `row`. Returns False when the batch is full, or is being written."""
        with self._lock:
            if not self._is_open or characters > self._left:
                return False
            self._left -= characters
            if is_outcome:
                self._outcomes[row["of_run"], row["of_number"]] = row
            else:
                key = (row["run_id"], row["number"])
                self._intents[key] = row
                self._outcomes.pop(key, None)  # it belongs to an earlier call with the same number
            return True

    def write(self, connection: sqlalchemy.Connection) -> None:
        from paddock.store.tables import calls, sa

        with self._lock:
            self._is_open = False
        if self._intents:
            _insert(connection, list(self._intents.values()))
        if self._outcomes:
            is_call = (calls.c.run_id == sa.bindparam("of_run")) & (calls.c.number == sa.bindparam("of_number"))
            conclude = (
                sa.update(calls)
                .where(is_call)
                .values(
                    status=sa.bindparam("status"),
                    milliseconds=sa.bindparam("milliseconds"),
                    answer_json=sa.bindparam("answer_json"),
                    size_bytes=calls.c.size_bytes + sa.bindparam("more_bytes"),
                )
            )
            connection.execute(conclude, list(self._outcomes.values()))


def calls_of(connection: sqlalchemy.Connection, run_id: str) -> Calls:
    """Read the calls of a run, in the order of its program."""
    from paddock.store.tables import calls, sa

    rows = connection.execute(sa.select(calls).where(calls.c.run_id == run_id).order_by(calls.c.number))
    found: Calls = []
    for row in rows:
        intent = Intent(row.run_id, row.number, row.tool, row.arguments_json, row.is_read_only, row.at)
        outcome = Outcome(row.run_id, row.number, row.status, row.milliseconds, row.answer_json)
        found.append((intent, None if row.status is None else outcome))
    return found


def _insert(connection: sqlalchemy.Connection, rows: list[dict[str, Any]]) -> None:
    """Write calls. A number that comes again is a new call, which replaces the old one."""
    from paddock.store.tables import calls, sa

    connection.execute(sa.insert(calls).prefix_with("OR REPLACE"), rows)


def stored_text(text: str) -> str:
    """Return `text` as the database can hold it: half of a surrogate pair becomes an escape."""
    return text if text.isascii() else text.encode(errors="backslashreplace").decode()
