"""`code_execution` through real clients: its arguments, results, errors and limits."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import jsonschema_rs
import pytest
import pytest_asyncio
from mcp import Client

from paddock import Config
from paddock.definitions.definition import Definition, shipped
from paddock.server.mcp import make_server
from tests.server.conftest import ERAS, over_stdio, served
from tests.server.shared_services import SharedServices, open_services
from tests.tools.upstreams import plain, shop

pytestmark = pytest.mark.asyncio(loop_scope="module")
SHIPPED = shipped("code_execution")
SHOP = shop()
CONFIG = Config(upstreams={"shop": SHOP})
MARKED = Config(upstreams={name: plain(env={f"MARK_{name}": "1"}) for name in "ba"})
"""Two servers with the same tools and different answers."""
FUNCTIONS = ["orders", "customer", "inventory", "refund", "shipping_quote"]
NEVER = "while True:\n    pass"
shared = SharedServices()


@pytest_asyncio.fixture(scope="module", loop_scope="module", autouse=True)
async def _closed() -> AsyncIterator[None]:
    yield
    await shared.aclose()


@asynccontextmanager
async def connected(definition: Definition = SHIPPED, config: Config | None = None) -> AsyncIterator[Any]:
    async with Client(make_server(await shared.get(config), [definition]), mode="legacy") as client:
        yield client


async def called(client: Any, name: str = "code_execution", **arguments: Any) -> dict[str, Any]:
    """The result, checked to be the same as an object and as text."""
    result = await client.call_tool(name, arguments)
    values: dict[str, Any] = result.structured_content
    assert json.loads(result.content[0].text) == values
    assert result.is_error is not values["success"]
    return values


def worked(output: Any, stdout: str = "", functions: list[str] | None = None) -> dict[str, Any]:
    return {"success": True, "output": output, "stdout": stdout, "available_functions": functions or []}


def failure(kind: str, message: str, stdout: str = "") -> dict[str, Any]:
    return {"success": False, "error": {"type": kind, "message": message}, "stdout": stdout}


async def message_of(client: Any, kind: str, code: str, **arguments: Any) -> str:
    """The message of an error of this type. Checks the output: what was printed, and a failed call's line."""
    values = await called(client, code=f"print('so far')\n{code}", **arguments)
    assert (values["success"], values["error"]["type"], values.keys()) == (False, kind, failure("", "").keys())
    message = str(values["error"]["message"])
    printed = "" if kind in ("SyntaxError", "TypingError") else "so far\n"
    is_failed_call = message.startswith('{"error_kind"')
    assert re.sub(r"\d+", "N", values["stdout"]) == printed + "Warning: the call on line N failed." * is_failed_call
    return message.partition("\nHint: ")[0]


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("way", ["http", "stdio"])
async def test_it_is_the_same_tool_over_http_and_over_stdio_in_both_eras(way: str, era: str) -> None:
    @asynccontextmanager
    async def client() -> AsyncIterator[Any]:
        if way == "stdio":
            async with over_stdio(era, "--definitions", "code_execution") as made:
                yield made
        else:
            services = await shared.get()
            async with served(services, SHIPPED) as address, Client(address, mode=era) as made:
                yield made

    async with client() as connection:
        tool, *_ = (await connection.list_tools()).tools
        assert (tool.name, tool.input_schema["required"]) == ("code_execution", ["code"])
        assert await called(connection, code="print('hi')\nsum(xs)", inputs={"xs": [1, 2]}) == worked(3, "hi\n")
        failed = (await called(connection, code="1 / 0"))["error"]
        assert failed["type"] == "ZeroDivisionError"
        assert failed["message"].startswith("division by zero (line 1)")
        assert (await called(connection, code="def f(:"))["error"]["type"] == "SyntaxError"


