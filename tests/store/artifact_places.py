"""Artifacts in a real database and a real folder, with a clock that tests set."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paddock.config import ArtifactsConfig
from paddock.model.artifacts import Owner
from paddock.store.artifacts import ArtifactScope, StoredArtifact, StoredArtifacts
from paddock.store.database import Store
from paddock.store.objects import Objects
from tests.store import empty

ANN = Owner("ann", "s1")
ANN_ELSEWHERE = Owner("ann", "s2")
BOB = Owner("bob", "s1")
MB = 1024 * 1024


@dataclass
class Clock:
    """A clock that tests set, in seconds since 1970."""

    now: float = 1_000_000.0

    def __call__(self) -> float:
        self.now += 0.001  # two things never happen at the same moment
        return self.now


@dataclass
class Place:
    """Stored artifacts, with their folder and their clock."""

    stored: StoredArtifacts
    folder: Path
    clock: Clock

    def of(self, owner: Owner = ANN, run_id: str | None = None) -> ArtifactScope:
        return self.stored.of(owner, run_id)

    def files(self) -> list[Path]:
        return sorted(path for path in self.folder.rglob("*") if path.is_file())


@asynccontextmanager
async def opened(folder: Path, **settings: Any) -> AsyncIterator[Place]:
    """Open the artifacts in `folder`, with these settings of `[artifacts]`."""
    clock, path, config = Clock(), folder / "store" / "paddock.db", ArtifactsConfig(**settings)
    empty.put(path)
    async with Store(path) as store:
        stored = StoredArtifacts(store, Objects(config.url, folder / "artifacts"), config, clock=clock)
        try:
            yield Place(stored, folder / "artifacts", clock)
        finally:
            await stored.close()


async def find(own: ArtifactScope, ref: str) -> StoredArtifact:
    artifact = await own.find(ref)
    assert artifact is not None
    return artifact


async def content_of(own: ArtifactScope, ref: str) -> bytes:
    return b"".join([piece async for piece in own.stream(await find(own, ref))])


async def chunks(*pieces: bytes) -> AsyncIterator[bytes]:
    for piece in pieces:
        yield piece
