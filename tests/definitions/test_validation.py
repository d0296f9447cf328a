"""What a saved definition may contain, and why one is refused."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from datetime import date
from typing import Any

import pytest
import pytest_asyncio

from paddock import BadDefinition, Config, Paddock
from paddock.definitions.definition import SHIPPED, shipped
from paddock.definitions.validation import RESERVED, parse_saved, validate
from paddock.engines.registry import ENGINES
from paddock.server.mcp import make_server
from tests.server.shared_services import open_services
from tests.tools.upstreams import shop

SHOP = shop()
DEAD = {"command": sys.executable, "args": ["-c", "raise SystemExit(1)"]}
CONFIG = Config(upstreams={"shop": SHOP, "dead": DEAD})
LEAST: dict[str, Any] = {"name": "totals", "description": "Adds things up."}


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def paddock() -> AsyncIterator[Paddock]:
    async with Paddock(CONFIG) as made:
        async with asyncio.timeout(120):
            while (await made.upstreams())["shop"].state != "ready":
                await made.tools(servers=["shop"])
                await asyncio.sleep(0.01)
        yield made


def test_missing_values_come_from_the_shipped_definition_except_linked_tools() -> None:
    base, made = shipped("code_execution"), parse_saved(LEAST)
    assert (made.title, made.tools, made.code, made.inputs) == ("Totals", (), None, {})
    assert (made.face, made.caps, made.refused_modules) == (base.face, base.caps, base.refused_modules)
    assert parse_saved({**LEAST, "limits": {"wall_seconds": 9}}).limits == {**base.limits, "wall_seconds": 9}


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"descripton": "x"}, "a definition has no 'descripton'; did you mean 'description'?"),
        ({"description": ""}, "a definition needs 'description', a non-empty string"),
        ({"name": None}, "a definition needs 'name', a non-empty string"),
        ({"name": "two words"}, "name must be 1 to 64 letters"),
        ({"name": "run_code"}, "comes with Paddock; choose another name"),
        ({"name": "read_artifact"}, "is a built-in tool of the server"),
        ({"face": "native"}, "face of a saved definition is always 'inputs'"),
        ({"face": "inpts"}, "face must be one of native, execute"),
        ({"caps": {"wall_seconds": 99}}, "caps of a saved definition is always"),
        ({"is_fixed": True}, "must have code; set code"),
        ({"code": 5}, "code must be a string"),
        ({"inputs": [1]}, "inputs must be a table"),
        ({"inputs": {"a b": 1}}, "input 'a b' is not a valid variable name"),
        ({"inputs": {"day": date(2026, 1, 2)}}, "input 'day' is not JSON"),
        ({"limits": {"wall_second": 5}}, "limits has no 'wall_second'; did you mean 'wall_seconds'?"),
        ({"limits": {"wall_seconds": 16}}, "limits.wall_seconds is 16, above its cap of 15"),
        ({"limits": {"recursion": 101}}, "limits.recursion is 101, above its cap of 100"),
        ({"limits": {"memory_bytes": float("nan")}}, "limits: memory_bytes must be a positive, finite number"),
        ({"limits": 5}, "limits must be a table"),
        ({"tools": "shop.orders"}, "tools must be a list of strings"),
        ({"tools": ["shop.ordrs"]}, "tools: unknown tool 'shop.ordrs'; Did you mean 'shop.orders'?"),
        ({"tools": ["run_code"]}, "'run_code' is a code tool, and a code tool can't link another"),
        ({"tools": ["paddock.execute"]}, "'paddock.execute' is a code tool"),
        ({"tools": ["shop.orders", "totals"]}, "'totals' is a code tool"),
        ({"tools": ["another"]}, "'another' is a code tool"),
        ({"code": "def f(:"}, "code: SyntaxError, line 1: invalid syntax"),
        ({"code": "def f(:", "tools": ["shop.ordrs"]}, "code: SyntaxError"),
        ({"code": "1\nawait orders('open')", "tools": ["shop.*"]}, "code: TypingError, line 2: "),
        ({"code": "orders({})", "tools": ["shop.orders"]}, "code: TypingError, line 1: "),
        ({"code": "x" * 200_000}, "larger than"),
    ],
)
@pytest.mark.asyncio(loop_scope="module")
async def test_an_invalid_definition_is_refused_with_the_reason(
    paddock: Paddock, values: dict[str, Any], said: str
) -> None:
    with pytest.raises(BadDefinition) as refused:
        await validate({**LEAST, **values}, paddock, CONFIG, ["another"])
    assert said in str(refused.value)


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"code": "await orders({'status': status})", "inputs": {"status": "open"}, "tools": ["shop.orders"]},
        {"code": "(await orders({}))['matching']", "tools": ["shop.*"], "is_fixed": True, "includes_files": False},
        {"code": "import pandas, nothing\nreturn 1 + 'a'"},
        {"tools": ["nobody.*"], "limits": {"wall_seconds": 15, "calls": 1}},
    ],
)
@pytest.mark.asyncio(loop_scope="module")
async def test_a_valid_definition_is_accepted(paddock: Paddock, values: dict[str, Any]) -> None:
    made = await validate({**LEAST, **values}, paddock, CONFIG)
    assert (made.definition, made.warnings) == (parse_saved({**LEAST, **values}), ())


@pytest.mark.asyncio(loop_scope="module")
async def test_a_check_that_needs_an_unreachable_server_is_a_warning(paddock: Paddock) -> None:
    made = await validate({**LEAST, "code": "await thing({})", "tools": ["dead.thing"]}, paddock, CONFIG)
    assert len(made.warnings) == 1
    assert "the code was not checked against its tools: the tool 'dead.thing' cannot be linked" in made.warnings[0]


@pytest.mark.asyncio(loop_scope="module")
async def test_code_that_calls_tools_without_linking_any_is_a_warning(paddock: Paddock) -> None:
    made = await validate({**LEAST, "code": "await call_tool('shop.orders', {'status': 'open'})"}, paddock, CONFIG)
    assert [each.partition(",")[0] for each in made.warnings] == ["the code uses call_tool"]


async def test_without_full_python_the_code_is_not_checked_and_that_is_a_warning() -> None:
    async with Paddock(Config(), engines={"monty": ENGINES["monty"]}) as light:
        made = await validate({**LEAST, "code": "class A(Exception): pass"}, light, Config())
    assert made.definition.code == "class A(Exception): pass"
    assert [each.partition(":")[0] for each in made.warnings] == [
        "the code was not checked, because full Python cannot run here"
    ]


async def test_names_of_built_in_tools_are_reserved() -> None:
    from mcp import Client

    async with (
        open_services() as services,
        Client(make_server(services, [shipped(name) for name in SHIPPED])) as client,
    ):
        names = {tool.name for tool in (await client.list_tools()).tools}
    assert names - set(SHIPPED) <= RESERVED


async def test_names_of_context_setters_are_reserved() -> None:
    tenant = {"servers": ["shop"], "meta": "tenant"}
    config = Config(
        upstreams={"shop": SHOP}, context={"tenant": tenant}, connections={"shop": [{"id": "one", "meta": {"c": "1"}}]}
    )
    async with Paddock(config) as holding:
        for name in ("set_tenant", "select_connections"):
            with pytest.raises(BadDefinition, match=f"'{name}' is (a|the) .*tool"):
                await validate({**LEAST, "name": name}, holding, config)