@pytest.mark.parametrize(
    ("code", "output"),
    [
        ("{'a': [1, 2]}", {"a": [1, 2]}),
        ("return 5", 5),
        ("import math", None),
        ("class Point:\n    x = 1\nPoint().x", 1),
        ("def numbers():\n    yield 1\nlist(numbers())", [1]),
        ("match 3:\n    case 3:\n        x = 'three'\nx", "three"),
        ("'%d %s' % (1, 'a')", "1 a"),
        ("import collections, itertools, base64\nlen(list(itertools.chain([1], [2])))", 2),
        ("from datetime import datetime\nisinstance(datetime.now().year, int)", True),
        ("import asyncio\nasync def one():\n    return 1\nawait asyncio.gather(one(), one())", [1, 1]),
    ],
)
async def test_the_value_of_the_last_expression_or_of_a_return_is_the_output(code: str, output: Any) -> None:
    async with connected() as client:
        assert await called(client, code=code) == worked(output)


@pytest.mark.parametrize(
    ("code", "end"),
    [
        ("x = 1", "x"),
        ("total = 0\nfor n in [1]:\n    total += n", "total"),
        ("rows = {}\nrows['a'] = 1", "rows"),
        ("async def main():\n    return 1", "await main()"),
        ("def mean(values):\n    return 1", "mean(...)"),
    ],
)
async def test_a_script_that_ends_without_a_value_is_told_how_to_end_it(code: str, end: str) -> None:
    async with connected() as client:
        said = await called(client, code=code)
    text = f"Warning: Nothing was returned or printed: end the script with `{end}`, or print it."
    assert (said["output"], said["stdout"]) == (None, text)


@pytest.mark.parametrize(
    "code",
    [
        "if 1:\n    {'a': 1}",
        "for n in [1]:\n    n * 2",
        "r = [1]\ntry:\n    len(r)\nexcept ValueError as error:\n    str(error)",
        "import contextlib\nwith contextlib.suppress(KeyError):\n    [n for n in (1, 2)]",
        "try:\n    5 + 1\nfinally:\n    len('a')",
        "match 1:\n    case 1:\n        'one' * 2",
    ],
)
async def test_a_value_at_the_end_of_a_block_is_lost_and_the_script_is_told(code: str) -> None:
    async with connected() as client:
        said = await called(client, code=code)
    why = "the last value is in a block, where it is lost. `return` it, or print it."
    text = f"Warning: Nothing was returned or printed: {why}"
    assert (said["output"], said["stdout"]) == (None, text)


@pytest.mark.parametrize(
    "code", ["x = 1\nprint(x)", "x = 1\nawait create_artifact('a.txt', 'x')\ny = 1", "None", "return"]
)
async def test_a_script_that_shows_something_or_returns_none_is_not(code: str) -> None:
    async with connected() as client:
        assert "Nothing was" not in (await called(client, code=code))["stdout"]


async def test_each_key_of_the_inputs_is_a_variable_laid_over_the_defaults_key_by_key() -> None:
    definition = replace(SHIPPED, code="[rate, region, extra]", inputs={"rate": 0.2, "region": {"a": 1}, "extra": None})
    async with connected(definition) as client:
        assert await called(client) == worked([0.2, {"a": 1}, None])
        assert await called(client, inputs={"region": {"b": 2}, "extra": 3}) == worked([0.2, {"b": 2}, 3])
        assert await called(client, code="rate * 2", inputs={"rate": 4}) == worked(8)
        tool, *_ = (await client.list_tools()).tools
    assert tool.input_schema["required"] == []
    assert "rate, region, extra" in tool.description


@pytest.mark.parametrize("code", ["", " \n", None])
async def test_without_code_the_default_code_runs(code: str | None) -> None:
    async with connected(replace(SHIPPED, code="6 * 7")) as client:
        assert await called(client, code=code) == worked(42)


