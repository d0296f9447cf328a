"""A separate program that creates and uses an artifact of 1 GB, and reports the memory that each step took."""

from __future__ import annotations

import asyncio
import json
import resource
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from paddock.store.artifact_text import Query, TextReader
from tests.store.artifact_places import MB, find, opened

LINE = "a line of text with an é, a 漢 and a 🙂 in it\r\n".encode()
BLOCK = LINE * (MB // len(LINE))
PLAIN = (b"a line that is quickly read, " * 4 + b"\n") * (MB // 117)
LONG_LINE_MB = 100
NEEDLE = b"the needle in it\n"


async def stream(megabytes: int) -> AsyncIterator[bytes]:
    """Many lines, one line of 100 MB, a few lines, the needle, and a line without an end."""
    for number in range(megabytes - LONG_LINE_MB - 10):
        yield PLAIN if number % 10 else BLOCK
    for _ in range(LONG_LINE_MB):
        yield b"x" * MB
    yield b"\n"
    for _ in range(10):
        yield BLOCK
    yield NEEDLE + b"the end"


def peak_mb() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


async def main(folder: Path, megabytes: int) -> dict[str, Any]:
    said: dict[str, Any] = {}
    async with opened(folder, artifact_bytes=0) as place:
        # How long the machine takes is not what is asked here.
        place.stored.texts = TextReader(search_seconds=3600)
        own = place.of()
        await own.create("warm", "text/plain", b"x")
        kept = await find(own, "warm")
        await own.search(kept, Query("x"))
        said["before_mb"] = peak_mb()
        made = await own.create("large.txt", "text/plain", stream(megabytes))
        kept = await find(own, made.id)
        said["size"], said["created_mb"] = made.size, peak_mb()
        found = await own.search(kept, Query("the needle", is_regex=True))
        near = Query("the NEEDLE", context_lines=1, offset=found.matches[0].offset - 50 * MB)
        around = (await own.search(kept, near)).matches
        said["found"] = [match.text for match in found.matches]
        said["matches"] = [[match.before, match.text, match.after] for match in around]
        said["offset"], said["line"], said["searched_mb"] = found.matches[0].offset, found.matches[0].line, peak_mb()
        in_the_long_line = await own.search(kept, Query("x$", is_regex=True, offset=found.matches[0].offset - 101 * MB))
        said["long"] = [len(match.text) for match in in_the_long_line.matches]
        said["regex_mb"] = peak_mb()
        page = await own.page(kept, "characters", found.matches[0].offset, 100)
        said["page"] = [page.text, page.is_last]
        page = await own.page(kept, "lines", found.matches[0].line - 1, 10)
        said["lines"] = [page.text, page.is_last, page.total_lines]
        said["paged_mb"] = peak_mb()
        await own.append(kept, stream(LONG_LINE_MB + 10))
        kept = await find(own, made.id)
        await own.append(kept, b"!")
        kept = await find(own, made.id)
        said["appended"], said["appended_mb"] = kept.artifact.size, peak_mb()
        said["read"] = sum([len(piece) async for piece in own.stream(kept)])
        said["read_mb"] = peak_mb()
    return said


if __name__ == "__main__":
    print(json.dumps(asyncio.run(main(Path(sys.argv[1]), int(sys.argv[2])))))
