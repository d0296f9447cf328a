"""The calls of docs/recipes.md through a real MCP client, on one connection."""

from __future__ import annotations

import json

from mcp import Client
from mcp_types import TextContent

from paddock.server.mcp import make_server
from tests.docs.pages import blocks
from tests.docs.test_reference_pages import DOCS
from tests.server.shared_services import open_services


async def test_every_call_over_mcp_gives_the_output_that_is_shown_below_it() -> None:
    calls = [block for block in blocks(DOCS / "recipes.md") if block.language == "json"]
    shown, given = [], []
    async with open_services() as services, Client(make_server(services)) as client:
        for block in calls:
            answer = await client.call_tool("run_code", json.loads(block.text))
            shown.append((block.line, json.loads(block.output or "")))
            given.append((block.line, (answer.structured_content or {}).get("output")))
            if "plot" in block.text:
                assert [content.type for content in answer.content if content.type == "image"] == ["image"]
        read = (await client.call_tool("read_artifact", {"ref": "notes.txt"})).content[0]
    assert given == shown
    assert isinstance(read, TextContent)
    assert "BUY LAMPS" in read.text
