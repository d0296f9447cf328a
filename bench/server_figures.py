"""Figures about the MCP server: what a model has to read before it does anything."""

from __future__ import annotations

import asyncio
import json
import sys
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.figures import Amount

UPSTREAM_TOOLS = (0, 100, 2000)
MOST_TOKENS = 1500


def listed_tokens() -> Amount:
    """The whole answer of tools/list, a token being four characters, whatever number of tools is upstream.

    A model reads less of it: names, descriptions and what is taken. Titles, annotations and what is given are for its
    client.
    """
    tokens = {count: asyncio.run(_tokens(count)) for count in UPSTREAM_TOOLS}
    each = ", ".join(f"{whole:.0f} with {count:,}, of which {read:.0f} read" for count, (read, whole) in tokens.items())
    words = f"tokens of tools/list ({each} by a model)"
    return Amount("tools-list", words, max(whole for _, whole in tokens.values()), MOST_TOKENS)


async def _tokens(count: int) -> tuple[float, float]:
    """Of what a model reads, and of the whole answer."""
    import mcp

    from paddock import Config
    from paddock.server.mcp import make_server
    from paddock.server.services import Services

    upstream = {"command": sys.executable, "args": [str(Path(__file__).with_name("many_tools.py")), str(count)]}
    with TemporaryDirectory() as folder:
        config = replace(Config(), data_directory=folder, upstreams={"many": upstream} if count else {})
        async with Services(config) as services, mcp.Client(make_server(services)) as client:
            if count:
                assert len(await services.paddock.tools()) == count
            listed = await client.list_tools()
    read = [
        {"name": each.name, "description": each.description, "inputSchema": each.input_schema} for each in listed.tools
    ]
    texts = json.dumps(read, ensure_ascii=False), listed.model_dump_json(by_alias=True, exclude_none=True)
    return len(texts[0]) / 4, len(texts[1]) / 4
