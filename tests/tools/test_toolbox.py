"""The tools that runs may call: chosen by patterns, connected at once, and followed when a server changes them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from paddock import Config, Paddock, RequestError, UnknownTool, Verdict
from paddock.config import ToolsConfig
from paddock.planning.plan import ENGINE_LANGUAGE
from paddock.tools.toolbox import name_list
from tests.forks import fork
from tests.tools.test_front_door import configured, double
from tests.tools.upstreams import SERVERS, Serve, bare_config, hostile, plain

ENGINES = ["monty", "cpython", "quickjs"]
CALLED = {
    "python": """
import json
try:
    x = await call_tool('it.shout', {'text': 'hey'})
except RuntimeError as error:
    x = json.loads(str(error))
x
""",
    "javascript": "await callTool('it', 'shout', { text: 'hey' }).catch((error) => error.envelope)",
}


def config(server: dict[str, Any]) -> Config:
    return bare_config({"it": server})


async def names(paddock: Paddock) -> set[str]:
    return {tool.name for tool in await paddock.tools()}


async def seen(paddock: Paddock, is_so: Callable[[set[str]], bool]) -> None:
    """Return once the names of the tools are so."""
    async with asyncio.timeout(60):
        while not is_so(await names(paddock)):
            await asyncio.sleep(0.01)


@pytest.mark.parametrize("engine", ENGINES)
async def test_a_script_can_call_added_tools_and_not_removed_ones(engine: str) -> None:
    language = ENGINE_LANGUAGE[engine]

    async def ran(code: str) -> Any:
        result = await paddock.run(code, language=language, engine=engine)
        assert result.verdict is Verdict.OK, result.error
        return result.output

    async with Paddock(config(plain())) as paddock:
        assert (await ran(CALLED[language]))["error_code"] == "TOOL_NOT_FOUND"
        await ran("await learn({'name': 'shout'})")
        await seen(paddock, lambda known: "shout" in known)
        assert await ran(CALLED[language]) == {"result": "hey"}
        assert await ran("await shout({'text': 'linked'})") == {"result": "linked"}
        await ran("await forget({'name': 'shout'})")
        await seen(paddock, lambda known: "shout" not in known)
        assert (await ran(CALLED[language]))["error_code"] == "TOOL_NOT_FOUND"
        assert "echo" in await names(paddock)


@pytest.mark.parametrize("engine", ENGINES)
async def test_one_script_makes_a_server_offer_a_tool_and_calls_it(engine: str) -> None:
    code = "await learn({'name': 'shout'})" + CALLED[ENGINE_LANGUAGE[engine]]
    if ENGINE_LANGUAGE[engine] == "javascript":
        code = code.replace(")await", ");\nawait")
    async with Paddock(config(plain())) as paddock:
        result = await paddock.run(code, language=ENGINE_LANGUAGE[engine], engine=engine)
    assert result.output == {"result": "hey"}


@pytest.mark.parametrize("kind", ["http", "sse"])
async def test_changes_are_followed_over_http_as_well(serve: Serve, kind: str) -> None:
    async with Paddock(config({"type": kind, "url": serve(kind)})) as paddock:
        await paddock.run("await learn({'name': 'shout'})")
        await seen(paddock, lambda known: "shout" in known)
        assert (await paddock.run(CALLED["python"])).output == {"result": "hey"}
        await paddock.run("await forget({'name': 'shout'})")
        await seen(paddock, lambda known: "shout" not in known)
        assert (await paddock.run(CALLED["python"])).output["error_code"] == "TOOL_NOT_FOUND"


async def test_a_call_of_a_tool_removed_without_notice_is_not_found() -> None:
    code = """
import json
await forget({'name': 'echo'})
try:
    x = await call_tool('it.echo', {'text': 'hey'})
except RuntimeError as error:
    x = str(error)
