"""MCP Inspector's command line, as a developer uses it: it lists and calls every tool.

Each call is a process of Node, and over stdio a server too, which takes its time: over HTTP every tool is called, over
stdio a few are, and each way is tried in another era.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from paddock.jail.environments import Built
from tests.forks import fork
from tests.tools.installed import InstalledClients, environment, installed_clients
from tests.tools.upstreams import shop

pytestmark = pytest.mark.thorough

__all__ = ["installed_clients"]  # the fixture

TOLD = 5  # Inspector's exit code for a tool that answers with an error
CODE = {"code": "1"}
CALLS: dict[str, dict[str, Any]] = {
    "run_code": {"code": "1 + 1"},
    "execute": CODE,
    "code_executor": CODE | {"language": "python"},
    "code_execution": CODE,
    "python": CODE,
    "code-execution_execute": CODE,
    "get_run": {},  # and the id of a run
    "cancel_run": {},
    "read_artifact": {"ref": "nothing.txt"},
    "write_artifact": {"filename": "a.txt", "content": "hello"},
    "list_artifacts": {},
    "search": {"query": "orders"},
    "get_schema": {"tools": ["shop.orders"]},
    "tags": {},
    "get_envelope_contract": {},
    "get_session_state": {},
    "attach_file": {"file_name": "a.txt", "content": "hello"},
    "detach_file": {"element_id": "nothing.txt"},
}
"""Every tool, with valid arguments."""
NOT_THERE = {"read_artifact", "detach_file"}
"""Tools that return an error here: each call of Inspector is a new client without runs and files."""


@pytest.fixture
def options(tmp_path: Path) -> list[str]:
    """Of a server that has every tool: all definitions, and tools of another server to be found."""
    config = tmp_path / "mcp.json"
    config.write_text(json.dumps({"mcpServers": {"shop": shop()}}))
    return ["--definitions", "all", "--mcp-config", str(config)]


async def test_inspector_lists_every_tool_over_stdio_in_older_eras_and_calls_some(
    options: list[str], installed_clients: InstalledClients, default_environment: Built, tmp_path: Path
) -> None:
    passed = [f"{name}={value}" for name, value in os.environ.items() if name.startswith(("PADDOCK_", "PYTHONPATH"))]
    command, *arguments = fork.command("-m", "paddock", "mcp", *options)
    target = [*(part for each in passed for part in ("-e", each)), command, "--", *arguments]
    some = {name: CALLS[name] for name in ("execute", "get_session_state")}
    await list_all_and_call(installed_clients, "legacy", target, tmp_path, some)


async def test_inspector_lists_and_calls_every_tool_over_http_in_the_newest_era(
    options: list[str], installed_clients: InstalledClients, default_environment: Built, tmp_path: Path
) -> None:
    with services(*options) as address:
        await list_all_and_call(installed_clients, "modern", [address], tmp_path, CALLS)


@contextmanager
def services(*options: str) -> Iterator[str]:
    """The URL of `paddock serve`."""
    command = fork.command("-m", "paddock", "serve", "--port", "0", *options)
    with subprocess.Popen(command, text=True, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().split(" at ")[1].split(". ")[0]
        finally:
            process.kill()


async def list_all_and_call(
    clients: InstalledClients, era: str, target: list[str], folder: Path, calls: dict[str, dict[str, Any]]
) -> None:
    at_once = asyncio.Semaphore(3)

    async def inspect(method: str, *options: str) -> tuple[int, dict[str, Any]]:
        command = [clients.inspector, "--cli", "--protocol-era", era, "--format", "json", "--connect-timeout", "0"]
        async with at_once:
            return await ended([*command, "--method", method, *options, *target], folder)

    status, listed = await inspect("tools/list", "--strict")  # fails if a client would refuse a schema
    assert status == 0
    assert {tool["name"] for tool in listed["tools"]} == CALLS.keys()

    async def call(name: str, arguments: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        return await inspect("tools/call", "--tool-name", name, "--tool-args-json", json.dumps(arguments))

    status, first = await call("run_code", CALLS["run_code"])
    assert (status, first["structuredContent"]["output"]) == (0, 2)
    of_run = {"run_id": first["structuredContent"]["run_id"]}
    rest = {name: arguments for name, arguments in calls.items() if name != "run_code"}
    calls = {name: of_run if name in ("get_run", "cancel_run") else arguments for name, arguments in rest.items()}
    answers = await asyncio.gather(*(call(name, arguments) for name, arguments in calls.items()))
    statuses = {name: status for name, (status, _) in zip(calls, answers, strict=True)}
    assert statuses == {name: TOLD if name in NOT_THERE else 0 for name in calls}
    assert [name for name, (_, answer) in zip(calls, answers, strict=True) if not answer["content"]] == []


async def ended(command: list[str], folder: Path) -> tuple[int, dict[str, Any]]:
    """The exit code, and the result that was printed. Whatever its user has set up for Inspector is not used."""
    own = {"MCP_CATALOG_PATH": str(folder / "catalog.json"), "MCP_CLIENT_CONFIG_PATH": str(folder / "client.json")}
    own |= {"NODE_COMPILE_CACHE": str(folder / "compiled")}  # so that the next call starts sooner
    process = await asyncio.create_subprocess_exec(
        *command, env=os.environ | environment() | own, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    try:
        out, err = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    assert out, err.decode()
    assert process.returncode is not None
    result: dict[str, Any] = json.loads(out)["result"]
    return process.returncode, result
