"""Artifacts in the host's memory, for as long as the Paddock that made them."""

from __future__ import annotations

import os
import threading
from base64 import urlsafe_b64encode

from paddock.model.artifacts import URL, Artifact

TOTAL_BYTES = 256 * 1024 * 1024
TOTAL_COUNT = 10_000


class MemoryArtifacts:
    """Keeps the newest, up to a total; the oldest go first. May be used from several threads."""

    def __init__(self, total_bytes: int = TOTAL_BYTES, total_count: int = TOTAL_COUNT) -> None:
        self._total_bytes, self._total_count = total_bytes, total_count
        self._kept: dict[str, tuple[Artifact, bytes]] = {}  # by id, the oldest first
        self._bytes = 0
        self._lock = threading.Lock()

    async def create(self, filename: str, mime_type: str, content: bytes) -> Artifact:
        name = f"a_{urlsafe_b64encode(os.urandom(15)).decode()}"
        artifact = Artifact(name, filename, mime_type, len(content), f"{URL}{name}")
        with self._lock:
            self._kept[name] = (artifact, content)
            self._bytes += len(content)
            while self._bytes > self._total_bytes or len(self._kept) > self._total_count:
                oldest, _ = self._kept.pop(next(iter(self._kept)))
                self._bytes -= oldest.size
        return artifact

    async def read(self, ref: str) -> tuple[Artifact, bytes] | None:
        with self._lock:
            found = self._kept.get(ref.removeprefix(URL))
            if found is None:
                found = next((kept for kept in reversed(self._kept.values()) if kept[0].filename == ref), None)
            return found