x
"""
    async with Paddock(config(plain())) as paddock:
        result = await paddock.run(code)
    assert json.loads(result.output)["error_code"] == "TOOL_NOT_FOUND"


async def test_a_pattern_links_what_it_matches_and_connects_no_other_server(tmp_path: Path) -> None:
    file = configured(tmp_path, it=plain(), other=plain(), dead=hostile("dies"))
    async with Paddock(mcp_config=file, tools=[double]) as paddock:
        result = await paddock.run("await add({'a': 1, 'b': 2})", tools=["it.a*", "double"])
        states = {name: health.state for name, health in (await paddock.upstreams()).items()}
        named = await paddock.run("1", tools=["it.add"])
        stubs = await paddock.tool_stubs(["it.ad?", "d*e"], whole=False)
    assert (result.output, result.available_functions[0], result.available_functions[-1]) == (
        {"sum": 3},
        "add",
        "double",
    )
    assert states == {"it": "ready", "other": "idle", "dead": "idle"}
    assert named.available_functions == ("add",)
    assert [line for line in stubs.splitlines() if line.startswith("async def ")] == [
        "async def add(arguments: AddArguments) -> dict[str, int]:",
        "async def double(arguments: DoubleArguments) -> DoubleResult:",
    ]


async def test_a_pattern_may_match_nothing_but_a_name_must_exist() -> None:
    async with Paddock(tools=[double]) as paddock:
        assert (await paddock.run("1", tools=["nobody.*"])).available_functions == ()
        with pytest.raises(UnknownTool):
            await paddock.run("1", tools=["nobody.*", "nothing"])


async def test_an_input_hides_a_tool_that_a_pattern_links() -> None:
    async with Paddock(tools=[double]) as paddock:
        result = await paddock.run("double + 1", tools=["*"], inputs={"double": 4})
    assert (result.output, result.available_functions) == (5, ())


async def test_a_matched_tool_that_the_script_does_not_mention_can_be_called_by_name() -> None:
    async with Paddock(tools=[double]) as paddock:
        result = await paddock.run("name = 'dou' + 'ble'\nawait call_tool(name, {'number': 4})", tools=["*"])
    assert (result.output, result.available_functions) == ({"result": 8}, ("double",))


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("await double(4)", "TypingError"),
        ("return double({'number': 4})", "TypingError"),
        ("1 + 'a'\nawait double({'number': 4})", None),
        ("def f(:", "SyntaxError"),
        ("1 / 0", None),
    ],
)
async def test_a_check_tells_what_is_wrong_about_the_tools_and_runs_nothing(code: str, found: str | None) -> None:
    async with Paddock(tools=[double]) as paddock:
        error = await paddock.check(code, type_check="tools")
    assert (None if error is None else error.type) == found


NAMES = ["one", "two", "three"]
MEETING = str(SERVERS / "meeting.py")
"""One that was started alone is given up, and dead, before the next one would be."""


def meeting(here: Path) -> Config:
    server = {**fork.settings(MEETING, str(here), str(len(NAMES))), "includeTools": ["process"]}
    return bare_config(dict.fromkeys(NAMES, server), tools=ToolsConfig(connect_seconds=60.0))


@pytest.mark.parametrize("engine", ["monty", "cpython"])
async def test_servers_that_wait_for_each_other_all_connect(tmp_path: Path, engine: str) -> None:
    calls = ", ".join(f"await call_tool('{name}.process', {{}})" for name in NAMES)
    async with Paddock(meeting(tmp_path)) as paddock:
        result = await paddock.run(f"[{calls}]", engine=engine)
        assert {health.state for health in (await paddock.upstreams()).values()} == {"ready"}
    assert len({answer["result"] for answer in result.output}) == len(NAMES)


async def test_a_list_of_tools_includes_every_server(tmp_path: Path) -> None:
    async with Paddock(meeting(tmp_path)) as paddock:
        assert [tool.full_name for tool in await paddock.tools()] == [f"{name}.process" for name in NAMES]


@pytest.mark.parametrize(
    "names",
    [["*a" * 1000], ["a" * 1001], [f"*{number:0300}" for number in range(40)], [f"*{number}" for number in range(51)]],
)
def test_names_and_patterns_that_take_long_to_compare_are_refused(names: list[str]) -> None:
    with pytest.raises(RequestError, match="characters"):
        name_list(names)
    assert name_list(["*a" * 500, *(f"tool_{number:0100}" for number in range(1000))])
    assert name_list(["*", "tool", "*"] * 1000) == ["*", "tool"]
