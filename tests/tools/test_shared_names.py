"""Two real servers with tools of the same names: a call never reaches one of them by chance."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from paddock import Paddock
from paddock.model.tools import Tool
from paddock.planning.plan import ENGINE_LANGUAGE
from tests.tools.samples import config
from tests.tools.upstreams import declared, plain

pytestmark = pytest.mark.asyncio(loop_scope="module")
ENGINES = ["monty", "cpython", "quickjs", "node"]
ARGUMENTS = "{'text': 'hello'}"
CHOICE = "Several servers have a tool 'echo'; say which: crm.echo, erp.echo."


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def paddock() -> AsyncIterator[Paddock]:
    async with Paddock(config(crm=plain(), erp=plain())) as made:
        yield made


def call(engine: str, *, by_name: bool) -> str:
    if not by_name:
        return f"await echo({ARGUMENTS})"
    return f"await {'call_tool' if ENGINE_LANGUAGE[engine] == 'python' else 'callTool'}('echo', {ARGUMENTS})"


async def refusal(paddock: Paddock, code: str, engine: str, **options: Any) -> list[str]:
    result = await paddock.run(code, engine=engine, language=ENGINE_LANGUAGE[engine], **options)
    assert result.error is not None, result.output
    assert result.error.envelope is not None, result.error
    assert (result.error.envelope["error_code"], result.error.envelope["tool"]) == ("TOOL_NOT_FOUND", "echo")
    assert [(each.tool, each.status) for each in result.calls] == [("echo", "error")]
    hints: list[str] = result.error.envelope["hints"]
    return hints


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("tools", [None, ["*"], ["crm.*", "erp.*"], ["crm.echo", "erp.*"]], ids=str)
@pytest.mark.parametrize("by_name", [True, False], ids=["by_name", "function"])
async def test_a_shared_name_is_refused(paddock: Paddock, engine: str, tools: list[str] | None, by_name: bool) -> None:
    assert await refusal(paddock, call(engine, by_name=by_name), engine, tools=tools) == [CHOICE]


async def test_the_first_call_of_all_and_the_second_are_refused_alike() -> None:
    async with Paddock(config(crm=plain(), erp=plain())) as paddock:
        code = call("monty", by_name=True)
        assert [await refusal(paddock, code, "monty") for _ in range(3)] == [[CHOICE]] * 3


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("order", [("crm", "erp"), ("erp", "crm")], ids="-".join)
async def test_a_function_of_tools_that_are_linked_one_by_one_is_the_first(
    paddock: Paddock, engine: str, order: tuple[str, str]
) -> None:
    tools, language = [f"{server}.echo" for server in order], ENGINE_LANGUAGE[engine]
    result = await paddock.run(call(engine, by_name=False), engine=engine, language=language, tools=tools)
    assert (result.output, [each.tool for each in result.calls]) == ({"result": "hello"}, tools[:1])
    choice = f"Several servers have a tool 'echo'; say which: {', '.join(tools)}."
    assert await refusal(paddock, call(engine, by_name=True), engine, tools=tools) == [choice]


async def test_a_function_whose_name_several_servers_share_is_not_checked_against_the_first(paddock: Paddock) -> None:
    code = "await echo({'txt': 1})"
    assert await refusal(paddock, code, "cpython", type_check=True) == [CHOICE]


async def test_names_that_differ_only_in_characters_that_functions_lack_are_refused_too() -> None:
    anything = {"type": "object"}
    upstreams = {"a": declared({"add-it": anything}), "b": declared({"add_it": anything, "add.it": anything})}
    async with Paddock(config(**upstreams)) as paddock:
        function = await paddock.run("await add_it({})")
        exact = await paddock.run("[await call_tool('add_it', {}), await call_tool('add-it', {})]")
    assert function.error is not None
    assert function.error.envelope is not None
    assert function.error.envelope["hints"] == [
        "Several servers have a tool 'add_it'; say which: a.add-it, b.add_it, b.add.it."
    ]
    assert [each.tool for each in exact.calls] == ["b.add_it", "a.add-it"]


async def test_no_server_can_name_a_tool_like_that_of_another_with_its_id() -> None:
    anything = {"type": "object"}
    name = f"echo_{Tool('crm', 'echo').id}"
    upstreams = {"crm": declared({"echo": anything}), "erp": declared({"echo": anything, name: anything})}
    async with Paddock(config(**upstreams)) as paddock:
        result = await paddock.run(f"await {name}({{}})\nawait call_tool('{name}', {{}})")
        hidden = await paddock.run(f"await call_tool('{name[:5]}' + '{name[5:]}', {{}})")
        full = await paddock.run(f"await call_tool('erp.{name}', {{}})")
    async with Paddock(config(**{**upstreams, "crm": {"command": "/none"}})) as paddock:
        down = await paddock.run(f"await call_tool('{name}', {{}})")
    assert [each.tool for each in result.calls] == ["crm.echo", "crm.echo"]
    for refused in (hidden, down):
        assert refused.error is not None
        assert (refused.error.envelope or {})["error_code"] == "TOOL_NOT_FOUND"
    assert [each.tool for each in full.calls] == [f"erp.{name}"]


async def test_the_program_s_own_function_is_never_ambiguous() -> None:
    def echo(text: str) -> str:
        return f"own {text}"

    async with Paddock(config(crm=plain(), erp=plain()), tools=[echo]) as paddock:
        result = await paddock.run(f"[await echo({ARGUMENTS}), await call_tool('echo', {ARGUMENTS})]")
    assert result.output == [{"result": "own hello"}] * 2
