"""Runs scripts on the machine of the made-up internet: reads a JSON object a line, writes the result a line.

`python driver.py SETTINGS`: the settings are a JSON object of `network`, `jail` and other tables.
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

from paddock import Config, Paddock, PaddockError
from paddock.model.files import File


async def run(paddock: Paddock, request: dict[str, Any]) -> dict[str, Any]:
    options = request["options"]
    options["files"] = [File(name, text.encode()) for name, text in options.pop("attached", {}).items()]
    try:
        return (await paddock.run(request["code"], **options)).to_dict()
    except PaddockError as problem:
        return {"verdict": type(problem).__name__, "error": {"message": str(problem)}}


async def main(settings: str) -> None:
    reader = asyncio.StreamReader(limit=1 << 24)
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)

    async def answer(line: bytes) -> None:
        request = json.loads(line)
        print(json.dumps({"id": request["id"], "result": await run(paddock, request)}), flush=True)

    async with Paddock(Config.load(settings)) as paddock, asyncio.TaskGroup() as group:
        while line := await reader.readline():
            group.create_task(answer(line))


asyncio.run(main(sys.argv[1]))
