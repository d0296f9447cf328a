"""`code-execution_execute` as clients of the original use it: JavaScript with tools and artifacts."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from typing import Any

import jsonschema_rs
import pytest
import pytest_asyncio
from mcp import Client

from paddock import Config
from paddock.config import ArtifactsConfig
from paddock.definitions.definition import shipped
from paddock.definitions.faces import HostInfo, face_of
from paddock.model.limits import CAPS, Limits
from paddock.server.mcp import make_server
from tests.envelopes import problems
from tests.server.conftest import ERAS, over_stdio, served
from tests.server.shared_services import SharedServices, open_services
from tests.tools.upstreams import seeing, shop

pytestmark = pytest.mark.asyncio(loop_scope="module")
NAME = "code-execution_execute"
SHOP = Config(upstreams={"shop": shop()})
CONNECTED = Config(
    upstreams={"it": seeing()},
    connections={
        "it": [
            {"id": "first", "arguments": {"PCID": "conn_1", "account": "a"}},
            {"id": "second", "arguments": {"PCID": "conn_2"}},
        ]
    },
)
shared = SharedServices()


@pytest_asyncio.fixture(scope="module", loop_scope="module", autouse=True)
async def _closed() -> AsyncIterator[None]:
    yield
    await shared.aclose()


@asynccontextmanager
async def connected(config: Config | None = None) -> AsyncIterator[Any]:
    async with Client(make_server(await shared.get(config), [shipped(NAME)])) as client:
        yield client


@asynccontextmanager
async def connected_over_http(era: str) -> AsyncIterator[Any]:
    services = await shared.get()
    async with served(services, shipped(NAME)) as address, Client(address, mode=era) as client:
        yield client


def way_to(way: str, era: str) -> AbstractAsyncContextManager[Any]:
    return connected_over_http(era) if way == "http" else over_stdio(era, "--definitions", NAME)


async def execute(client: Any, code: str, **arguments: Any) -> Any:
    return await client.call_tool(NAME, {"code": code, **arguments})


def told(answer: Any, *without: str) -> dict[str, Any]:
    """The result, checked to be the same as text and as an object, without its time."""
    values = dict(answer.structured_content)
    assert json.loads(answer.content[0].text) == values
    assert values.pop("executionTime") > 0
    return {name: value for name, value in values.items() if name not in without}


async def gives(code: str, config: Config | None = None, **arguments: Any) -> dict[str, Any]:
    async with connected(config) as client:
        answer = await execute(client, code, **arguments)
    assert not answer.is_error, answer.content
    return told(answer)


async def fails(code: str, config: Config | None = None, **arguments: Any) -> dict[str, Any]:
    async with connected(config) as client:
        answer = await execute(client, code, **arguments)
    assert answer.is_error
    return told(answer)


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("way", ["http", "stdio"])
async def test_the_example_of_the_original_works_over_every_transport(way: str, era: str) -> None:
    code = """
    const emails = [{from: 'a@x', subject: 'hi'}, {from: 'b@x', subject: 'ho'}];
    const csv = emails.map(e => `${e.from},${e.subject}`).join('\\n');
    await codeExec.createArtifact('emails.csv', csv, 'csv');
    const data = await codeExec.readArtifact('emails.csv');
    console.log(data.content);
    return { count: emails.length };
    """
    async with way_to(way, era) as client:
        answer = await execute(client, code)
        values = told(answer)
        (made,) = values.pop("createdArtifacts")
        read = await client.call_tool("read_artifact", {"ref": made["url"]})
    assert (answer.is_error, values) == (False, {"result": {"count": 2}, "logs": ["a@x,hi\nb@x,ho"]})
    assert (made["filename"], made["mimeType"], made["size"]) == ("emails.csv", "text/csv", 13)
    assert read.structured_content["content"] == "a@x,hi\nb@x,ho"
    link = next(block for block in answer.content if block.type == "resource_link")
    assert (link.uri, link.name) == (made["url"], "emails.csv")


async def test_without_logs_and_artifacts_the_response_has_only_result_and_time() -> None:
    async with connected() as client:
        answer = await execute(client, "return 1")
    assert answer.structured_content.keys() == {"result", "executionTime"}


@pytest.mark.parametrize("code", ["", "return", "return undefined", "return null"])
async def test_a_script_that_returns_nothing_has_null_as_its_result(code: str) -> None:
    assert await gives(code) == {"result": None}


@pytest.mark.parametrize(
    ("code", "how"),
    [
        ("const x = 1", "end the script with `x`, or print it."),
        ("let sum = 0\nfor (const n of [1, 2]) {\n  sum += n\n}", "end the script with `sum`, or print it."),
        ("let o = {}; o.a = 1", "end the script with `o`, or print it."),
        ("[1].lenght", "the script's value is undefined. Check the names in its last line, or return something else."),
    ],
)
async def test_a_script_that_ends_without_a_value_is_told_how_to_end_it(code: str, how: str) -> None:
    assert await gives(code) == {"result": None, "logs": [f"[WARN] Nothing was returned or printed: {how}"]}


async def test_logs_are_strings_in_order_with_the_level_of_warnings_and_errors() -> None:
    code = (
        "console.log('a', 1, {b: 2}); console.warn('careful'); console.error('no'); console.info('i'); console.log('z')"
    )
    assert (await gives(code))["logs"] == ["a 1 { b: 2 }", "[WARN] careful", "[ERROR] no", "i", "z"]


async def test_the_execution_time_includes_waiting_for_tools() -> None:
    async with connected() as client:
        answer = await execute(client, "await new Promise(done => setTimeout(done, 40)); return 1")
    assert answer.structured_content["executionTime"] >= 40


@pytest.mark.parametrize(
    ("value", "size"),
    [("'x'.repeat(199)", 201), ("'é'.repeat(100)", 202), ("({rows: Array(100).fill(7)})", 210)],
)
async def test_a_result_over_200_bytes_is_an_artifact_with_a_preview(value: str, size: int) -> None:
    async with connected() as client:
        values = told(await execute(client, f"return {value}"))
        spilled = values["result"]
        read = await client.call_tool("read_artifact", {"ref": spilled["artifactId"]})
    content = read.structured_content["content"]
    assert spilled == {
        "artifactId": spilled["artifactId"],
        "url": f"paddock://artifacts/{spilled['artifactId']}",
        "size": size,
        "preview": content[:200],
    }
    (listed,) = values["createdArtifacts"]
    assert (listed["id"], listed["url"], listed["size"]) == (spilled["artifactId"], spilled["url"], size)
    assert (listed["mimeType"], len(content.encode())) == ("application/json", size)


@pytest.mark.parametrize("value", ["x" * 198, "é" * 99])
async def test_a_result_of_200_bytes_is_returned_unchanged(value: str) -> None:
    assert await gives(f"return {json.dumps(value)}") == {"result": value}


async def test_a_result_that_cannot_be_stored_is_returned_whole() -> None:
    config = Config(artifacts=ArtifactsConfig(artifact_bytes=100))
    assert await gives("return 'x'.repeat(300)", config) == {"result": "x" * 300}


async def test_a_failure_has_name_message_and_line_and_keeps_logs_and_artifacts() -> None:
    code = """console.log('before')