async def test_a_definition_that_is_fixed_takes_no_arguments() -> None:
    definition = replace(SHIPPED, code="rate * 2", inputs={"rate": 4}, is_fixed=True)
    async with connected(definition) as client:
        tool, *_ = (await client.list_tools()).tools
        assert (tool.input_schema["properties"], tool.input_schema["required"]) == ({}, [])
        assert await called(client) == worked(8)
        for refused in ({"code": "1"}, {"inputs": {"rate": 1}}, {"files": ["a"]}):
            assert (await called(client, **refused))["error"]["type"] == "ToolValidationError"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "'code' is required"),
        ({"code": 1}, "'code' must be"),
        ({"code": "1", "inputs": [1]}, "'inputs' must be"),
        ({"code": "1", "input": {"a": 1}}, "Unknown field 'input'"),
        ({"code": "1", "inputs": {"not a name": 1}}, "'not a name' is not a valid variable name"),
        ({"code": "1", "inputs": {"call_tool": 1}}, "would hide the function"),
        ({"code": "1", "files": ["nothing.csv"]}, "there is no artifact 'nothing.csv'"),
    ],
)
async def test_invalid_arguments_are_shown_as_a_failed_run(arguments: dict[str, Any], message: str) -> None:
    async with connected() as client:
        values = await called(client, **arguments)
    assert (values["error"]["type"], values["stdout"]) == ("ToolValidationError", "")
    assert message in values["error"]["message"]


async def test_each_exceeded_limit_is_a_runtime_error_that_names_the_limit() -> None:
    async with connected(replace(SHIPPED, limits={**SHIPPED.limits, "wall_seconds": 1})) as client:
        assert "wall_seconds = 1 s " in await message_of(client, "RuntimeError", NEVER)
    small = replace(SHIPPED, limits={**SHIPPED.limits, "output_bytes": 4096, "calls": 2})
    async with connected(small, CONFIG) as client:
        assert "output_bytes = 4 KB " in await message_of(client, "RuntimeError", "'x' * 5000")
        calls = json.loads(await message_of(client, "RuntimeError", "for n in range(3):\n    await orders({})"))
    assert (calls["error_code"], calls["summary"]) == (
        "CALL_LIMIT_EXCEEDED",
        "The run has reached its limit of 2 tool calls.",
    )
    async with connected() as client:
        hog = "kept = []\nwhile True:\n    kept.append('x' * 1_000_000)"
        assert "memory_bytes = 128 MB " in await message_of(client, "RuntimeError", hog)
        deep = "def down(n):\n    return 0 if n == 0 else 1 + down(n - 1)\n"
        assert await called(client, code=f"{deep}down(40)") == worked(40)
        assert "the limit recursion = 50 was reached" in await message_of(client, "RuntimeError", f"{deep}down(90)")


async def test_an_exception_of_the_script_has_its_type_and_line() -> None:
    async with connected() as client:
        assert await message_of(client, "ValueError", "raise ValueError('x')") == "x (line 2)"
        assert await message_of(client, "KeyError", "{}['a']") == "'a' (line 2)"
        assert await message_of(client, "RecursionError", "raise RecursionError('mine')") == "mine (line 2)"
        assert await message_of(client, "RuntimeError", "raise RuntimeError('mine')") == "mine (line 2)"
        assert await message_of(client, "SyntaxError", "def f(:") == "invalid syntax (line 2)"
        assert "exit code 3" in await message_of(client, "RuntimeError", "import os\nos._exit(3)")


@pytest.mark.parametrize("module", [*SHIPPED.refused_modules, "no_such_module"])
async def test_a_refused_or_missing_module_is_not_found(module: str) -> None:
    async with connected() as client:
        assert "No module named" in await message_of(client, "ModuleNotFoundError", f"import {module}")
        caught = f"try:\n    import {module}\nexcept ModuleNotFoundError:\n    x = 'caught'\nx"
        assert await called(client, code=caught) == worked("caught")


async def test_the_refused_modules_are_those_that_reach_out_of_the_sandbox() -> None:
    network = {"socket", "urllib.request", "http", "requests", "httpx", "aiohttp"}
    assert set(SHIPPED.refused_modules) == network | {"subprocess", "ctypes", "multiprocessing"}


