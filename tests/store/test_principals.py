"""Everything of one principal, exported or purged, while another's stays."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from functools import partial
from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest

from paddock import Config
from paddock.config import ServerConfig
from paddock.errors import RequestError
from paddock.model.artifacts import Owner
from paddock.server.http import make_app
from paddock.server.mcp import make_server
from paddock.server.services import Services
from paddock.store.artifacts import StoredArtifacts
from paddock.store.database import Store
from paddock.store.principals import PrincipalData
from tests.cli.command import Ended, paddock
from tests.rest.conftest import price
from tests.server.conftest import at_a_port
from tests.server.shared_services import stored_in

MARK = "marked-by-ada"
LARGE = MARK * 2000  # larger than a page of the database


@pytest.fixture
def config(tmp_path: Path) -> Config:
    return stored_in(tmp_path, Config(server=ServerConfig(require_token=True)))


class Server:
    """A server, its address, and the tokens of two principals."""

    def __init__(self, services: Services, url: str, tokens: dict[str, str]) -> None:
        self.services, self.url, self.tokens = services, url, tokens

    async def send(self, method: str, path: str, who: str = "ada", **options: Any) -> Any:
        headers = {"Authorization": f"Bearer {self.tokens[who]}"}
        async with httpx.AsyncClient(base_url=f"{self.url}/v1", headers=headers, timeout=60) as http:
            response = await http.request(method, path, **options)
            assert response.status_code < 400, response.text
            return response.json()


@pytest.fixture
async def server(config: Config) -> AsyncIterator[Server]:
    async with Services(config, tools=[price]) as services, at_a_port(make_app(make_server(services), services)) as url:
        tokens = {name: (await services.store.tokens.add(name))[1] for name in ("ada", "bob")}
        yield Server(services, url.removesuffix("/mcp"), tokens)


async def fill(server: Server, who: str, mark: str) -> None:
    code = f"await price({{'item': 'lamp'}})\nawait create_artifact('{mark}.txt', {mark!r})\n{mark!r}"
    run = await server.send("POST", "/runs", who, json={"code": code})
    assert run["verdict"] == "ok", run
    await server.send("POST", "/tools/price/call", who, json={"arguments": {"item": mark}})
    await server.send("PUT", "/definitions/sums", who, json={"description": f"Adds {mark}.", "code": "1 + 1"})
    await server.send("PUT", "/context", who, json={"values": {}, "connections": {}})


def data(store: Store, config: Config, who: str) -> PrincipalData:
    return PrincipalData(store, StoredArtifacts.from_config(config, store), who)


def lines(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text().splitlines()]


async def test_an_export_has_everything_of_one_principal_and_nothing_of_another(
    server: Server, config: Config, tmp_path: Path
) -> None:
    await fill(server, "ada", MARK)
    await fill(server, "bob", "marked-by-bob")
    folder = tmp_path / "export"
    async with Store.from_config(config) as store:
        counts = await data(store, config, "ada").export(folder)
    assert counts == {"runs": 1, "artifacts": 1, "calls": 1, "definitions": 1, "sessions": 1, "tokens": 1}
    (run,) = lines(folder / "runs.jsonl")
    assert (run["result"]["output"], run["result"]["calls"][0]["tool"]) == (MARK, "price")
    (artifact,) = lines(folder / "artifacts.jsonl")
    assert (folder / "artifacts" / artifact["id"]).read_text() == MARK
    assert MARK in lines(folder / "calls.jsonl")[0]["arguments_json"]
    everything = b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())
    assert b"bob" not in everything
    assert server.tokens["ada"].encode() not in everything
    assert "digest" not in lines(folder / "tokens.jsonl")[0]
    assert folder.stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in folder.glob("*.jsonl")} == {0o600}
    async with Store.from_config(config) as store:
        with pytest.raises(RequestError, match="is not empty"):
            await data(store, config, "ada").export(folder)


async def test_a_purge_ends_runs_in_progress_and_leaves_nothing_of_one_principal_and_everything_of_another(
    server: Server, config: Config
) -> None:
    await fill(server, "ada", MARK)
    await fill(server, "bob", "marked-by-bob")
    detached = await server.send("POST", "/runs", json={"code": "import time; time.sleep(600)", "detach": True})
    run = server.services.runs[detached["run_id"]]
    async with Store.from_config(config) as store:
        removed = await data(store, config, "ada").purge()
        assert removed == {"calls": 1, "runs": 2, "artifacts": 1, "definitions": 1, "sessions": 1, "tokens": 1}
        async with asyncio.timeout(30):
            await run.has_ended.wait()
        assert set((await data(store, config, "ada").counts()).values()) == {0}
        assert set((await data(store, config, "bob").counts()).values()) == {1}
        (bobs,) = (await server.services.artifacts.of(Owner("bob")).list()).artifacts
        found = await server.services.artifacts.of(Owner("bob")).read(bobs.artifact.id)
        assert found is not None
        assert found[1] == b"marked-by-bob"
    async with asyncio.timeout(30):
        while await _status(server) != 401:
            await asyncio.sleep(0.05)


async def test_no_byte_of_what_was_purged_is_left_in_the_files_of_a_server_that_goes_on(
    server: Server, config: Config, tmp_path: Path
) -> None:
    await fill(server, "ada", LARGE[:100])
    await server.send("POST", "/runs", json={"code": f"print({LARGE!r})"})
    places = {"PADDOCK_STORE__PATH": config.store.path, "PADDOCK_ARTIFACTS__URL": config.artifacts.url}
    command: Callable[..., Ended] = partial(paddock, "principals", "purge", "ada", **places)  # type: ignore[arg-type]
    shown = await asyncio.to_thread(command)
    assert (shown.status, "would remove 1 calls, 2 runs" in shown.out) == (0, True)
    purged = await asyncio.to_thread(command, "--yes")
    assert (purged.status, purged.err) == (0, "")
    left = [path for path in tmp_path.rglob("*") if path.is_file() and MARK.encode() in path.read_bytes()]
    assert left == []
    again = await asyncio.to_thread(command, "--yes")
    assert (again.status, "nothing is stored for 'ada'" in again.err) == (2, True)
    events = [each["event"] for each in lines(tmp_path / "audit.jsonl")]
    assert events.count("principal.purged") == 1


async def test_a_name_under_which_something_is_still_stored_gets_no_token(tmp_path: Path) -> None:
    async with Store(tmp_path / "paddock.db") as store:
        await store.tokens.add("ada")
        await store.sessions.save("ada", "s_1", {})
        await store.tokens.revoke("ada")
        await store.tokens.add("ada")  # the same holder
        purging = data(store, stored_in(tmp_path), "ada")
        await purging.purge()
        await store.sessions.save("ada", "s_2", {})  # by a request that was in progress
        with pytest.raises(RequestError, match="principals purge ada"):
            await store.tokens.add("ada")
        await purging.purge()
        await store.tokens.add("ada")


async def _status(server: Server) -> int:
    headers = {"Authorization": f"Bearer {server.tokens['ada']}"}
    async with httpx.AsyncClient(headers=headers) as http:
        return (await http.get(f"{server.url}/v1/health")).status_code