const made = await codeExec.createArtifact('a.txt', 'kept', 'txt')
const rows = [{}]
rows.map(row => row.price.toFixed(2))"""
    values = await fails(code)
    (made,) = values.pop("createdArtifacts")
    assert (made["filename"], made["size"]) == ("a.txt", 4)
    values["error"].pop("hint", None)
    assert values == {
        "error": {"name": "TypeError", "message": "cannot read property 'toFixed' of undefined", "line": 4},
        "logs": ["before"],
    }


@pytest.mark.parametrize(
    ("code", "name", "line"),
    [
        ("const a = 1\nconst b = ;", "SyntaxError", 2),
        ("\n\nthrow new RangeError('far')", "RangeError", 3),
        ("class Mine extends Error { name = 'Mine' }\nthrow new Mine('m')", "Mine", 2),
        ("const f = () => f()\nf()", "RangeError", None),
        ("await new Promise(() => {})", "Error", None),
    ],
)
async def test_the_line_is_the_scripts_own(code: str, name: str, line: int | None) -> None:
    error = (await fails(code))["error"]
    assert error["name"] == name
    assert line is None or error["line"] == line


async def test_a_script_that_takes_too_long_says_its_timeout_and_keeps_its_logs() -> None:
    values = await fails("console.log('so far'); while (true) {}", timeout=1000)
    assert (values["error"]["name"], values["logs"]) == ("TimeoutError", ["so far"])
    assert "timeout of 1000 ms" in values["error"]["message"]


@pytest.mark.parametrize(
    ("code", "name", "said"),
    [
        ("console.log('x'.repeat(2_000_000))", "OutputLimitError", "more than 1 MB"),
        ("return 'x'.repeat(2_000_000)", "OutputLimitError", "codeExec.createArtifact"),
        ("const a = []; while (true) a.push('x'.repeat(1_000_000) + a.length)", "MemoryError", "512 MB"),
    ],
)
async def test_other_limits_have_messages_of_the_tool(code: str, name: str, said: str) -> None:
    error = (await fails(code))["error"]
    assert error["name"] == name
    assert said in error["message"]


@pytest.mark.parametrize("timeout", [999, 0, -1, 900_001, 1e12])
async def test_a_timeout_outside_its_range_is_refused_with_the_range(timeout: float) -> None:
    async with connected() as client:
        answer = await execute(client, "return 1", timeout=timeout)
    said = json.loads(answer.content[0].text)
    assert problems(said) == []
    assert (answer.is_error, said["tool"], said["hints"]) == (True, NAME, ["Give a number from 1000 to 900000."])


@pytest.mark.parametrize("timeout", [1000, 900_000, 1000.5])
async def test_a_timeout_within_its_range_is_accepted(timeout: float) -> None:
    assert await gives("return 1", timeout=timeout) == {"result": 1}


@pytest.mark.parametrize(("arguments", "seconds"), [({}, 600), ({"timeout": 1500}, 1.5)])
async def test_the_default_timeout_is_600_seconds(arguments: dict[str, int], seconds: float) -> None:
    definition = shipped(NAME)
    asked = face_of(definition).parse(definition, {"code": "1", **arguments}, HostInfo(Config(), ("quickjs",)))
    limits = asked.options["limits"]
    assert isinstance(limits, Limits)
    assert limits.wall_seconds == seconds


async def test_code_may_have_at_most_100_kb() -> None:
    async with connected() as client:
        most = await execute(client, "return 1;".ljust(100 * 1024))
        more = await execute(client, "return 1;".ljust(100 * 1024 + 1))
        wide = await execute(client, "return 1; //" + "é" * (50 * 1024))
    assert told(most) == {"result": 1}
    for answer in (more, wide):
        said = json.loads(answer.content[0].text)
        assert problems(said) == []
        assert (answer.is_error, said["summary"].startswith("the code is larger than 100 KB")) == (True, True)


@pytest.mark.parametrize(
    "call",
    [
        "callTool('shop', 'orders', {limit: 2})",
        "callTool('/shop', 'orders', {limit: 2})",
        "callTool('/shop', 'shop_orders', {limit: 2})",
        "callTool('shop', 'shop.orders', {limit: 2})",
    ],
)
async def test_a_tool_is_called_by_path_and_name_and_returns_its_object(call: str) -> None:
    values = await gives(f"const page = await {call}; return [page.matching, page.orders.length]", SHOP)
    assert values == {"result": [7, 2]}


async def test_an_answer_that_is_not_an_object_is_wrapped_in_one() -> None:
    def ping() -> int:
        return 1

    def names() -> list[str]:
        return ["a"]

    async with open_services(tools=[ping, names]) as services, Client(make_server(services, [shipped(NAME)])) as client:
        answer = await execute(client, "return [await callTool('ping', {}), await callTool('names', {})]")
    assert told(answer) == {"result": [{"result": 1}, {"result": ["a"]}]}


async def test_calls_overlap_and_arguments_may_be_left_out() -> None:
    code = """const calls = [callTool('/shop', 'orders'), callTool('/shop', 'inventory', {sku: 'LAMP-1'})]
