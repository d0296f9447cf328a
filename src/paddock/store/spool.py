"""A run that a command makes, in a file of its own until a store takes it in: opening the database would take longer
than most scripts do.

The file has a line for each thing that happens, in order, and is locked as long as the run goes on. It is the run's
journal too: a call that may change something is made only when its line is on the disk.
"""

from __future__ import annotations

import asyncio
import fcntl
import json
import os
import time
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paddock.errors import StoreError
from paddock.store.calls import ANSWER_CHARACTERS
from paddock.store.journal import MemoryJournal

if TYPE_CHECKING:
    from paddock.model.journal import Intent, Outcome
    from paddock.model.result import RunResult
    from paddock.store.run_records import NewRun

SUFFIX = ".jsonl"
MANY = 500
"""Of files that wait: a command that finds so many has the store take them in."""


class Spool(MemoryJournal):
    """One run. Hand it to a Paddock as its journal, `begin` it, and `finish` it. Until it begins nothing is written."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.folder = self._path = folder
        self._fd: int | None = None

    def begin(self, run: NewRun) -> None:
        """Write down that the run begins; StoreError where that cannot be."""
        path = self.folder / f"{run.id}{SUFFIX}"
        self._path = path.with_suffix(".new")  # no store looks at it before it is locked
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._fd = os.open(self._path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC, 0o600)
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._write("begin", {"id": run.id, "code": run.code, "language": run.language, "at": time.time()})
            self._path = self._path.rename(path)
        except OSError as problem:
            if self._fd is not None:
                self.discard()
            raise StoreError(f"cannot write {path}: {problem.strerror}") from None

    async def intend(self, intent: Intent) -> None:
        await super().intend(intent)
        self._write("intend", asdict(intent))
        if not intent.is_read_only and self._fd is not None:
            await asyncio.to_thread(os.fdatasync, self._fd)

    async def conclude(self, outcome: Outcome) -> None:
        await super().conclude(outcome)
        is_short = len(outcome.answer_json) <= ANSWER_CHARACTERS
        self._write("conclude", asdict(outcome if is_short else replace(outcome, answer_json="")))

    def finish(self, result: RunResult, result_json: str) -> None:
        """Write down how the run ended, with its result as text, and let the file go."""
        ended = {"engine": result.engine, "verdict": str(result.verdict), "at": time.time(), "result_json": result_json}
        try:
            self._write("end", ended)
        finally:
            self.close()

    def discard(self) -> None:
        """Forget the run: nothing of it happened."""
        self._path.unlink(missing_ok=True)
        self.close()

    def close(self) -> None:
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None

    def _write(self, what: str, values: dict[str, Any]) -> None:
        if self._fd is None:
            return
        data = memoryview(json.dumps([what, values]).encode() + b"\n")
        while data:
            data = data[os.write(self._fd, data) :]


def waiting(folder: Path) -> list[Path]:
    """The runs that no store has taken in, the oldest first; those that go on are among them."""
    try:
        found = [Path(entry.path) for entry in os.scandir(folder) if entry.name.endswith(SUFFIX)]
    except (FileNotFoundError, NotADirectoryError):
        return []
    return sorted(found, key=_written_at)


def _written_at(path: Path) -> float:
    try:
        return path.lstat().st_mtime
    except OSError:
        return 0.0
