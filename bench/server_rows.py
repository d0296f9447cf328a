"""Rows about the MCP server: `run_code` and `execute` through a client, against tools that do nothing, and CodeMode.

In memory, over stdio and over HTTP; all sides are reached the same way.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bench.runner import Act, Open, Pair, Row, Target
from bench.servers import add, definitions, no_op
from bench.tool_rows import ADD, CALLS, CODE_MODE, IN_A_ROW, SUM_TEXT, one_by_one

RETURN = "return 1"
ROOT = Path(__file__).parents[1]
HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}},
}


def _environ(folder: str) -> dict[str, str]:
    """For a server that is a process: a store of its own, and the code that is measured."""
    path = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
    stored = {"PADDOCK_STORE__PATH": f"{folder}/paddock.db", "PADDOCK_ARTIFACTS__URL": f"file://{folder}/objects"}
    return {**os.environ, **stored, "PYTHONPATH": path}


def _command(kind: str, way: str) -> list[str]:
    if kind == "code-mode":
        from bench.code_mode import command

        return command(way)
    return [sys.executable, "-m", "bench.servers", kind, way]


@contextmanager
def _listening(kind: str, folder: str) -> Iterator[str]:
    """Where a server of that kind listens, as long as the block lasts."""
    command, environ = _command(kind, "http"), _environ(folder)
    with subprocess.Popen(command, env=environ, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.terminate()


@asynccontextmanager
async def _client(kind: str, way: str) -> AsyncIterator[Any]:
    """A client of a server of that kind."""
    import mcp
    from mcp.client.stdio import StdioServerParameters, stdio_client

    async with AsyncExitStack() as opened:
        folder = opened.enter_context(TemporaryDirectory())
        if way == "memory":
            yield await opened.enter_async_context(
                mcp.Client(await opened.enter_async_context(_in_memory(kind, folder)))
            )
        elif way == "stdio":
            program, *arguments = _command(kind, way)
            command = StdioServerParameters(command=program, args=arguments, env=_environ(folder))
            yield await opened.enter_async_context(mcp.Client(stdio_client(command)))
        else:
            yield await opened.enter_async_context(mcp.Client(opened.enter_context(_listening(kind, folder))))


@asynccontextmanager
async def _in_memory(kind: str, folder: str) -> AsyncIterator[Any]:
    if kind == "no-op":
        yield no_op()
        return
    from paddock import Config
    from paddock.config import ArtifactsConfig, StoreConfig
    from paddock.server.mcp import make_server
    from paddock.server.services import Services

    store, artifacts = StoreConfig(path=f"{folder}/paddock.db"), ArtifactsConfig(url=f"file://{folder}/objects")
    async with Services(Config(store=store, artifacts=artifacts), tools=[add]) as services:
        yield make_server(services, definitions())


def _asked(client: Any, tool: str, code: str, text: str) -> Act:
    """A call of a tool that answers with what `text` is."""

    async def ask() -> None:
        answer = await client.call_tool(tool, {"code": code})
        got = answer.structured_content["output"] if tool == "run_code" else json.loads(answer.content[0].text)
        assert got == json.loads(text), answer

    return ask


def _against_no_op(tool: str, way: str) -> Open:
    @asynccontextmanager
    async def opened() -> AsyncIterator[Pair]:
        async with _client("paddock", way) as ours, _client("no-op", way) as theirs:
            yield Pair(_asked(ours, tool, RETURN, "1"), _asked(theirs, tool, RETURN, "1"))

    return opened


def _against_code_mode(tool: str, way: str, code: str, text: str) -> Open:
    @asynccontextmanager
    async def opened() -> AsyncIterator[Pair]:
        from bench.code_mode import code_mode

        async with _client("paddock", way) as ours:
            if way == "memory":
                async with code_mode(code, text, way="client") as theirs:
                    yield Pair(_asked(ours, tool, code, text), theirs)
            else:
                async with _client("code-mode", way) as client:
                    yield Pair(_asked(ours, tool, code, text), _asked(client, "execute", code, text))

    return opened


def _first_answer(command: list[str], folder: str) -> Act:
    """A server over stdio, from its start until it has answered that it is there."""
    environ, said = _environ(folder), (json.dumps(HELLO) + "\n").encode()

    async def run() -> None:
        with subprocess.Popen(command, env=environ, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(said)
            process.stdin.flush()
            assert b"serverInfo" in process.stdout.readline()
            process.kill()

    return run


@asynccontextmanager
async def _starting() -> AsyncIterator[Pair]:
    with TemporaryDirectory() as folder:
        ours = [sys.executable, "-m", "paddock", "mcp"]
        yield Pair(_first_answer(ours, folder), _first_answer(_command("bare", "stdio"), folder))


def _rows(tool: str, way: str, words: str) -> Iterator[Row]:
    """Targets are for what Paddock itself takes: in memory, where no transport is measured with it."""
    is_bare, calls = way == "memory", one_by_one(ADD)
    no_op_target, code_mode_target, calls_target = (
        (Target.at_most(4), Target.faster_by(8), Target.faster_by(3)) if is_bare else (Target.none(),) * 3
    )
    name = f"server-{way}" if tool == "run_code" else f"server-{tool}-{way}"
    returning, calling = f"{tool}, {RETURN}, {words}", f"{tool}, {CALLS} calls, {words}"
    idle = _against_no_op(tool, way)
    yield Row(name, returning, "a tool that does nothing", no_op_target, idle, 200 if is_bare else 100)
    one = _against_code_mode(tool, way, RETURN, "1")
    yield Row(f"{name}-code-mode", returning, CODE_MODE, code_mode_target, one, 20, *IN_A_ROW)
    many = _against_code_mode(tool, way, calls, SUM_TEXT)
    yield Row(f"{name}-calls", calling, CODE_MODE, calls_target, many, 20, 1, 1, IN_A_ROW[2])


WAYS = {"memory": "in memory", "stdio": "over stdio", "http": "over HTTP"}
SERVER_ROWS = (
    *(row for tool in ("run_code", "execute") for way, words in WAYS.items() for row in _rows(tool, way, words)),
    Row(
        "server-start",
        "paddock mcp to its first answer",
        "a bare server of the SDK",
        Target.at_most(1.5),
        _starting,
        15,
    ),
)
