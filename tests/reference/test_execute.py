"""`execute` through real clients: the forms of its results."""

from __future__ import annotations

import json
import socket
from dataclasses import asdict, replace
from typing import Any

import pytest
from mcp import Client

from paddock import Config
from paddock.definitions.definition import parse_definition
from paddock.errors import BadDefinition
from paddock.model.limits import MB
from paddock.server.services import Services
from tests.reference.execute_tool import EXECUTE, connected, execute, failure, kind, services
from tests.server.conftest import ERAS, _stored_apart, over_stdio, served
from tests.server.shared_services import open_services

__all__ = ["_stored_apart", "services"]
pytestmark = pytest.mark.asyncio(loop_scope="module")
DESCRIPTION_TOKENS = 560


@pytest.mark.parametrize(
    ("code", "text", "structured"),
    [
        ("return {'a':[1,2]}", '{"a":[1,2]}', {"a": [1, 2]}),
        ("{'ö': None}", '{"ö":null}', {"ö": None}),
        ("[1, 'b']", '[1,"b"]', None),
        ("(1, 2)", "[1,2]", None),
        ("{7}", "[7]", None),
        ("'raw \"text\"'", 'raw "text"', None),
        ("''", "", None),
        ("1.5", "1.5", None),
        ("2 > 1", "true", None),
        ("0", "0", None),
    ],
)
async def test_a_value_is_returned_in_the_form_of_its_type(
    services: Services, code: str, text: str, structured: Any
) -> None:
    result = await execute(services, code)
    assert [block.text for block in result.content] == [text]
    assert (result.is_error, result.structured_content) == (False, structured)


@pytest.mark.parametrize("code", ["x = 1", "", "# nothing", "return", "None", "return None", "import sys\nsys.exit(0)"])
async def test_none_is_returned_as_no_content(services: Services, code: str) -> None:
    result = await execute(services, code)
    assert (result.is_error, result.content, result.structured_content) == (False, [], None)


@pytest.mark.parametrize(("end", "is_error"), [("1", False), ("1 / 0", True)])
async def test_output_is_in_the_meta_of_the_result(services: Services, end: str, is_error: bool) -> None:
    result = await execute(services, f"import sys\nprint('out')\nprint('err', file=sys.stderr)\n{end}")
    assert (result.is_error, result.meta["stdout"], result.meta["stderr"]) == (is_error, "out\n", "err\n")
    assert ("ZeroDivisionError" in result.meta.get("traceback", "")) == is_error


async def test_output_over_a_megabyte_is_cut_and_the_script_continues(services: Services) -> None:
    result = await execute(services, f"print('x' * {2 * MB})\n'done'")
    assert (result.content[0].text, len(result.meta["stdout"]), result.meta["truncated"]) == ("done", MB, ["stdout"])


async def test_a_value_of_more_than_a_megabyte_is_an_artifact_with_a_preview(services: Services) -> None:
    async with connected(services) as client:
        result = await client.call_tool("execute", {"code": f"{{'text': 'y' * {2 * MB}}}"})
        given = result.structured_content
        page = await client.call_tool("read_artifact", {"ref": given["artifact"]["id"], "offset": 0, "limit": 30})
    assert (result.is_error, json.loads(result.content[0].text)) == (False, given)
    assert given["preview"].startswith('{"text": "yyy')
    assert given["artifact"]["size"] > 2 * MB
    assert page.structured_content["content"].startswith('{"text": "yyy')


async def test_a_text_of_a_megabyte_of_json_is_returned_whole_and_one_byte_more_is_not(
    services: Services,
) -> None:
    quotes = len('""')
    most = await execute(services, f"'y' * {MB - quotes}")
    more = await execute(services, f"'y' * {MB - quotes + 1}")
    assert (most.is_error, more.is_error, most.structured_content) == (False, False, None)
    assert [block.text for block in most.content] == ["y" * (MB - quotes)]
    assert more.structured_content.keys() == {"artifact", "preview"}
    assert more.structured_content["artifact"]["size"] == MB - quotes + 1  # text is stored without them


async def test_a_deeply_nested_value_is_returned_as_text_and_structured_to_a_depth(services: Services) -> None:
    result = await execute(services, "x = {}\nfor _ in range(300):\n    x = {'in': x}\nx")
    value = result.structured_content
    for _ in range(100):
        value = value["in"]
    assert (result.is_error, value.count("in"), result.content[0].text.count("in")) == (False, 200, 300)


@pytest.mark.parametrize("parameter", ["", "params=", "arguments="])
async def test_a_tool_is_called_with_one_dict_whatever_its_parameter_is_called(
    services: Services, parameter: str
) -> None:
    code = f"await call_tool('shop.orders', {parameter}{{'status': 'paid', 'limit': 1}})"
    result = await execute(services, code)
    assert [order["id"] for order in result.structured_content["orders"]] == [106]


