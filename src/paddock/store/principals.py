"""Exports or purges everything that is stored for one principal.

That is its runs with their calls, calls outside of runs, artifacts, definitions, sessions with their contexts, and
tokens without their secrets.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import secrets
import time
from collections.abc import AsyncIterator, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paddock.errors import HostError, RequestError
from paddock.model.artifacts import Owner

if TYPE_CHECKING:
    import sqlalchemy

    from paddock.store.artifacts import StoredArtifacts
    from paddock.store.database import Store

CANCEL_SECONDS = 10.0
"""How long a purge waits for servers to end the principal's runs."""
REMEMBERED_SECONDS = 3.0
"""How long a purge waits after removing the tokens. Servers look each up once a second, and then end its requests."""
STEP_ROWS = 500
PAGE = 200


CALL_PREFIX = "c_"
PREFIX_CHARACTERS = 27
"""The length of the beginning that the ids of one principal's calls have in common."""


def new_call_id(principal: str) -> str:
    """Return an id for a tool call outside of a run, which shows whose call it is and cannot be guessed."""
    return f"{_call_prefix(principal)}{secrets.token_urlsafe(12)}"


def _call_prefix(principal: str) -> str:
    return f"{CALL_PREFIX}{hashlib.sha256(principal.encode(errors='replace')).hexdigest()[:24]}_"


class PrincipalData:
    """The data that is stored for one principal."""

    def __init__(self, store: Store, artifacts: StoredArtifacts, principal: str) -> None:
        self._store, self._stored, self._principal = store, artifacts, principal
        self._artifacts = artifacts.of(Owner(principal))

    async def counts(self) -> dict[str, int]:
        """Return the number of entries of each kind."""

        def work(connection: sqlalchemy.Connection) -> dict[str, int]:
            from paddock.store.tables import sa

            return {
                table.name: connection.scalar(sa.select(sa.func.count()).select_from(table).where(is_own)) or 0
                for table, is_own in _own(self._principal)
            }

        return await self._store.read(work)

    async def export(self, folder: Path) -> dict[str, int]:
        """Write everything to `folder`, which must be new or empty. Returns the number of entries of each kind."""
        _make_folder(folder)
        rows = {name: await self._store.read(partial(_rows, principal=self._principal, name=name)) for name in _TABLES}
        for name, values in rows.items():
            _write(folder / f"{name}.jsonl", values)
        runs = [run async for run in self._runs()]
        _write(folder / "runs.jsonl", runs)
        listed = []
        async for artifact in self._list_artifacts():
            listed.append(artifact)
            await self._export_bytes(folder, artifact)
        _write(folder / "artifacts.jsonl", listed)
        return {"runs": len(runs), "artifacts": len(listed), **{name: len(values) for name, values in rows.items()}}

    async def purge(self) -> dict[str, int]:
        """End the principal's runs and remove everything. Returns the number of removed entries of each kind.

        If a run cannot be ended, raises HostError and has removed only the tokens.
        """
        write = self._store.writer.write
        tokens = (await self.counts())["tokens"]
        while await write(partial(_remove, principal=self._principal, names=("tokens",))):  # so that no run begins
            pass
        await asyncio.sleep(REMEMBERED_SECONDS)
        await self._end_runs()
        removed = {**await self.counts(), "tokens": tokens}
        now = time.time()
        while await write(partial(_detach_artifacts, principal=self._principal, now=now)):
            pass
        while await write(partial(_remove, principal=self._principal)):
            pass
        await self._stored.sweep()
        await self._store.erase_deleted()
        return removed

    async def _end_runs(self) -> None:
        runs = self._store.runs
        try:
            async with asyncio.timeout(CANCEL_SECONDS):
                while running := await runs.list(self._principal, verdict="running", limit=1000):
                    for run in running:
                        await runs.request_cancel(self._principal, run.id)
                    await asyncio.sleep(0.1)
        except TimeoutError:
            raise HostError(
                f"{len(running)} runs of {self._principal!r} are still in progress, and their server does not end "
                "them; stop it, and purge again. Only the tokens were removed"
            ) from None

    async def _runs(self) -> AsyncIterator[dict[str, Any]]:
        before = None
        while page := await self._store.runs.list(self._principal, limit=PAGE, before=before):
            for summary in page:
                if (run := await self._store.runs.get(self._principal, summary.id)) is not None:
                    yield run.to_dict()
            before = page[-1].id

    async def _list_artifacts(self) -> AsyncIterator[dict[str, Any]]:
        cursor = None
        while True:
            page = await self._artifacts.list(limit=PAGE, cursor=cursor)
            for each in page.artifacts:
                values = {name: getattr(each.artifact, name) for name in ("id", "filename", "mime_type", "size")}
                more = {name: getattr(each, name) for name in ("session", "run_id", "created_at", "expires_at")}
                yield {**values, **more}
            cursor = page.cursor
            if cursor is None:
                return

    async def _export_bytes(self, folder: Path, artifact: Mapping[str, Any]) -> None:
        found = await self._artifacts.find(artifact["id"])
        if found is None:  # removed meanwhile
            return
        # The file has the id as its name: the artifact's own name was chosen by a script.
        with (folder / "artifacts" / artifact["id"]).open("xb") as file:
            async for chunk in self._artifacts.stream(found):
                file.write(chunk)


