"""The configuration that docs/context.md shows: it is one, and has the tools that the page names."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from mcp import Client

from paddock import Config
from paddock.server.mcp import make_server
from tests.docs.pages import ROOT
from tests.server.shared_services import open_services


async def test_the_example_offers_the_tools_that_the_page_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ADS_TOKEN", "tok-production")
    monkeypatch.setenv("ADS_SANDBOX_TOKEN", "tok-sandbox")
    page = (ROOT / "docs" / "context.md").read_text()
    file = tmp_path / "paddock.toml"
    file.write_text(page.partition("```toml\n")[2].partition("```")[0])
    async with open_services(Config.load(file, {})) as services, Client(make_server(services)) as client:
        offered = {tool.name: list(tool.input_schema["properties"]) for tool in (await client.list_tools()).tools}
    said = page.partition("With that, ")[2].partition(" stand beside")[0]
    named = dict(re.findall(r"`(\w+)\(([^)]*)\)`", said))
    assert named.keys() == {name for name in offered if name.startswith(("set_", "select_", "get_session"))}
    assert all(names in ("…", "", *offered[name]) for name, names in named.items())