async def test_allowed_modules_have_no_network_either() -> None:
    reached = []

    async def reach(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        reached.append(writer)
        writer.close()

    listening = await asyncio.start_server(reach, "127.0.0.1", 0)  # a host without a network has this one
    async with listening, connected(replace(SHIPPED, engine="cpython")) as client:
        places = [*(each.getsockname() for each in listening.sockets), ("1.1.1.1", 53)]
        code = """
import asyncio
seen = []
for host, port in places:
    try:
        await asyncio.open_connection(host, port)
    except OSError:
        seen.append("none")
seen
"""
        values = await called(client, code=code, inputs={"places": places})
    assert values == worked(["none", "none"])
    assert reached == []


async def test_a_script_runs_on_full_python() -> None:
    services = await shared.get()
    async with Client(make_server(services, [SHIPPED]), mode="legacy") as client:
        assert await called(client, code="class A: pass\nA.__name__") == worked("A")
    [newest] = await services.store.runs.list("local", limit=1)
    assert newest.engine == "cpython"


async def test_linked_tools_are_functions_that_take_one_dict() -> None:
    code = """
import asyncio
page, stock = await asyncio.gather(orders({"status": "open"}), inventory({"sku": "LAMP-1"}))
[page["matching"], stock["levels"][0]["warehouse"]]
"""
    async with connected(config=CONFIG) as client:
        assert await called(client, code=code) == worked([1, "north"], functions=FUNCTIONS)
        assert await called(client, code="1") == worked(1, functions=FUNCTIONS)


@pytest.mark.parametrize(
    ("patterns", "functions"),
    [((), []), (("shop.orders",), ["orders"]), (("shop.o*", "shop.refund"), ["orders", "refund"]), (("other.*",), [])],
)
async def test_only_linked_tools_can_be_called(patterns: tuple[str, ...], functions: list[str]) -> None:
    async with connected(replace(SHIPPED, tools=patterns), CONFIG) as client:
        assert (await called(client, code="1"))["available_functions"] == functions
        said = json.loads(await message_of(client, "RuntimeError", "await call_tool('shop.customer', {})"))
        assert said["error_kind"] == "tool_not_found"
        assert await message_of(client, "NameError", "await customer({})") == "name 'customer' is not defined (line 2)"


async def test_tools_that_share_a_name_can_be_called_by_id() -> None:
    config = Config(upstreams={"shop": SHOP, "store": SHOP})
    async with connected(replace(SHIPPED, tools=("shop.refund", "store.orders", "shop.orders")), config) as client:
        names = (await called(client, code="1"))["available_functions"]
        assert [name.rpartition("_")[0] or name for name in names] == ["refund", "orders", "orders", "orders"]
        code = f"[(await {names[1]}({{}}))['matching'], (await {names[2]}({{}}))['matching']]"
        first, second = (await called(client, code=code))["output"]
        assert first == second > 0


@pytest.mark.parametrize("order", [("a", "b"), ("b", "a")], ids="-".join)
async def test_a_shared_name_means_the_tool_that_is_linked_first(order: tuple[str, ...]) -> None:
    tools = tuple(f"{name}.environment" for name in order)
    async with connected(replace(SHIPPED, tools=tools), MARKED) as client:
        names = (await called(client, code="1"))["available_functions"]
        said = [(await called(client, code=f"str(await {name}({{}}))"))["output"] for name in names]
    assert names[0] == "environment"
    assert [[mark for mark in "ab" if f"MARK_{mark}" in text] for text in said] == [[order[0]], [order[0]], [order[1]]]


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("await orders(**{'status': 'open'})", "with one dict"),
        ("await orders(status='open')", "with one dict"),
        ("await orders('open')", "with one dict"),
        ("orders({'status': 'open'})", "write `await` before the call"),
        ("return orders({'status': 'open'})", "`orders` is called but not awaited"),
        ("page = orders({})\npage['orders']", "write `await` before the call"),
        ("await orders({'stats': 'open'})", 'Unknown key "stats"'),
        ("(await orders({}))['order']", 'Unknown key "order"'),
        ("[each['nr'] for each in (await orders({}))['orders']]", 'Unknown key "nr"'),
        ("await shipping_quote({})", "Missing required key 'destination'"),
    ],
)
async def test_a_certain_type_error_of_a_tool_call_stops_the_script_before_it_runs(code: str, said: str) -> None:
    async with connected(config=CONFIG) as client:
        assert said in await message_of(client, "TypingError", code)


