"""Artifacts and the journal in memory, for a Paddock without a store. When full, they drop the oldest entries."""

from __future__ import annotations

import os
import threading
from base64 import urlsafe_b64encode
from dataclasses import replace

from paddock.model.artifacts import URL, Artifact
from paddock.model.journal import Intent, Outcome

ARTIFACT_BYTES = 256 * 1024 * 1024
ARTIFACT_COUNT = 10_000
CALLS = 10_000
CALL_CHARACTERS = 64 * 1024 * 1024
ANSWER_CHARACTERS = 64 * 1024
"""A longer answer is not stored."""


def new_artifact_id() -> str:
    """Return an id that cannot be guessed."""
    return f"a_{urlsafe_b64encode(os.urandom(15)).decode()}"


class MemoryArtifacts:
    """Keeps the newest artifacts up to a total size. May be used from several threads."""

    def __init__(self, total_bytes: int = ARTIFACT_BYTES, total_count: int = ARTIFACT_COUNT) -> None:
        self._total_bytes, self._total_count = total_bytes, total_count
        self._artifacts: dict[str, tuple[Artifact, bytes]] = {}  # by id, the oldest first
        self._bytes = 0
        self._lock = threading.Lock()

    async def create(self, filename: str, mime_type: str, content: bytes) -> Artifact:
        artifact_id = new_artifact_id()
        artifact = Artifact(artifact_id, filename, mime_type, len(content), f"{URL}{artifact_id}")
        with self._lock:
            self._artifacts[artifact_id] = (artifact, content)
            self._bytes += len(content)
            while self._bytes > self._total_bytes or len(self._artifacts) > self._total_count:
                oldest, _ = self._artifacts.pop(next(iter(self._artifacts)))
                self._bytes -= oldest.size
        return artifact

    async def read(self, ref: str) -> tuple[Artifact, bytes] | None:
        with self._lock:
            found = self._artifacts.get(ref.removeprefix(URL))
            if found is None:
                found = next((each for each in reversed(self._artifacts.values()) if each[0].filename == ref), None)
            return found


class MemoryJournal:
    """Keeps the newest calls up to a total size. May be used from several threads."""

    def __init__(self, total_calls: int = CALLS, total_characters: int = CALL_CHARACTERS) -> None:
        self._total_calls, self._total_characters = total_calls, total_characters
        self._calls: dict[tuple[str, int], tuple[Intent, Outcome | None]] = {}  # the oldest first
        self._characters = 0
        self._lock = threading.Lock()

    async def intend(self, intent: Intent) -> None:
        with self._lock:
            self._put(intent, None)

    async def conclude(self, outcome: Outcome) -> None:
        with self._lock:
            call = self._calls.get((outcome.run_id, outcome.number))
            if call is not None:
                is_short = len(outcome.answer_json) <= ANSWER_CHARACTERS
                self._put(call[0], outcome if is_short else replace(outcome, answer_json=""))

    async def calls(self, run_id: str) -> list[tuple[Intent, Outcome | None]]:
        with self._lock:
            matching = [call for (run, _), call in self._calls.items() if run == run_id]
        return sorted(matching, key=lambda call: call[0].number)

    def _put(self, intent: Intent, outcome: Outcome | None) -> None:
        key = (intent.run_id, intent.number)
        self._characters += _characters(intent, outcome) - _characters(*self._calls.get(key, (None, None)))
        self._calls[key] = (intent, outcome)
        while len(self._calls) > self._total_calls or self._characters > self._total_characters:
            self._characters -= _characters(*self._calls.pop(next(iter(self._calls))))


def _characters(intent: Intent | None, outcome: Outcome | None) -> int:
    return (len(intent.arguments_json) if intent else 0) + (len(outcome.answer_json) if outcome else 0)
