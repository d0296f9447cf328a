"""What README and docs/clients.md tell clients starts a server that runs code, as the pages say it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

from paddock.cli.serve import PORT
from tests.docs.forked import path_with_paddock
from tests.docs.pages import ROOT, blocks

CLIENTS = ("Claude Desktop", "Claude Code", "Cursor", "VS Code")
PAGE = ROOT / "docs" / "clients.md"
BIN = Path(sys.executable).parent


def entries() -> list[dict[str, Any]]:
    """Each entry of a server that the page shows."""
    shown = [json.loads(block.text) for block in blocks(PAGE) if block.language == "json"]
    return [entry for each in shown for entry in (each.get("mcpServers") or each["servers"]).values()]


STARTED = [entry for entry in entries() if "command" in entry]
REACHED = [entry for entry in entries() if "url" in entry and "headers" not in entry]
REMOTE = [entry for entry in entries() if "headers" in entry]


def settings(folder: Path, path: str) -> dict[str, str]:
    """What a server is started with, so that it is this tree's and leaves nothing behind."""
    own = {"PADDOCK_STORE__PATH": str(folder / "paddock.db"), "PADDOCK_ARTIFACTS__URL": f"file://{folder}/objects"}
    return os.environ | own | {"PATH": path}


def test_the_readme_has_the_first_block_of_the_page() -> None:
    assert [block.text for block in blocks(ROOT / "README.md") if block.language == "json"] == [blocks(PAGE)[0].text]


def test_every_client_has_a_row_and_its_block() -> None:
    text = PAGE.read_text()
    assert [client for client in CLIENTS if f"\n| {client} | `" not in text] == []
    assert (len(STARTED), len(REACHED), len(REMOTE)) == (2, 1, 1)


@pytest.mark.parametrize("entry", STARTED, ids=lambda entry: entry.get("type", "plain"))
@pytest.mark.parametrize("era", ["2026-07-28", "legacy"])
async def test_the_command_starts_a_server_that_runs_code(entry: dict[str, Any], era: str, tmp_path: Path) -> None:
    env = settings(tmp_path, path_with_paddock(tmp_path))
    command = StdioServerParameters(command=entry["command"], args=entry["args"], env=env)
    async with Client(stdio_client(command), mode=era) as client:
        result = await client.call_tool("run_code", {"code": "1 + 1"})
    assert (result.is_error, result.structured_content["output"]) == (False, 2)


def test_the_command_that_uvx_runs_is_paddock_mcp() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert [entry["args"] for entry in STARTED] == [[project["name"]]] * 2
    module, _, function = project["scripts"][project["name"]].partition(":")
    code = f"import sys; sys.argv = ['paddock-mcp', '--help']; from {module} import {function} as entry; entry()"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout.split(" [")[0].strip()) == (0, "Usage: paddock mcp")


@pytest.mark.parametrize("entry", REACHED, ids=lambda entry: entry["url"])
async def test_the_address_is_where_serve_listens(entry: dict[str, Any], tmp_path: Path) -> None:
    command = ["paddock", "serve", "--port", "0"]  # its own port may be taken
    env = settings(tmp_path, f"{BIN}{os.pathsep}{os.environ['PATH']}")  # the command that is installed, not a fork
    with subprocess.Popen(command, text=True, stdout=subprocess.PIPE, env=env) as process:
        assert process.stdout is not None
        try:
            address = process.stdout.readline().split(" at ")[1].split(". ")[0]
            port = address.split(":")[2].split("/")[0]
            assert address.replace(port, str(PORT)) == entry["url"]
            async with Client(address) as client:
                assert (await client.call_tool("run_code", {"code": "1 + 1"})).structured_content["output"] == 2
        finally:
            process.kill()


async def test_a_client_elsewhere_sends_its_token(tmp_path: Path) -> None:
    env = settings(tmp_path, f"{BIN}{os.pathsep}{os.environ['PATH']}")
    add = ["paddock", "tokens", "add", "ann"]
    token = subprocess.run(add, text=True, capture_output=True, check=True, env=env).stdout.strip()
    headers = {name: value.replace("pdk_…", token) for name, value in REMOTE[0]["headers"].items()}
    command = ["paddock", "serve", "--host", "0.0.0.0", "--port", "0"]  # noqa: S104
    with subprocess.Popen(command, text=True, stdout=subprocess.PIPE, env=env) as process:
        assert process.stdout is not None
        try:
            address = process.stdout.readline().split(" at ")[1].split(". ")[0].replace("0.0.0.0", "127.0.0.1")  # noqa: S104
            async with (
                httpx.AsyncClient(headers=headers) as http,
                Client(streamable_http_client(address, http_client=http)) as client,
            ):
                assert (await client.call_tool("run_code", {"code": "1 + 1"})).structured_content["output"] == 2
        finally:
            process.kill()
