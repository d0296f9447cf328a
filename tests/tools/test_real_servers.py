"""Published MCP servers as upstreams. `test_named_servers.py` calls more of them, from scripts."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from paddock.model.tools import Tool
from paddock.tools.answers import answer
from paddock.tools.secrets import REDACTED
from paddock.tools.upstream import Upstream
from paddock.tools.upstream_errors import CallFailed
from tests.tools.installed import Installed, environment
from tests.tools.upstreams import Connect, one

IN_ONE_LOOP = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def everything(installed: Installed) -> AsyncIterator[Upstream]:
    env = environment() | {"API_TOKEN": "tok-93ab77c0d1"}
    upstream = Upstream(one(command=installed.everything, env=env))
    yield upstream
    await upstream.close()


async def keep(filename: str, content: bytes, mime_type: str) -> Mapping[str, Any]:
    return {"success": True, "filename": filename, "size": len(content), "mimeType": mime_type}


async def call(upstream: Upstream, name: str, **arguments: Any) -> Any:
    """What a script would get."""
    tool = next((tool for tool in await upstream.tools() if tool.name == name), Tool(upstream.name, name))
    try:
        return json.loads((await answer(await upstream.call(name, arguments), tool, keep)).json)
    except CallFailed as failure:
        return failure.envelope(tool.full_name)


@IN_ONE_LOOP
async def test_everything(everything: Upstream) -> None:
    assert await call(everything, "echo", message="hi") == {"result": "Echo: hi"}
    before, image, after = (await call(everything, "get-tiny-image"))["result"]
    assert (type(before), image["mimeType"], type(after)) == (str, "image/png", str)
    links = (await call(everything, "get-resource-links", count=2))["result"]
    assert [sorted(link) for link in links[1:]] == [["description", "mimeType", "name", "uri"]] * 2
    wrong = await call(everything, "get-sum", a="one")
    assert wrong["error_code"] == "INPUT_VALIDATION_FAILED"
    assert (await call(everything, "nope"))["error_code"] == "TOOL_NOT_FOUND"


@IN_ONE_LOOP
async def test_a_tool_that_shows_its_environment_does_not_show_a_credential(everything: Upstream) -> None:
    assert (await call(everything, "get-env"))["API_TOKEN"] == REDACTED


async def test_files(connect: Connect, installed: Installed, tmp_path: Path) -> None:
    upstream, file = connect(command=installed.filesystem, args=[str(tmp_path)], env=environment()), tmp_path / "a.txt"
    await call(upstream, "write_file", path=str(file), content="hello")
    assert file.read_text() == "hello"
    outside = await call(upstream, "read_text_file", path="/etc/passwd")
    assert (outside["error_code"], "Access denied" in outside["summary"]) == ("INTERNAL_ERROR", True)
    hints = {tool.name: tool.hints for tool in await upstream.tools()}
    assert (hints["read_text_file"].read_only, hints["write_file"].destructive) == (True, True)


@contextmanager
def everything_at(installed: Installed, kind: str, port: int) -> Iterator[None]:
    """The everything server over HTTP, until the block is left."""
    env = os.environ | environment() | {"PORT": str(port)}
    process = subprocess.Popen([installed.everything, kind], env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert process.stdout is not None
    while b"on port" not in (line := process.stdout.readline()):
        assert line, "it ended before it listened"
    try:
        yield
    finally:
        process.kill()
        process.communicate()


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


@pytest.mark.parametrize(("kind", "path"), [("streamableHttp", "/mcp"), ("sse", "/sse")])
async def test_a_server_of_the_older_protocol_over_http_that_is_restarted(
    connect: Connect, installed: Installed, kind: str, path: str
) -> None:
    port = free_port()
    upstream = connect(url=f"http://127.0.0.1:{port}{path}")
    with everything_at(installed, kind, port):
        assert await call(upstream, "echo", message="hi") == {"result": "Echo: hi"}
        assert upstream.health.protocol_version < "2026"
    with pytest.raises(CallFailed) as caught:
        await upstream.call("echo", {"message": "nobody is there"})
    assert (caught.value.code, caught.value.retryable) == ("UPSTREAM_NETWORK", True)
    with everything_at(installed, kind, port):
        while (failure := await failed(upstream)) is not None:  # it noticed, and the next call begins anew
            assert failure.retryable
            await asyncio.sleep(failure.meta.get("retry_after_seconds", 0))
        assert await call(upstream, "echo", message="hi") == {"result": "Echo: hi"}


async def failed(upstream: Upstream) -> CallFailed | None:
    """How a call fails; None where it does not."""
    try:
        await upstream.call("echo", {"message": "hi"})
    except CallFailed as failure:
        return failure
    return None
