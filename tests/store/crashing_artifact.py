"""A separate program that is killed at a chosen moment of a write."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path

from paddock.store.artifacts import Content
from paddock.store.objects import Objects
from tests.store.artifact_places import MB, find, opened


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


class DiesAfterBytes(Objects):
    """Real objects. The process dies when one is written, before its record is."""

    async def put(self, key: str, content: Content) -> None:
        await super().put(key, content)
        die()


async def cut_off() -> AsyncIterator[bytes]:
    for _ in range(20):
        yield bytes(MB)
    die()


async def main(folder: Path, moment: str) -> None:
    async with opened(folder) as place:
        own = place.of()
        await own.create("a", "text/plain", b"old")
        kept = await find(own, "a")
        if moment != "within bytes":
            place.stored.objects = DiesAfterBytes("", place.folder)
        if moment == "within bytes":
            await own.create("b", "text/plain", cut_off())
        elif moment == "create":
            await own.create("b", "text/plain", b"new")
        elif moment == "replace":
            await own.replace(kept, "text/csv", b"new")
        else:
            await own.append(kept, b"new")


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2]))
