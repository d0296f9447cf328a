"""Tools listed and called through Paddock without a script."""

from __future__ import annotations

import asyncio
import json
import math
from pathlib import Path
from typing import Any

import pytest

from paddock import BadInput, Paddock, Progress, RequestError, UnknownLanguage, UnknownTool
from paddock.model.journal import Outcome
from tests.journals import MemoryJournal
from tests.tools.upstreams import hostile, plain


def double(number: int) -> int:
    """Twice as much."""
    return 2 * number


def configured(folder: Path, **servers: object) -> Path:
    path = folder / "mcp.json"
    path.write_text(json.dumps({"mcpServers": servers}))
    return path


async def test_a_call_is_journalled_and_tells_its_progress(tmp_path: Path) -> None:
    concluded: list[str] = []

    class Recording(MemoryJournal):
        async def conclude(self, outcome: Outcome) -> None:
            concluded.append(outcome.answer_json)
            await super().conclude(outcome)

    journal, told = Recording(), list[Progress]()
    async with Paddock(mcp_config=configured(tmp_path, it=plain()), journal=journal) as paddock:
        answer = await paddock.call_tool("it.count", {"upto": 2}, progress=told.append)
    assert (answer.failed, answer.value) == (False, {"result": "counted"})
    assert told == [Progress(1, 2, "step 1"), Progress(2, 2, "step 2")]
    assert concluded == ['{"result": "counted"}']


async def test_only_the_servers_that_can_have_a_tool_are_connected(tmp_path: Path) -> None:
    file = configured(tmp_path, it=plain(), other=plain(), dead=hostile("dies"))
    async with Paddock(mcp_config=file, tools=[double]) as paddock:
        answer = await paddock.call_tool("it.add", {"a": 1, "b": 2})
        found = await paddock.search_tools("add numbers", servers=["it"], limit=1)
        states = {name: health.state for name, health in (await paddock.upstreams()).items()}
        everything = await paddock.tools()
        dead = (await paddock.upstreams())["dead"]
    assert (answer.value, [tool.full_name for tool in found]) == ({"sum": 3}, ["it.add"])
    assert states == {"it": "ready", "other": "idle", "dead": "idle"}
    assert {tool.server for tool in everything} == {"", "it", "other"}
    assert (dead.state, dead.error) == (
        "failed",
        "The server 'dead' ended with exit code 3.\ncannot start: bad token [redacted]",
    )


async def test_a_bare_name_that_two_servers_have_is_not_called(tmp_path: Path) -> None:
    async with Paddock(mcp_config=configured(tmp_path, a=plain(), b=plain())) as paddock:
        answer = await paddock.call_tool("add", {"a": 1, "b": 2})
    assert (answer.failed, answer.value["error_code"]) == (True, "TOOL_NOT_FOUND")
    assert answer.value["hints"] == ["Several servers have a tool 'add'; say which: a.add, b.add."]


@pytest.mark.parametrize(
    ("name", "arguments", "refused"),
    [("double", [1], BadInput), ("double", {"number": math.nan}, BadInput), (1, {}, UnknownTool)],
)
async def test_an_invalid_call_is_refused(name: Any, arguments: Any, refused: type[Exception]) -> None:
    async with Paddock(tools=[double]) as paddock:
        with pytest.raises(refused):
            await paddock.call_tool(name, arguments)


async def test_unknown_servers_tools_and_languages_are_refused() -> None:
    async with Paddock(tools=[double]) as paddock:
        with pytest.raises(RequestError, match=r"^unknown server 'shop'; known servers: none$"):
            await paddock.tools(servers=["shop"])
        with pytest.raises(UnknownTool, match="Did you mean 'double'"):
            await paddock.tool_stubs(["duble"])
        with pytest.raises(UnknownLanguage):
            await paddock.tool_stubs(language="cobol")


def test_servers_that_were_connected_in_one_event_loop_are_not_used_in_another(tmp_path: Path) -> None:
    paddock = Paddock(mcp_config=configured(tmp_path, dead=hostile("dies")))
    assert asyncio.run(paddock.tools()) == ()
    with pytest.raises(RequestError, match="another event loop"):
        asyncio.run(paddock.tools())