@pytest.mark.parametrize(
    ("code", "output"),
    [
        ("if (await orders({}))['matching']:\n    return 1", 1),
        ("import pandas\nlen(pandas.DataFrame((await orders({}))['orders'])) > 0", True),
        ("number = str(number)\nawait orders({})\nnumber + '!'", "5!"),
        ("try:\n    1 + 'a'\nexcept TypeError:\n    x = 'caught'\nawait orders({})\nx", "caught"),
        ("try:\n    import not_there\nexcept ImportError:\n    pass\nawait orders({})\n2", 2),
        ("payload = {}\npayload['status'] = 'open'\n(await orders(payload))['matching']", 1),
        ("def half(n: str) -> str:\n    return n / 2\nawait orders({})\nhalf(4)", 2),
        ("page = await orders({})\npage['mine'] = 1\npage['mine']", 1),
    ],
)
async def test_other_type_errors_do_not_stop_the_script(code: str, output: Any) -> None:
    async with connected(config=CONFIG) as client:
        assert await called(client, code=code, inputs={"number": 5}) == worked(output, functions=FUNCTIONS)


async def test_a_tool_without_types_accepts_and_returns_anything() -> None:
    async def untyped(what: dict[str, Any]) -> Any:
        return what

    async with (
        open_services(tools=[untyped]) as services,
        Client(make_server(services, [SHIPPED]), mode="legacy") as client,
    ):
        code = "(await untyped({'what': {'a': {'b': 1}}}))['a']['b']"
        assert await called(client, code=code) == worked(1, functions=["untyped"])


async def test_a_failed_call_is_an_envelope_and_invalid_arguments_have_their_own_error_type() -> None:
    async with connected(config=CONFIG) as client:
        wrong = await message_of(client, "ToolValidationError", "await call_tool('shop.orders', {'status': 'opn'})")
        assert json.loads(wrong)["error_kind"] == "mcp_input_validation"
        failing = "await customer({'customer_id': 'C-999'})"
        assert json.loads(await message_of(client, "RuntimeError", failing))["tool"].endswith("customer")
        caught = f"import json\ntry:\n    {failing}\nexcept RuntimeError as e:\n    x = json.loads(str(e))['tool']\nx"
        assert (await called(client, code=caught))["success"] is True


async def test_the_description_is_short_and_results_fit_the_schema() -> None:
    async with connected(config=CONFIG) as client:
        tool, *_ = (await client.list_tools()).tools
        results = [
            (await client.call_tool("code_execution", {"code": code})).structured_content
            for code in ("1", "1 / 0", "orders({})", "{'a': None}")
        ]
    assert len(tool.description) / 4 < 400
    assert "5 s, 128 MB, 100 tool calls, recursion 50" in tool.description
    assert "Return dicts and lists; print only for diagnostics." in tool.description
    assert tool.description.endswith("Not for long jobs, scraping, polling, or unbounded loops of calls.")
    for result in results:
        jsonschema_rs.validate(tool.output_schema, result)


async def test_limits_never_exceed_those_of_the_installation() -> None:
    config = Config(limits=replace(Config().limits, calls=3), caps=replace(Config().caps, calls=3))
    async with connected(config=config) as client:
        tool, *_ = (await client.list_tools()).tools
        assert "3 tool calls" in tool.description
        assert await called(client, code="1") == worked(1)


async def test_the_shipped_limits_and_caps_are_those_of_the_contract() -> None:
    limits: Mapping[str, Any] = {"wall_seconds": 5, "memory_bytes": 128 * 2**20, "calls": 100, "recursion": 50}
    caps: Mapping[str, Any] = {"wall_seconds": 15, "memory_bytes": 256 * 2**20, "calls": 100, "recursion": 100}
    assert SHIPPED.limits == {**limits, "output_bytes": 2**20}
    assert SHIPPED.caps == {**caps, "output_bytes": 2**20}
