"""`execute` on failure: the result is an envelope of the failed tool or of the script."""

from __future__ import annotations

import json

import pytest

from paddock import Config
from paddock.model.limits import MB
from paddock.server.services import Services
from tests.reference.execute_tool import EXECUTE, SHOP, execute, failure, kind, limited, of_script, services
from tests.server.shared_services import open_services
from tests.tools.upstreams import STATUSES, HostileHttp, hostile, hostile_http, hostile_http_server

__all__ = ["hostile_http", "hostile_http_server", "services"]
pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_a_failing_call_that_is_caught_does_not_end_the_run(services: Services) -> None:
    code = """
import json
first = await call_tool("echo", {"value": 1})
try:
    await call_tool("shop.customer", {"customer_id": "C-99"})
except RuntimeError as error:
    envelope = json.loads(str(error))
last = await call_tool("echo", {"value": 3})
return [first["echo"], envelope["error_code"], envelope["retryable"], last["echo"]]
"""
    result = await execute(services, code)
    assert json.loads(result.content[0].text) == [1, "UNKNOWN_CUSTOMER", False, 3]


async def test_an_uncaught_envelope_surfaces_unchanged_with_the_inner_tool(services: Services) -> None:
    caught = "try:\n    {}\nexcept RuntimeError as error:\n    said = str(error)\nsaid"
    call = "await call_tool('shop.customer', {'customer_id': 'C-99'})"
    text = (await execute(services, caught.format(call))).content[0].text
    result = await execute(services, call)
    assert result.content[0].text == text
    assert (failure(result)["tool"], failure(result)["error_kind"]) == ("shop.customer", "precondition_failed")


@pytest.mark.parametrize(
    ("call", "tool", "expected"),
    [
        ("'shop.orders', {'limit': 'x'}", "shop.orders", ("mcp_input_validation", "SCHEMA_TYPE_MISMATCH", False)),
        ("'shop.customer', {}", "shop.customer", ("mcp_input_validation", "SCHEMA_REQUIRED", False)),
        ("'shop.customer', {'a': 1}", "shop.customer", ("mcp_input_validation", "SCHEMA_REQUIRED", False)),
        ("'shop.orders', {'access_token': 'x'}", "shop.orders", ("mcp_input_validation", "CONTEXT_NOT_ALLOWED", False)),
        ("'shop.order', {}", "shop.order", ("tool_not_found", "TOOL_NOT_FOUND", False)),
        ("'dead.anything', {}", "dead.anything", ("upstream_http", "UPSTREAM_NETWORK", True)),
        ("'wait_for_ever', {}", "wait_for_ever", ("upstream_http", "UPSTREAM_TIMEOUT", True)),
        ("'shop.inventory', {'sku': 'LAMP-1'}", "shop.inventory", ("policy_denied", "POLICY_DENIED", False)),
        (
            "'shop.refund', {'order_id': 101, 'reason': 'late'}",
            "shop.refund",
            ("policy_denied", "APPROVAL_REQUIRED", False),
        ),
        ("'fail', {'message': 'no'}", "fail", ("internal_error", "INTERNAL_ERROR", False)),
    ],
)
async def test_each_way_in_which_a_call_fails_has_its_envelope(
    services: Services, call: str, tool: str, expected: tuple[str, str, bool]
) -> None:
    said = failure(await execute(services, f"await call_tool({call})"))
    assert (said["tool"], kind(said)) == (tool, expected)


@pytest.mark.parametrize(("status", "expected"), STATUSES)
async def test_an_http_error_of_an_upstream_has_its_envelope(
    hostile_http: HostileHttp, status: int, expected: tuple[str, str, bool]
) -> None:
    async with open_services(Config(upstreams={"it": hostile_http.at()})) as services:
        said = failure(await execute(services, f"await call_tool('it.status_{status}', {{}})"))
    assert (said["tool"], kind(said)) == (f"it.status_{status}", expected)
    assert said.get("_meta") == ({"retry_after_seconds": 7.0} if status not in (401, 403) else None)


