"""Signed links to artifacts: whoever has one reads that artifact, and nothing else, until it expires."""

from __future__ import annotations

import os
import stat
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2 as httpx
import pytest
import pytest_asyncio
from fastapi import Request

from paddock.config import ArtifactsConfig
from paddock.errors import StoreError
from paddock.model.artifacts import Artifact, Owner
from paddock.server.rest.artifacts import _download
from paddock.store.artifact_links import DAY_SECONDS, ArtifactLinks
from tests.rest.conftest import REQUIRED, Rest, serve_rest

pytestmark = pytest.mark.asyncio(loop_scope="module")
BASE = "https://paddock.example/v1/artifacts/"
ANN, BOB = Owner("ann"), Owner("bob")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def rest(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Rest]:
    """A server that serves nobody without a token."""
    data = str(tmp_path_factory.mktemp("data"))
    config = replace(REQUIRED, data_directory=data, artifacts=ArtifactsConfig(base_url=BASE))
    async with serve_rest(config) as made:
        yield made


async def created(rest: Rest, content: bytes = b"<script>x</script>", kind: str = "text/html") -> Artifact:
    return await rest.services.artifacts.of(ANN).create("page.html", kind, content)


async def fetched(rest: Rest, artifact: Artifact, **headers: str) -> httpx.Response:
    address = urlsplit(artifact.url)
    return await rest.http.get(f"{rest.url}{address.path}?{address.query}", headers=headers)


async def test_a_link_reads_its_artifact_without_a_token_and_a_browser_runs_nothing(rest: Rest) -> None:
    artifact = await created(rest)
    assert artifact.url.startswith(f"{BASE}{artifact.id}?until=")
    answer = await fetched(rest, artifact)
    assert (answer.status_code, answer.content) == (200, b"<script>x</script>")
    assert answer.headers["content-disposition"] == "attachment; filename*=UTF-8''page.html"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["content-security-policy"] == "sandbox; default-src 'none'"
    part = await fetched(rest, artifact, Range="bytes=1-6")
    assert (part.status_code, part.content) == (206, b"script")


@pytest.mark.parametrize(
    "change",
    [
        lambda path, query: (path, f"until={int(query['until']) + 1}&signature={query['signature']}"),
        lambda path, query: (path, f"until={query['until']}&signature={'0' * 64}"),
        lambda path, query: (path, f"until={query['until']}&signature="),
        lambda path, query: (path, f"signature={query['signature']}"),
        lambda path, query: (f"{path[:-1]}A", f"until={query['until']}&signature={query['signature']}"),
    ],
)
async def test_a_changed_link_finds_nothing(rest: Rest, change: object) -> None:
    address = urlsplit((await created(rest)).url)
    query = {name: values[0] for name, values in parse_qs(address.query).items()}
    path, changed = change(address.path, query)  # type: ignore[operator]
    assert (await rest.http.get(f"{rest.url}{path}?{changed}")).status_code == 404


@pytest.mark.parametrize(
    ("method", "tail"), [("DELETE", ""), ("POST", ""), ("GET", "/content"), ("GET", "/../../runs"), ("HEAD", "")]
)
async def test_a_link_is_for_nothing_else(rest: Rest, method: str, tail: str) -> None:
    address = urlsplit((await created(rest)).url)
    answer = await rest.http.request(method, f"{rest.url}{address.path}{tail}?{address.query}")
    assert answer.status_code == 401


async def test_a_link_ends_with_its_artifact(rest: Rest) -> None:
    artifact = await created(rest)
    scope = rest.services.artifacts.of(ANN)
    found = await scope.find(artifact.url)
    assert found is not None
    await scope.remove(found)
    assert (await fetched(rest, artifact)).status_code == 404


async def test_another_principal_cannot_use_a_link_as_a_reference(rest: Rest) -> None:
    artifact = await created(rest)
    assert await rest.services.artifacts.of(BOB).find(artifact.url) is None


async def test_a_link_lasts_a_week_and_stays_the_same_for_a_day(tmp_path: Path) -> None:
    links, now = ArtifactLinks(tmp_path / "key"), 20_000.25 * DAY_SECONDS
    query = {name: values[0] for name, values in parse_qs(links.query("ann", "a_1", now)).items()}
    until, signature = int(query["until"]), query["signature"]
    assert links.query("ann", "a_1", now + DAY_SECONDS / 2) == links.query("ann", "a_1", now)
    later = now + 7 * DAY_SECONDS
    assert [links.is_valid("ann", "a_1", until, signature, at) for at in (now, later, later + DAY_SECONDS)] == [
        *(True, True, False),
    ]
    assert not links.is_valid("bob", "a_1", until, signature, now)
    assert not ArtifactLinks(tmp_path / "other").is_valid("ann", "a_1", until, signature, now)
    assert ArtifactLinks(tmp_path / "key").is_valid("ann", "a_1", until, signature, now)
    assert stat.S_IMODE((tmp_path / "key").stat().st_mode) == 0o600


async def test_a_pipe_in_place_of_the_key_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "key")
    with pytest.raises(StoreError, match="does not have 32 bytes"):
        ArtifactLinks(tmp_path / "key").query("ann", "a_1", 0)


async def test_a_download_holds_no_piece_while_it_waits_for_its_client() -> None:
    dropped: list[int] = []

    class Piece(bytes):
        def __del__(self) -> None:
            dropped.append(len(self))

    async def stream(*_: object) -> AsyncIterator[bytes]:
        for size in (3, 4, 5):
            yield Piece(size)

    artifact = Artifact("a_1", "a.bin", "application/octet-stream", 12, "paddock://artifacts/a_1")
    scope: Any = SimpleNamespace(stream=stream)
    found: Any = SimpleNamespace(artifact=artifact)
    response: Any = await _download(Request({"type": "http", "headers": []}), scope, found)
    # uvicorn sends nothing, not even an empty piece, before the client has read enough.
    assert [list(dropped) async for piece in response.body_iterator if not piece] == [[3], [3, 4], [3, 4, 5]]