const [page, stock] = await Promise.all(calls)
return [page.matching, stock.name]"""
    assert await gives(code, SHOP) == {"result": [7, "Desk lamp"]}


async def test_a_script_may_make_at_most_a_thousand_calls() -> None:
    def ping() -> int:
        return 1

    code = """let made = 0
try { while (true) { await callTool('ping', {}); made++ } }
catch (error) { return [made, error.envelope.error_code] }"""
    async with open_services(tools=[ping]) as services, Client(make_server(services, [shipped(NAME)])) as client:
        answer = await execute(client, code)
    assert told(answer) == {"result": [1000, "CALL_LIMIT_EXCEEDED"]}


async def test_a_script_can_catch_a_failed_call_and_continue() -> None:
    code = """const seen = []
for (const id of ['C-1', 'C-99', 'C-2']) {
  try { seen.push((await callTool('/shop', 'customer', {customer_id: id})).name) }
  catch (error) { seen.push(error.envelope.error_code) }
}
return seen"""
    assert await gives(code, SHOP) == {"result": ["Ada Berg", "UNKNOWN_CUSTOMER", "Bruno Conti"]}


async def test_an_uncaught_failed_call_is_the_error_with_envelope_and_line() -> None:
    error = (await fails("const a = 1\nawait callTool('/shop', 'orderz', {})", SHOP))["error"]
    assert error.pop("envelope") == {
        "error_kind": "tool_not_found",
        "tool": "shop.orderz",
        "error_code": "TOOL_NOT_FOUND",
        "retryable": False,
    }
    assert error.pop("hint").startswith("Did you mean 'shop.orders'?")
    assert error == {"name": "ToolError", "message": "shop.orderz: There is no tool 'shop.orderz'.", "line": 2}


@pytest.mark.parametrize("name", ["PCID", "pcid", "connectionId", "connection_id"])
async def test_a_connection_id_in_the_arguments_is_refused(name: str) -> None:
    error = (await fails(f"return await callTool('/shop', 'orders', {{{name}: 'conn_1'}})", SHOP))["error"]
    assert (error["envelope"]["error_code"], error["hint"]) == ("CONTEXT_NOT_ALLOWED", f"Call again without '{name}'.")


async def test_a_code_tool_is_not_callable_from_a_script() -> None:
    error = (await fails(f"await callTool('/code-execution', '{NAME}', {{code: '1'}})", SHOP))["error"]
    assert error["envelope"]["error_kind"] == "tool_not_found"


@pytest.mark.parametrize(
    ("selections", "used"),
    [({}, "conn_1"), ({"it": "second"}, "conn_2"), ({"/it": "first"}, "conn_1")],
)
async def test_a_call_uses_the_selected_connection_or_the_first_one(selections: dict[str, str], used: str) -> None:
    code = "return (await callTool('/it', 'items', {})).arguments.PCID"
    assert await gives(code, CONNECTED, connectionSelections=selections) == {"result": used}


async def test_a_selection_for_one_run_overrides_the_session_and_does_not_change_it() -> None:
    code = "return (await callTool('it', 'items', {})).arguments.PCID"
    async with connected(CONNECTED) as client:
        await client.call_tool("select_connections", {"it": "second"})
        answers = [await execute(client, code, **more) for more in ({}, {"connectionSelections": {"it": "first"}}, {})]
    assert [told(answer)["result"] for answer in answers] == ["conn_2", "conn_1", "conn_2"]


@pytest.mark.parametrize(
    ("selections", "words"),
    [
        ({"it": "secnod"}, "'it' has no connection 'secnod'; did you mean 'second'?"),
        ({"crm": "first"}, "'crm' has no connections to choose from; known here: it"),
    ],
)
async def test_an_unknown_selection_is_refused_with_the_known_ones(selections: dict[str, str], words: str) -> None:
    async with connected(CONNECTED) as client:
        answer = await execute(client, "return 1", connectionSelections=selections)
    assert answer.is_error
    assert words in answer.content[0].text


@pytest.mark.parametrize("name", ["PCID", "pcid", "account"])
async def test_connection_ids_and_context_fields_cannot_be_passed_as_arguments(name: str) -> None:
    error = (await fails(f"await callTool('it', 'items', {{{name}: 'conn_2'}})", CONNECTED))["error"]
    assert error["envelope"]["error_code"] == "CONTEXT_NOT_ALLOWED"


@pytest.mark.parametrize(
    ("file_type", "mime"),
    [
        ("csv", "text/csv"),
        ("txt", "text/plain"),
        ("json", "application/json"),
        ("html", "text/html"),
        ("xml", "application/xml"),
        ("js", "text/javascript"),
        ("ts", "text/x-typescript"),
        ("md", "text/markdown"),
        ("py", "text/x-python"),
    ],
)
async def test_artifacts_have_the_types_of_the_original(file_type: str, mime: str) -> None:
    code = f"const made = await codeExec.createArtifact('it', 'x', '{file_type}')\n"
    values = await gives(f"{code}return [...Object.keys(made), made.mimeType]")
    assert values["result"] == ["success", "id", "url", "filename", "mimeType", "size", mime]
    assert [made["mimeType"] for made in values["createdArtifacts"]] == [mime]


async def test_an_artifact_is_read_by_id_filename_or_url_also_in_a_later_run() -> None:
    making = "const made = await codeExec.createArtifact('a.txt', 'é', 'txt'); return [made.id, made.url]"
    async with connected() as client:
        refs = [*told(await execute(client, making))["result"], "a.txt"]
        reading = f"return Promise.all({json.dumps(refs)}.map(ref => codeExec.readArtifact(ref)))"
        answer = await execute(
            client, reading + ".then(all => all.map(one => [Object.keys(one).sort().join(), one.content]))"
        )
    assert told(answer, "createdArtifacts", "logs")["result"] == [["content,filename,mimeType,size,success", "é"]] * 3


async def test_the_newest_of_several_artifacts_with_one_name_is_read() -> None:
    code = """await codeExec.createArtifact('a.txt', 'old', 'txt')