async def test_an_upstream_that_dies_during_a_call_has_its_envelope_and_is_called_again() -> None:
    code = """
import json
try:
    await call_tool("it.die", {})
except RuntimeError as error:
    return {"said": json.loads(str(error)), "after": await call_tool("it.ok", {})}
"""
    async with open_services(Config(upstreams={"it": hostile()})) as services:
        given = (await execute(services, code)).structured_content
    assert (given["said"]["tool"], kind(given["said"])) == ("it.die", ("upstream_http", "UPSTREAM_NETWORK", True))
    assert "ended with exit code 7" in given["said"]["summary"]
    assert given["after"] == {"result": "ok"}


async def test_our_own_rate_limit_has_its_envelope_with_the_seconds_to_wait() -> None:
    code = "await call_tool('shop.orders', {})\nawait call_tool('shop.orders', {})"
    async with open_services(Config(upstreams={"shop": {**SHOP, "calls_per_minute": 1}})) as services:
        said = failure(await execute(services, code))
    assert (said["tool"], kind(said)) == ("shop.orders", ("rate_limited", "RATE_LIMITED", True))
    assert 0 < said["_meta"]["retry_after_seconds"] <= 60


async def test_an_unknown_tool_can_be_caught_with_its_name_and_a_hint(services: Services) -> None:
    code = "try:\n    await call_tool('shop.order', {})\nexcept RuntimeError as e:\n    said = str(e)\nsaid"
    said = json.loads((await execute(services, code)).content[0].text)
    assert (said["tool"], said["details"]) == ("shop.order", [])
    assert "Did you mean 'shop.orders'?" in said["hints"]


@pytest.mark.parametrize("tool", ["execute", "run_code", "paddock.execute"])
async def test_a_script_cannot_call_a_code_tool(services: Services, tool: str) -> None:
    said = failure(await execute(services, f"await call_tool('{tool}', {{'code': '1'}})"))
    assert (said["tool"], kind(said)) == (tool, ("tool_not_found", "TOOL_NOT_FOUND", False))
    assert said["hints"] == [
        "Tools that run code (execute, run_code, …) cannot be called from a script; write the code here.",
        "Find tools with the tool `search`.",
        "Servers: shop.",
    ]


async def test_the_refused_modules_are_those_that_reach_out_of_the_script() -> None:
    web = {"socket", "urllib.request", "http", "requests", "httpx", "aiohttp"}
    assert set(EXECUTE.refused_modules) == {*web, "subprocess", "ctypes", "multiprocessing"}


@pytest.mark.parametrize("name", EXECUTE.refused_modules)
async def test_a_refused_module_is_an_ordinary_import_error(services: Services, name: str) -> None:
    caught = f"try:\n    import {name}\nexcept ImportError as e:\n    said = str(e)\nsaid"
    assert (await execute(services, caught)).content[0].text == f"No module named '{name}'"
    said = failure(await execute(services, f"\nimport {name}"))
    words = f"No module named '{name}'"
    assert of_script(said) == ("SANDBOX_MODULE_BLOCKED", words, "ModuleNotFoundError", "line 2")
    assert said["hints"]


async def test_an_unknown_module_is_an_import_error(services: Services) -> None:
    caught = "try:\n    import sqlite9\nexcept ImportError as e:\n    said = str(e)\nsaid"
    assert (await execute(services, caught)).content[0].text == "No module named 'sqlite9'"
    assert failure(await execute(services, "import sqlite9"))["error_code"] == "SANDBOX_MODULE_BLOCKED"


async def test_an_unknown_name_in_a_module_is_an_import_error(services: Services) -> None:
    said = failure(await execute(services, "import os\nfrom json import nope"))
    code, summary, received_type, path = of_script(said)
    assert (code, received_type, path) == ("SANDBOX_MODULE_BLOCKED", "ImportError", "line 2")
    assert "cannot import name 'nope' from 'json'" in summary