def has_remains(connection: sqlalchemy.Connection, principal: str) -> bool:
    """Whether something is stored for a principal that has no token, not even a revoked one."""
    from paddock.store.tables import sa

    found = {t.name: connection.scalar(sa.select(sa.exists().where(is_own))) for t, is_own in _own(principal)}
    return not found.pop("tokens") and any(found.values())


_TABLES = ("calls", "definitions", "sessions", "tokens")
"""The tables that are exported as they are. `calls` has those outside of runs; a run contains its own."""


def _own(principal: str) -> list[tuple[sqlalchemy.Table, sqlalchemy.ColumnElement[bool]]]:
    """Return each table with the condition for the principal's rows."""
    from paddock.store.tables import artifacts, calls, definitions, runs, sessions, tokens

    is_call = calls.c.run_id.startswith(_call_prefix(principal), autoescape=True)
    others = [(table, table.c.principal == principal) for table in (runs, artifacts, definitions, sessions, tokens)]
    return [(calls, is_call), *others]


def _rows(connection: sqlalchemy.Connection, principal: str, name: str) -> list[dict[str, Any]]:
    from paddock.store.tables import sa

    table, is_own = next(each for each in _own(principal) if each[0].name == name)
    columns = [column for column in table.columns if column.name != "digest"]
    return [dict(row) for row in connection.execute(sa.select(*columns).where(is_own)).mappings()]


def _remove(connection: sqlalchemy.Connection, principal: str, names: Iterable[str] = ()) -> int:
    """Remove some of the principal's rows, from the tables of these names or from all. Returns how many."""
    from paddock.store.tables import calls, sa

    removed = 0
    for table, is_own in _own(principal):
        if names and table.name not in names:
            continue
        keys = [tuple(row) for row in connection.execute(sa.select(*table.primary_key).where(is_own).limit(STEP_ROWS))]
        if keys and table.name == "runs":
            connection.execute(sa.delete(calls).where(calls.c.run_id.in_([key[0] for key in keys])))
        if keys:
            connection.execute(sa.delete(table).where(sa.tuple_(*table.primary_key).in_(keys)))
        removed += len(keys)
    return removed


def _detach_artifacts(connection: sqlalchemy.Connection, principal: str, now: float) -> int:
    """Remove some of the principal's artifacts, so that the next sweep deletes their bytes. Returns how many."""
    from paddock.store import artifact_records as records

    return records.remove_of(connection, principal, now)


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise RequestError(f"{folder} is not empty; name a new folder")
        (folder / "artifacts").mkdir(mode=0o700)
    except OSError as problem:
        raise RequestError(f"{folder} cannot be used: {problem.strerror}") from None


def _write(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)  # the folder may be open to others
    with os.fdopen(fd, "w", encoding="utf-8") as file:
        for row in rows:
            file.write(f"{json.dumps(row)}\n")