async def test_scripts_that_the_original_rejects_run(services: Services) -> None:
    code = """
from collections import Counter
class Page:
    def __init__(self, rows):
        self.rows = rows
match [1, 2]:
    case [first, *rest]:
        pass
return {"rows": Page([1]).rows, "rest": rest, "most": Counter("aab").most_common(1)[0][0]}
"""
    assert (await execute(services, code)).structured_content == {"rows": [1], "rest": [2], "most": "a"}


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({}, "SCHEMA_REQUIRED"),
        ({"code": 1}, "SCHEMA_TYPE_MISMATCH"),
        ({"code": "1", "timeout": 5}, "SCHEMA_ADDITIONAL_PROPERTIES"),
        ({"code": "x" * 200_000}, "INPUT_VALIDATION_FAILED"),
    ],
)
async def test_it_takes_code_and_nothing_else(services: Services, arguments: dict[str, Any], code: str) -> None:
    async with connected(services) as client:
        said = failure(await client.call_tool("execute", arguments))
    assert (said["tool"], kind(said)) == ("execute", ("mcp_input_validation", code, False))


async def test_the_description_is_short_and_names_the_limits_that_hold(services: Services) -> None:
    async with connected(services) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    text = tools["execute"].description
    assert len(text) / 4 < DESCRIPTION_TOKENS
    for said in (
        "At most 50 calls",
        "30 s of the script's own time, 300 s in all, 256 MB",
        "No unbounded loops of calls",
    ):
        assert said in text
    assert {"search", "get_schema", "tags", "get_envelope_contract", "get_session_state"} <= tools.keys()


@pytest.mark.parametrize(
    "advice",
    [
        "Return structured data",
        "`print` is for diagnostics",
        "Not for waiting: look at a slow report once, return, look again later.",
        "No unbounded loops of calls.",
        "Suspect a result of exactly one page's size.",
        'If `get_session_state` says state_scope "request" or a state_reason, set context again first',
        "Catch it around each call that may fail",
        "repeat unchanged only what is retryable",
        "more than 1 MB as an artifact with a preview",
        "never pass them",
    ],
)
async def test_the_description_gives_the_advice_that_a_script_needs(services: Services, advice: str) -> None:
    async with connected(services) as client:
        (text,) = [tool.description for tool in (await client.list_tools()).tools if tool.name == "execute"]
    assert advice in text


@pytest.mark.parametrize(("limit", "default", "cap"), [("memory_bytes", 256 * MB, 1024 * MB), ("calls", 50, 1000)])
async def test_a_definition_may_raise_its_limits_up_to_the_caps(limit: str, default: int, cap: int) -> None:
    assert (EXECUTE.limits[limit], EXECUTE.caps[limit]) == (default, cap)
    assert parse_definition({**asdict(EXECUTE), "limits": {limit: cap}}).limits[limit] == cap
    with pytest.raises(BadDefinition, match=f"above its cap of {cap}"):
        parse_definition({**asdict(EXECUTE), "limits": {limit: cap + 1}})


async def test_limits_at_the_caps_of_the_definition_apply(services: Services) -> None:
    definition = replace(EXECUTE, limits=EXECUTE.caps)
    async with connected(services, definition) as client:
        (tool, *_) = (await client.list_tools()).tools
    assert ("At most 1000 calls" in tool.description, "1024 MB" in tool.description) == (True, True)
    code = "for n in range(51):\n    last = await call_tool('echo', {'value': n})\nlast"
    assert (await execute(services, code, definition)).structured_content == {"echo": 50}


async def test_a_script_reaches_nothing_of_the_network(services: Services) -> None:
    """Not even with a module that is not refused."""
    code = """
import asyncio
said = []
for host, port in [("127.0.0.1", PORT), ("192.0.2.1", 80)]:
    try:
        await asyncio.wait_for(asyncio.open_connection(host, port), 5)
        said.append("connected")
    except OSError as error:
        said.append(type(error).__name__)
return said
"""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.setblocking(False)
        port = listening.getsockname()[1]
        result = await execute(services, code.replace("PORT", str(port)))
        with pytest.raises(BlockingIOError):
            listening.accept()
    assert json.loads(result.content[0].text) == ["PermissionError"] * 2


async def test_the_caps_of_an_installation_are_not_exceeded() -> None:
    config = Config()
    config = replace(config, caps=replace(config.caps, wall_seconds=60.0))
    async with open_services(config) as services, connected(services) as client:
        (tool, *_) = (await client.list_tools()).tools
        result = await client.call_tool("execute", {"code": "1"})
    assert (result.is_error, "60 s in all" in tool.description) == (False, True)


@pytest.mark.parametrize("era", ERAS)
async def test_execute_works_over_stdio(era: str) -> None:
    async with over_stdio(era, "--definitions", "execute") as client:
        good = await client.call_tool("execute", {"code": "print('x')\nreturn {'a': [1, 2]}"})
        bad = failure(await client.call_tool("execute", {"code": "import socket"}))
    assert (good.structured_content, good.meta["stdout"]) == ({"a": [1, 2]}, "x\n")
    assert bad["error_code"] == "SANDBOX_MODULE_BLOCKED"


@pytest.mark.parametrize("era", ERAS)
async def test_execute_works_over_http(services: Services, era: str) -> None:
    client: Any
    async with served(services, EXECUTE) as address, Client(address, mode=era) as client:
        good = await client.call_tool("execute", {"code": "print('x')\nreturn {'a': [1, 2]}"})
        nothing = await client.call_tool("execute", {"code": "x = 1"})
        bad = failure(await client.call_tool("execute", {"code": "await call_tool('shop.order', {})"}))
    assert (good.structured_content, good.meta["stdout"]) == ({"a": [1, 2]}, "x\n")
    assert (nothing.content, bad["error_kind"]) == ([], "tool_not_found")