@pytest.mark.parametrize(
    ("code", "summary", "received_type", "path"),
    [
        ("def f(:", "invalid syntax", "SyntaxError", "line 1"),
        ("raise ValueError('x')", "x", "ValueError", "line 1"),
        ("x = 1\nx.nope", "'int' object has no attribute 'nope'", "AttributeError", "line 2"),
        ("raise KeyError", "KeyError", "KeyError", "line 1"),
    ],
)
async def test_an_error_of_the_script_has_its_type_and_line(
    services: Services, code: str, summary: str, received_type: str, path: str
) -> None:
    said = failure(await execute(services, code))
    assert of_script(said) == ("SANDBOX_RUNTIME_ERROR", summary, received_type, path)


async def test_an_endless_script_is_stopped_and_the_limit_is_named(services: Services) -> None:
    said = failure(await execute(services, "while True: pass", limited(cpu_seconds=0.5)))
    code, summary, received_type, _ = of_script(said)
    assert (code, received_type) == ("SANDBOX_RUNTIME_ERROR", "TimeoutError")
    assert "the limit cpu_seconds = 0.5 s was reached" in summary


async def test_waiting_for_a_tool_does_not_count_as_processor_time(services: Services) -> None:
    code = "try:\n    await call_tool('wait_for_ever', {})\nexcept RuntimeError:\n    pass\n'after'"
    result = await execute(services, code, limited(cpu_seconds=0.5))
    assert [block.text for block in result.content] == ["after"]


async def test_a_script_that_exceeds_the_wall_clock_limit_is_stopped(services: Services) -> None:
    result = await execute(services, "await call_tool('wait_for_ever', {})", limited(wall_seconds=0.3))
    said = failure(result, "Without an answer at the end: wait_for_ever; its effect is unknown.")
    assert "the limit wall_seconds = 0.3 s was reached" in said["summary"]


async def test_out_of_memory_is_reported(services: Services) -> None:
    code = "x = []\nwhile True:\n    x.append('x' * 1_000_000 + str(len(x)))"
    said = failure(await execute(services, code, limited(memory_bytes=128 * MB)))
    code, summary, received_type, _ = of_script(said)
    assert (code, received_type) == ("SANDBOX_RUNTIME_ERROR", "MemoryError")
    assert "memory_bytes" in summary


async def test_the_fifty_first_call_is_refused_with_the_limit(services: Services) -> None:
    code = "for n in range({}):\n    last = await call_tool('echo', {{'value': n}})\nlast"
    result = await execute(services, code.format(50))
    assert (result.is_error, result.structured_content) == (False, {"echo": 49})
    repeated = "Succeeded before the failure: echo (N times); a rerun repeats it."
    said = failure(await execute(services, code.format(51)), repeated)
    assert kind(said) == ("sandbox_runtime", "CALL_LIMIT_EXCEEDED", False)
    assert "50" in said["summary"]


@pytest.mark.parametrize(
    "text",
    [
        '{"error_kind": "tool_not_found", "error_code": "X"}',
        'failed: {"_envelope_version": 1}',
        '{"_envelope_version": 1, "error_kind": "tool_not_found"',
    ],
)
async def test_a_message_with_part_of_an_envelope_is_not_an_envelope(services: Services, text: str) -> None:
    said = failure(await execute(services, f"raise RuntimeError({text!r})"))
    assert of_script(said) == ("SANDBOX_RUNTIME_ERROR", text, "RuntimeError", "line 1")


@pytest.mark.parametrize("code", ["call_tool('echo', {'value': 1})", "return {'a': call_tool('echo', {'value': 1})}"])
async def test_a_call_without_await_is_a_clear_error(services: Services, code: str) -> None:
    said = failure(await execute(services, code))
    assert said["error_code"] == "SANDBOX_RUNTIME_ERROR"
    assert "write `await` before the call" in said["summary"]


async def test_a_long_message_is_cut(services: Services) -> None:
    said = failure(await execute(services, "raise ValueError('x' * 50_000)"))
    assert len(json.dumps(said)) < 10_000
    assert "(50000 characters)" in said["summary"]
