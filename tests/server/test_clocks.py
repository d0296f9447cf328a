"""The clock of the machine is set while a server runs: durations are not measured with it, and only dates follow it."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest_asyncio

from paddock.store.database import Store
from tests.bare import bare
from tests.server import shifted_server
from tests.server.test_access import bearer, client_of
from tests.server.test_processes import address_of, begun

__all__ = ["bare"]
DAY = 86_400
JUMPS = (10 * DAY, -400 * DAY, 0)
SETTINGS = """
[store]
path = "{folder}/paddock.db"
[artifacts]
url = "file://{folder}/objects"
base_url = "{url}"
[server]
require_token = true
"""


class Shifted:
    """A server whose clock can be set, and clients with a token that lasts and with one that expires tomorrow."""

    def __init__(self, address: str, clock: Path, lasting: str, expiring: str) -> None:
        self.address, self._clock, self.lasting = address, clock, lasting
        self.http, self.other = (
            httpx.AsyncClient(base_url=address.removesuffix("/mcp"), headers=bearer(token), timeout=60)
            for token in (lasting, expiring)
        )

    def set_clock(self, seconds: float) -> None:
        new = self._clock.with_name("new")
        new.write_text(str(seconds))
        new.replace(self._clock)

    async def until_printed(self, run_id: str) -> None:
        async with asyncio.timeout(60):
            while not (await self.http.get(f"/v1/runs/{run_id}")).json()["stdout"]:
                await asyncio.sleep(0.05)

    async def run(self, code: str, **more: Any) -> Any:
        return (await self.http.post("/v1/runs", json={"code": code, **more})).json()


@pytest_asyncio.fixture
async def shifted(bare: str, tmp_path: Path) -> AsyncIterator[Shifted]:
    clock, settings = tmp_path / "clock", tmp_path / "paddock.toml"
    clock.write_text("0")
    settings.write_text(Path(bare).read_text() + SETTINGS.format(folder=tmp_path, url="http://localhost/v1/artifacts/"))
    async with Store(tmp_path / "paddock.db") as store:
        lasting = (await store.tokens.add("ann"))[1]
        expiring = (await store.tokens.add("ann", expires_at=time.time() + DAY))[1]
    command = [sys.executable, "-m", shifted_server.__name__, "serve", "--port", "0", "--config", str(settings)]
    with begun(command, env={**os.environ, shifted_server.VARIABLE: str(clock)}) as process:
        made = Shifted(address_of(process), clock, lasting, expiring)
        async with made.http, made.other:
            yield made


async def test_what_goes_on_goes_on_when_the_clock_is_set(shifted: Shifted) -> None:
    assert (await shifted.run("x = 0", session="kept"))["verdict"] == "ok"
    slow = "print('begun', flush=True)\nimport time\ntime.sleep(1)\n7"
    async with client_of(shifted.address, "legacy", headers=bearer(shifted.lasting)) as client:
        for number, seconds in enumerate(JUMPS, 1):
            run_id = (await shifted.run(slow, detach=True, limits={"wall_seconds": 30}))["run_id"]
            await shifted.until_printed(run_id)
            shifted.set_clock(seconds)
            stored = (await shifted.http.get(f"/v1/runs/{run_id}", params={"wait_seconds": 30})).json()
            usage = stored["result"]["usage"]
            assert (stored["verdict"], stored["result"]["output"], 1 <= usage["wall_seconds"] < 30) == ("ok", 7, True)
            again = await shifted.run("x += 1\nx", session="kept")
            assert (again["verdict"], again["output"]) == ("ok", number)
            assert (await client.call_tool("run_code", {"code": "1 + 1"})).structured_content["output"] == 2
            assert (await shifted.http.get("/readyz")).status_code == 200


async def test_what_has_a_date_follows_the_clock(shifted: Shifted) -> None:
    made = (await shifted.http.post("/v1/artifacts", files={"file": ("a.txt", b"hello")})).json()
    link = httpx.URL(made["url"])
    shown = []
    for seconds in JUMPS:
        shifted.set_clock(seconds)
        async with httpx.AsyncClient(base_url=shifted.http.base_url) as anybody:
            linked = await anybody.get(link.raw_path.decode())
        shown.append([(await shifted.other.get("/v1/runs")).status_code, linked.status_code])
    assert shown == [[401, 404], [200, 200], [200, 200]]
