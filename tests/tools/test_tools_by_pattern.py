"""Tools that a run names by a pattern."""

from __future__ import annotations

from pathlib import Path

import pytest

from paddock import Paddock, UnknownTool
from tests.tools.test_front_door import configured, double
from tests.tools.upstreams import hostile, plain


async def test_a_pattern_links_what_it_matches_and_connects_no_other_server(tmp_path: Path) -> None:
    file = configured(tmp_path, it=plain(), other=plain(), dead=hostile("dies"))
    async with Paddock(mcp_config=file, tools=[double]) as paddock:
        result = await paddock.run("await add({'a': 1, 'b': 2})", tools=["it.a*", "double"])
        states = {name: health.state for name, health in paddock.upstreams().items()}
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


async def test_a_pattern_may_match_nothing_and_a_name_may_not() -> None:
    async with Paddock(tools=[double]) as paddock:
        assert (await paddock.run("1", tools=["nobody.*"])).available_functions == ()
        with pytest.raises(UnknownTool):
            await paddock.run("1", tools=["nobody.*", "nothing"])


async def test_an_input_is_the_input_whatever_a_pattern_links() -> None:
    async with Paddock(tools=[double]) as paddock:
        result = await paddock.run("double + 1", tools=["*"], inputs={"double": 4})
    assert (result.output, result.available_functions) == (5, ())


async def test_what_a_pattern_links_and_a_script_does_not_mention_can_be_called_by_name() -> None:
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
