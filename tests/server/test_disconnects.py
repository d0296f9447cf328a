"""A client that dies in the middle of a call ends its run, in both eras."""

from __future__ import annotations

import asyncio
import subprocess
import sys

import pytest

from tests.server.conftest import ERAS, served
from tests.server.kept import opened

CLIENT = """
import asyncio, sys
from mcp import Client

async def main():
    async with Client(sys.argv[1], mode=sys.argv[2]) as client:
        await client.call_tool("run_code", {"code": "await hang()", "timeout": 600})

asyncio.run(main())
"""


@pytest.mark.parametrize("era", ERAS)
async def test_a_client_that_dies_ends_its_run(era: str) -> None:
    began, ended = asyncio.Event(), asyncio.Event()

    async def hang() -> None:
        began.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    async with opened(tools=[hang]) as services, served(services) as address:
        with subprocess.Popen([sys.executable, "-c", CLIENT, address, era]) as client:
            await asyncio.wait_for(began.wait(), 60)
            client.kill()
        await asyncio.wait_for(ended.wait(), 60)
        (run,) = await services.store.runs.list("local")
        while run.verdict is None:  # it is written down off the path
            (run,) = await services.store.runs.list("local")
    assert run.verdict == "cancelled"
