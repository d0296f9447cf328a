"""The journal of tool calls in the database. A call that may change something is on disk before it is made."""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from paddock.errors import StoreError
from paddock.model.journal import Intent, Outcome

if TYPE_CHECKING:
    from collections.abc import Iterator

    import sqlalchemy

    from paddock.store.database import Store

ANSWER_CHARACTERS = 1024 * 1024
"""The length of the longest answer that is stored."""
RUN_CHARACTERS = 64 * 1024 * 1024
"""Limit for the total size of the answers of one run. Further answers are not stored."""
BATCH_CHARACTERS = 256 * 1024
COUNTED_RUNS = 1000
"""For how many recent runs the stored answers are counted."""
Calls = list[tuple[Intent, Outcome | None]]


class StoredJournal:
    """The journal in the database. `intend` waits for the disk unless the call is read-only; the rest is batched."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._characters: OrderedDict[str, int] = OrderedDict()  # length of the stored answers of each recent run
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
        """Return the calls of a run in program order, each with its outcome if that is known."""
        return await self._store.read(lambda connection: calls_of(connection, run_id))

    async def _add(self, row: dict[str, Any], characters: int, *, is_outcome: bool) -> None:
        """Add `row` to the batch in memory, or to a new batch if that one is full."""
        if self._batch is None or not self._batch.add(row, characters, is_outcome=is_outcome):
            batch = _Batch(max(BATCH_CHARACTERS, characters))
            batch.add(row, characters, is_outcome=is_outcome)
            await self._store.writer.put(batch.write, size_bytes=batch.max_characters)
            self._batch = batch

    def _has_room(self, outcome: Outcome) -> bool:
        size, used = len(outcome.answer_json), self._characters.pop(outcome.run_id, 0)
        fits = size <= ANSWER_CHARACTERS and used + size <= RUN_CHARACTERS
        self._characters[outcome.run_id] = used + size if fits else used
        while len(self._characters) > COUNTED_RUNS:
            self._characters.popitem(last=False)
        return fits


class _Batch:
    """Read-only intents and outcomes in memory, which the writer stores in one transaction."""

    def __init__(self, max_characters: int) -> None:
        self.max_characters = max_characters
        self._characters_left, self._is_open = max_characters, True
        self._intents: dict[tuple[str, int], dict[str, Any]] = {}
        self._outcomes: dict[tuple[str, int], dict[str, Any]] = {}
        self._lock = threading.Lock()

    def add(self, row: dict[str, Any], characters: int, *, is_outcome: bool) -> bool:
        """Add `row`. Returns False if the batch is full or is being written."""
        with self._lock:
            if not self._is_open or characters > self._characters_left:
                return False
            self._characters_left -= characters
            if is_outcome:
                self._outcomes[row["of_run"], row["of_number"]] = row
            else:
                key = (row["run_id"], row["number"])
                self._intents[key] = row
                self._outcomes.pop(key, None)  # such an outcome belongs to an earlier call with the same number
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
    """Read the calls of a run in program order."""
    from paddock.store.tables import calls, sa

    rows = connection.execute(sa.select(calls).where(calls.c.run_id == run_id).order_by(calls.c.number))
    recorded: Calls = []
    for row in rows:
        intent = Intent(row.run_id, row.number, row.tool, row.arguments_json, row.is_read_only, row.at)
        outcome = Outcome(row.run_id, row.number, row.status, row.milliseconds, row.answer_json)
        recorded.append((intent, None if row.status is None else outcome))
    return recorded


def _insert(connection: sqlalchemy.Connection, rows: list[dict[str, Any]]) -> None:
    """Write calls. A repeated number is a new call and replaces the old one."""
    from paddock.store.tables import calls, sa

    connection.execute(sa.insert(calls).prefix_with("OR REPLACE"), rows)


def parse_stored(text: str) -> dict[str, Any]:
    """Return the JSON object that a column contains. Raises StoreError if it contains anything else."""
    with damage_found():
        value = json.loads(text)
        if isinstance(value, dict):
            return value
        raise ValueError(value)


@contextmanager
def damage_found() -> Iterator[None]:
    """Raise StoreError instead of errors about JSON that Paddock has not written."""
    try:
        yield
    except (ValueError, LookupError, RecursionError):
        message = "the store is damaged: a row holds something other than the JSON that Paddock writes"
        raise StoreError(message) from None


def stored_text(text: str) -> str:
    """Return `text` with lone surrogates escaped, because the database cannot hold them."""
    return text if text.isascii() else text.encode(errors="backslashreplace").decode()