await codeExec.createArtifact('a.txt', 'new', 'txt')
return (await codeExec.readArtifact('a.txt')).content"""
    assert (await gives(code))["result"] == "new"


async def test_a_file_name_is_looked_up_in_the_session_and_then_in_all_artifacts() -> None:
    async def read(client: Any) -> Any:
        return told(await execute(client, "return (await codeExec.readArtifact('r')).content"))["result"]

    write = "return (await codeExec.createArtifact('r', '{}', 'txt')).success"
    async with open_services() as services, served(services, shipped(NAME)) as address:
        async with Client(address, mode="legacy") as one, Client(address, mode="legacy") as other:
            await execute(one, write.format("of one"))
            assert [await read(one), await read(other)] == ["of one", "of one"]
            await execute(other, write.format("of other"))
            assert [await read(one), await read(other)] == ["of one", "of other"]
        async with Client(address, mode="legacy") as third:
            assert await read(third) == "of other"  # the newest


async def test_the_artifact_tools_page_search_write_and_list() -> None:
    async with connected() as client:

        async def says(tool: str, *keys: str, **arguments: Any) -> list[Any]:
            values = (await client.call_tool(tool, arguments)).structured_content
            return [values[key] for key in ("success", *keys)]

        async def finds(**search: Any) -> list[Any]:
            _, matches = await says("read_artifact", "matches", ref="log.txt", **search)
            return [[*each.get("before", []), each["line"], *each.get("after", [])] for each in matches]

        names = {tool.name for tool in (await client.list_tools()).tools}
        assert names >= {"read_artifact", "write_artifact", "list_artifacts"}
        lines = "".join(f"line {number}\n" for number in range(1, 13))
        await execute(client, f"await codeExec.createArtifact('log.txt', {json.dumps(lines)}, 'txt')")
        page = ("read_artifact", "content", "more")
        assert await says(*page, ref="log.txt", offset=5, limit=4) == [True, "1\nli", True]
        last = "line 11\nline 12\n"
        assert await says(*page, ref="log.txt", unit="lines", offset=10, limit=9) == [True, last, False]
        around = [["line 6", 7, "line 8"]]
        assert await finds(search="LINE 7", context_lines=1) == around
        assert await finds(smartGrepQuery="line 7", context_lines=1) == around
        assert await finds(search=r"^line \d2$", is_regex=True, context_lines=0) == [[12]]
        assert await says("write_artifact", "created", filename="new.md", content="new") == [True, True]
        assert await says("write_artifact", "size", filename="log.txt", content="a", mode="replace") == [True, 1]
        assert await says("write_artifact", "size", filename="log.txt", content="bc", mode="append") == [True, 3]
        assert told(await execute(client, "return (await codeExec.readArtifact('log.txt')).content"))["result"] == "abc"
        _, listed = await says("list_artifacts", "artifacts", limit=2)
        assert {each["filename"]: each["size"] for each in listed} == {"log.txt": 3, "new.md": 3}


async def test_an_artifact_that_cannot_be_stored_or_read_is_not_an_exception() -> None:
    code = "const tried = [await codeExec.readArtifact('gone'), await codeExec.createArtifact('', 'x', 'txt')]\n"
    problem = "a file name must have 1 to 255 characters and no control characters"
    assert await gives(f"{code}return tried.map(one => one.success)") == {
        "result": [False, False],
        "logs": [f'[WARN] codeExec.createArtifact("") on line 1 created no artifact: {problem}.'],
    }


@pytest.mark.parametrize("name", ["require", "fetch", "eval", "process", "fs", "module", "Buffer", "WebAssembly"])
async def test_globals_that_reach_outside_are_absent(name: str) -> None:
    assert await gives(f"return typeof {name}") == {"result": "undefined"}


async def test_modules_cannot_be_imported() -> None:
    assert await gives("return await import('fs').catch(error => error.name)") == {"result": "TypeError"}
    assert (await fails("import fs from 'fs'\nreturn 1"))["error"]["name"] == "SyntaxError"


@pytest.mark.parametrize(
    "name",
    ["setTimeout", "setInterval", "clearTimeout", "clearInterval", "structuredClone", "URL", "TextEncoder", "atob"],
)
async def test_timers_and_harmless_web_globals_are_available(name: str) -> None:
    assert await gives(f"return typeof {name}") == {"result": "function"}


async def test_pending_timers_end_with_the_run() -> None:
    code = "setInterval(() => console.log('tick'), 1); setTimeout(() => console.log('late'), 500_000); return 'done'"
    values = await gives(code)
    assert values["result"] == "done"
    assert "late" not in values.get("logs", [])


async def test_only_artifacts_persist_between_scripts() -> None:
    async with connected() as client:
        await execute(client, "globalThis.left = 1; return 1")
        answer = await execute(client, "return typeof left")
    assert told(answer) == {"result": "undefined"}


async def test_the_description_is_short_complete_and_true() -> None:
    codes = [
        "return {a: 1}",
        "console.log('x'); return 'x'.repeat(300)",
        "throw new Error('x')",
        "await callTool('x', {})",
    ]
    async with connected() as client:
        tool, *_ = (await client.list_tools()).tools
        answers = [await execute(client, code) for code in codes]
    assert (tool.name, tool.title) == (NAME, "Execute JavaScript")
    assert len(tool.description) / 4 < 450
    assert "600000 ms (`timeout`: 1000 to 900000), 512 MB, 1000 calls, 1 MB" in tool.description
    assert "Not for unbounded loops of calls (`while (hasMore)`)" in tool.description
    assert "A result of exactly 30, 50 or 100 is likely one page, not the total." in tool.description
    assert tool.input_schema["required"] == ["code"]
    timeout = tool.input_schema["properties"]["timeout"]
    assert (timeout["default"], timeout["minimum"], timeout["maximum"]) == (600_000, 1000, 900_000)
    for answer in answers:
        jsonschema_rs.validate(tool.output_schema, answer.structured_content)


async def test_the_description_has_the_limits_of_the_installation() -> None:
    config = Config(caps=replace(CAPS, wall_seconds=60.0, calls=10))
    async with connected(config) as client:
        tool, *_ = (await client.list_tools()).tools
        refused = await execute(client, "return 1", timeout=61_000)
        answer = await execute(client, "return 1")
    assert tool.input_schema["properties"]["timeout"]["maximum"] == 60_000
    assert "60000 ms (`timeout`: 1000 to 60000), 512 MB, 10 calls" in tool.description
    assert (refused.is_error, told(answer)) == (True, {"result": 1})


async def test_the_run_is_stored_with_its_definition() -> None:
    async with open_services() as services:
        async with Client(make_server(services, [shipped(NAME)])) as client:
            await execute(client, "return 1")
        (line,) = await services.store.runs.list("local")
    assert (line.definition, line.language, line.engine, line.verdict) == (NAME, "javascript", "quickjs", "ok")
