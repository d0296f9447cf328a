"""`python` and `run_code` with a network, through a real MCP client."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from tests.network.conftest import Internet
from tests.network.internet import GOOD, METADATA

ERAS = ("legacy", "auto")


@asynccontextmanager
async def served(internet: Internet, tmp_path: Path, era: str, network: str = "") -> AsyncIterator[Any]:
    """A client of `paddock mcp` on the machine of the internet."""
    settings = str(internet.settings("served", network))
    command, *arguments = internet.command(
        sys.executable, "-m", "paddock", "mcp", "--config", settings, "--definitions", "python,run_code"
    )
    env = {**os.environ, "PADDOCK_STORE__PATH": str(tmp_path / "store.db")}
    async with Client(
        stdio_client(StdioServerParameters(command=command, args=arguments, env=env)), mode=era
    ) as client:
        yield client


@pytest.mark.parametrize("era", ERAS)
async def test_python_fetches_with_requests_and_aiohttp(internet: Internet, tmp_path: Path, era: str) -> None:
    requests = "import requests\nprint(requests.get('http://good.com/', timeout=10).text)"
    aiohttp = """
import aiohttp, asyncio
async def main():
    async with aiohttp.ClientSession() as session:
        async with session.get('http://www.good.com/') as answer:
            print(await answer.text())
asyncio.run(main())
"""
    denied = f"import requests\nrequests.get('http://{METADATA}/latest', timeout=10)"
    async with served(internet, tmp_path, era) as client:
        [described] = [tool for tool in (await client.list_tools()).tools if tool.name == "python"]
        texts = [
            (await client.call_tool("python", {"code": code})).content[0].text for code in (requests, aiohttp, denied)
        ]
    assert "Network: public hosts." in described.description
    assert texts[:2] == [f"good.com at {GOOD}\n", f"www.good.com at {GOOD}\n"]
    assert f"The network policy denied {METADATA}:80: it is a private address" in texts[2]


async def test_python_has_what_the_operator_allows_and_says_so(internet: Internet, tmp_path: Path) -> None:
    code = "import requests\nfor host in ('good.com', 'evil.com'):\n    print(requests.get(f'http://{host}/').text)"
    async with served(internet, tmp_path, "auto", 'allow = ["good.com"]') as client:
        [described] = [tool for tool in (await client.list_tools()).tools if tool.name == "python"]
        text = (await client.call_tool("python", {"code": code})).content[0].text
    assert "Network: good.com." in described.description
    assert text.startswith(f"good.com at {GOOD}\n")
    assert "The network policy denied evil.com: only the operator can allow it (network.allow)." in text
    async with served(internet, tmp_path, "auto", 'allow = "none"') as client:
        [described] = [tool for tool in (await client.list_tools()).tools if tool.name == "python"]
        text = (await client.call_tool("python", {"code": code})).content[0].text
    assert "No network." in described.description
    assert "Programs have no network" in text


async def test_run_code_asks_for_hosts_within_what_the_operator_allows(internet: Internet, tmp_path: Path) -> None:
    code = "import requests\nrequests.get('http://good.com/', timeout=10).text"
    async with served(internet, tmp_path, "auto") as client:
        refused = await client.call_tool("run_code", {"code": code, "network": ["good.com"]})
        [described] = [tool for tool in (await client.list_tools()).tools if tool.name == "run_code"]
        assert "network" not in described.input_schema["properties"]
        assert "No network." in described.description
    assert refused.is_error
    async with served(internet, tmp_path, "auto", 'allow = ["*.com"]') as client:
        granted = await client.call_tool("run_code", {"code": code, "network": ["good.com"]})
        beyond = await client.call_tool("run_code", {"code": code, "network": "public"})
        hint = await client.call_tool("run_code", {"code": code, "network": ["www.good.com"]})
    result = json.loads(granted.content[0].text) if granted.structured_content is None else granted.structured_content
    assert result["output"] == f"good.com at {GOOD}"
    assert "ask the operator for public" in beyond.content[0].text
    assert 'pass network=[\\"good.com\\"] to allow it' in hint.content[0].text
