"""Tools of real servers, called from scripts: the same from both Python engines."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from paddock import Paddock, Verdict
from paddock.config import ToolsConfig
from tests.journals import MemoryJournal
from tests.tools.samples import config
from tests.tools.upstreams import declared, plain

pytestmark = pytest.mark.asyncio(loop_scope="module")
ENGINES = ["monty", "cpython"]
SERVER = plain()


def double(n: int) -> int:
    """Twice as much."""
    return 2 * n


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def paddock() -> AsyncIterator[Paddock]:
    """For tests that do not care what was called before."""
    async with Paddock(config(plain=SERVER), tools=[double]) as made:
        yield made


async def failure(paddock: Paddock, call: str, engine: str = "monty") -> dict[str, Any]:
    code = f"try:\n    x = await {call}\nexcept RuntimeError as error:\n    x = str(error)\nx"
    result = await paddock.run(code, engine=engine)
    assert result.verdict is Verdict.OK, result.error
    said: dict[str, Any] = json.loads(result.output)
    return said


@pytest.mark.parametrize("engine", ENGINES)
async def test_a_script_calls_tools_by_name_and_as_functions(paddock: Paddock, engine: str) -> None:
    code = """
named = await call_tool("plain.add", {"a": 1, "b": 2})
short = await call_tool("add", arguments={"a": 3, "b": 4})
linked = await add({"a": 5, "b": 6})
text = await echo({"text": "hello"})
parsed = await echo({"text": "[1, 2]"})
own = await double({"n": 21})
[named, short, linked, text, parsed, own]
"""
    result = await paddock.run(code, engine=engine)
    assert result.output == [
        {"sum": 3},
        {"sum": 7},
        {"sum": 11},
        {"result": "hello"},
        {"result": [1, 2]},
        {"result": 42},
    ]
    assert [call.tool for call in result.calls] == ["plain.add"] * 3 + ["plain.echo"] * 2 + ["double"]
    assert set(result.available_functions) == {"add", "echo", "double"}


@pytest.mark.parametrize("engine", ENGINES)
async def test_concurrent_calls_overlap(paddock: Paddock, engine: str, tmp_path: Path) -> None:
    code = f"""
