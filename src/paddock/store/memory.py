"""Artifacts in memory, for a Paddock without a store. When the memory is full, the oldest artifacts are dropped."""

from __future__ import annotations

import os
import threading
from base64 import urlsafe_b64encode

from paddock.model.artifacts import URL, Artifact

ARTIFACT_BYTES = 256 * 1024 * 1024
ARTIFACT_COUNT = 10_000


def new_artifact_id() -> str:
    """Return an id that cannot be guessed."""
    return f"a_{urlsafe_b64encode(os.urandom(15)).decode()}"


class MemoryArtifacts:
    """Keeps the newest artifacts, up to a total size and number. May be used from several threads."""

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