import asyncio
await asyncio.gather(*[meet({{"here": {str(tmp_path)!r}, "others": 3}}) for _ in range(3)])
"""
    result = await paddock.run(code, engine=engine)
    assert result.output == [{"result": "met"}] * 3


@pytest.mark.parametrize("engine", ENGINES)
async def test_a_picture_becomes_an_artifact(paddock: Paddock, engine: str) -> None:
    result = await paddock.run("(await picture({}))['result']", engine=engine)
    (artifact,) = result.artifacts
    assert result.output["id"] == artifact.id
    assert artifact.mime_type == "image/png"
    assert (await paddock.read_artifact(artifact.id)).startswith(b"\x89PNG")


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("call", "kind", "code", "tool"),
    [
        ("add({'a': 1})", "mcp_input_validation", "SCHEMA_REQUIRED", "plain.add"),
        ("call_tool('plain.ad', {})", "tool_not_found", "TOOL_NOT_FOUND", "plain.ad"),
        ("fail({'message': 'no luck'})", "internal_error", "INTERNAL_ERROR", "plain.fail"),
    ],
)
async def test_a_failed_call_returns_an_envelope(
    paddock: Paddock, engine: str, call: str, kind: str, code: str, tool: str
) -> None:
    said = await failure(paddock, call, engine)
    assert (said["error_kind"], said["error_code"], said["tool"]) == (kind, code, tool)


@pytest.mark.parametrize(
    ("name", "hints"),
    [
        (
            "frobnicate",
            [
                "`paddock tools` lists the tools.",
                "Servers: plain.",
                "Tools that run code (execute, run_code, …) cannot be called from a script.",
            ],
        ),
        (
            "run_code",
            [
                "Tools that run code (execute, run_code, …) cannot be called from a script; write the code here.",
                "`paddock tools` lists the tools.",
                "Servers: plain.",
            ],
        ),
        ("weather.add", ["There is no server 'weather'. Servers: plain. 'add' is a tool of plain."]),
        ("plian.ad", ["There is no server 'plian'. Did you mean the server 'plain'? Servers: plain."]),
    ],
)
async def test_a_script_learns_how_to_find_a_tool(paddock: Paddock, name: str, hints: list[str]) -> None:
    said = await failure(paddock, f"call_tool('{name}', {{}})")
    assert (said["error_code"], said["hints"]) == ("TOOL_NOT_FOUND", hints)


async def test_at_most_ten_servers_are_listed() -> None:
    servers: dict[str, Any] = {f"server{number}": SERVER for number in range(12)}
    async with Paddock(config(**servers)) as paddock:
        (hint,) = (await failure(paddock, "call_tool('weather.wind', {})"))["hints"]
    assert hint.endswith("Servers: " + ", ".join(list(servers)[:10]) + " and 2 more.")


async def test_without_tools_nothing_is_suggested() -> None:
    async with Paddock(config(ToolsConfig(), plain=SERVER)) as paddock:
        result = await paddock.run("await call_tool('frobnicate', {})", tools=())
    assert result.error is not None
    assert result.error.envelope is not None
    assert result.error.envelope["hints"][0] == "This script can call no tools."


async def test_a_script_without_calls_connects_to_nothing() -> None:
    async with Paddock(config(plain=SERVER)) as paddock:
        assert (await paddock.run("1 + 1")).output == 2
        assert paddock._toolbox.health()["plain"].state == "idle"
        await paddock.run("await add({'a': 1, 'b': 1})")
        assert paddock._toolbox.health()["plain"].state == "ready"


async def test_a_dead_upstream_leaves_the_others_alone() -> None:
    dead = {"command": sys.executable, "args": ["-c", "raise SystemExit('gone for good')"]}
    async with Paddock(config(plain=SERVER, dead=dead)) as paddock:
        assert (await paddock.run("await add({'a': 1, 'b': 1})")).output == {"sum": 2}
        said = await failure(paddock, "call_tool('dead.anything', {})")
        assert (said["error_code"], said["retryable"]) == ("UPSTREAM_NETWORK", True)
        assert "gone for good" in said["summary"]


async def test_a_slow_upstream_is_not_waited_for_longer_than_configured() -> None:
    slow = {"command": sys.executable, "args": ["-c", "import time; time.sleep(60)"]}
    async with Paddock(config(ToolsConfig(connect_seconds=3.0), plain=SERVER, slow=slow)) as paddock:
        async with asyncio.timeout(20):
            assert (await paddock.run("await add({'a': 1, 'b': 1})")).output == {"sum": 2}


async def test_arguments_are_repaired_if_repair_is_enabled() -> None:
    async with Paddock(config(ToolsConfig(repair=True), plain=SERVER)) as paddock:
        assert (await paddock.run("await add({'A': '1', 'b': 2.0})")).output == {"sum": 3}
    async with Paddock(config(plain=SERVER)) as paddock:
        assert (await failure(paddock, "add({'A': '1', 'b': 2.0})"))["error_kind"] == "mcp_input_validation"


async def test_every_call_is_in_the_journal_before_and_after() -> None:
    journal = MemoryJournal()
    async with Paddock(config(plain=SERVER), journal=journal) as paddock:
        code = "await add({'a': 1, 'b': 2})\nawait echo({'text': 'token: hunter22'})"
        result = await paddock.run(code)
    (added, summed), (echoed, _) = await journal.calls(result.run_id)
    assert summed is not None
    assert (added.tool, added.arguments_json, added.is_read_only) == ("plain.add", '{"a": 1, "b": 2}', False)
    assert (summed.status, summed.answer_json) == ("ok", '{"sum": 3}')
    assert (echoed.arguments_json, echoed.is_read_only) == ('{"text": "token: [redacted]"}', True)


async def test_a_schema_whose_properties_are_no_object_ends_no_call() -> None:
    async with Paddock(config(odd=declared({"odd": {"type": "object", "properties": 5}}))) as paddock:
        assert (await paddock.run("await call_tool('odd.odd', {'_text': True})")).output == {"result": "called"}


async def test_a_call_times_out_and_the_server_is_told(tmp_path: Path) -> None:
    async with Paddock(config(ToolsConfig(call_seconds=0.5), plain=SERVER)) as paddock:
        said = await failure(paddock, f"meet({{'here': {str(tmp_path)!r}, 'others': 2}})")
        assert (said["error_code"], said["retryable"]) == ("UPSTREAM_TIMEOUT", True)


@pytest.mark.parametrize(
    ("code", "line"),
    [
        ("x = 1\nadd({'a': 1, 'b': 2})['sum']", 2),  # not awaited
        ("r = await double({'n': 2})\nr['product']", 2),
        ("await add({'a': 1})", 1),
        ("await add(**{'a': 1, 'b': 2})", 1),
    ],
)
async def test_a_script_is_checked_against_its_tools_before_it_runs(paddock: Paddock, code: str, line: int) -> None:
    result = await paddock.run(code, type_check=True)
    assert result.verdict is Verdict.REJECTED
    assert result.error is not None
    assert (result.error.type, result.error.line, result.calls) == ("TypingError", line, ())
