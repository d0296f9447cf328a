"""What reaches a model is short: long output is cut, artifacts have all of it, and images are shown as images."""

from __future__ import annotations

import asyncio
import base64
import gc
import json
import re
import sys
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from typing import Any

import pytest
from mcp import Client

from paddock import Config, Paddock
from paddock.definitions.definition import SHIPPED, shipped
from paddock.definitions.faces.native import summarize
from paddock.model.environments import EnvironmentConfig
from paddock.model.limits import CAPS, MB
from paddock.model.request import LOCAL
from paddock.server.artifacts import IMAGE_BYTES
from paddock.server.mcp import make_server
from paddock.server.services import Services
from paddock.server.sessions import Caller, ignore_progress
from paddock.server.tool import EVENT_BYTES, STRUCTURED_DEPTH
from paddock.store.runs import StoredRun
from paddock.uncancelled import LongWork
from tests.envelopes import problems
from tests.server.conftest import ERAS, Connect, in_memory, over_http
from tests.server.shared_services import open_services

pytestmark = pytest.mark.asyncio(loop_scope="module")
PRINTS = "import sys\nprint('a' * 10_000 + 'é' * 10_000 + 'z' * 10_000)\nprint('e' * 20_000, file=sys.stderr)\n"
PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


def offered(services: Services, *names: str) -> AbstractAsyncContextManager[Any]:
    return Client(make_server(services, [shipped(name) for name in names]))


def letters(text: str) -> int:
    """Count letters."""
    return len(text)


async def values_of(client: Any, tool: str, **arguments: Any) -> dict[str, Any]:
    return dict((await client.call_tool(tool, arguments)).structured_content)


async def whole(client: Any, ref: str) -> str:
    answer = await values_of(client, "read_artifact", ref=ref, limit=100_000)
    assert answer["more"] is False
    return str(answer["content"])


async def test_long_output_is_cut_in_the_middle_and_an_artifact_has_all_of_it(
    services: Services, connect: Connect
) -> None:
    async with connect(services) as client:
        answer = await client.call_tool("run_code", {"code": f"{PRINTS}'v' * 20_000"})
        values = answer.structured_content
        links = {each.name.partition("-")[0]: each for each in answer.content if each.type == "resource_link"}
        stdout = await whole(client, links["stdout"].uri)
        stderr = await whole(client, links["stderr"].uri)
        output = await whole(client, values["output"]["artifact"]["id"])
    head, note, tail = values["stdout"].partition(
        f"; the whole text is in the artifact {links['stdout'].uri.rpartition('/')[2]}"
    )
    assert note
    assert head == f"{'a' * 8192}\n[… 13,617 characters are left out"
    assert tail == f": use read_artifact …]\n{'z' * 8191}\n"
    assert stdout == "a" * 10_000 + "é" * 10_000 + "z" * 10_000 + "\n"
    assert len(values["stderr"]) < 17_000
    assert stderr == "e" * 20_000 + "\n"
    assert output == "v" * 20_000
    assert "[… 18,000 characters are left out …]" in values["output"]["preview"]


async def test_output_of_16_kb_is_returned_whole(services: Services) -> None:
    async with in_memory("auto")(services) as client:
        values = await values_of(client, "run_code", code="print('x' * 16_383)\n'v' * 16_382")
    assert (len(values["stdout"]), values["output"], "artifacts" in values) == (16_384, "v" * 16_382, False)


async def test_requests_at_the_same_time_store_the_output_of_a_run_once(services: Services) -> None:
    async with in_memory("auto")(services) as client:
        run_id = (await values_of(client, "run_code", code="'v' * 10_000"))["run_id"]
        await asyncio.gather(*(values_of(client, "read_artifact", ref=run_id) for _ in range(5)))
        listed = await values_of(client, "list_artifacts", filename=f"result-{run_id}*")
    assert len(listed["artifacts"]) == 1


async def test_a_repeated_request_that_waits_for_its_turn_holds_no_result(services: Services) -> None:
    arguments, work = {"code": "1", "idempotency_key": "repeated"}, LongWork()
    services._turns[LOCAL, "results"] = work
    async with in_memory("auto")(services) as client, asyncio.timeout(60):
        await values_of(client, "run_code", **arguments)
        async with work._turn:
            again = asyncio.create_task(values_of(client, "run_code", **arguments))
            while not work._turn._waiters:
                await asyncio.sleep(0.01)
            assert not [each for each in gc.get_objects() if type(each) is StoredRun]
        assert (await again)["verdict"] == "ok"


async def test_a_run_is_shown_while_a_search_of_tools_waits_for_a_server(services: Services) -> None:
    async with in_memory("auto")(services) as client, asyncio.timeout(60):
        run_id = (await values_of(client, "run_code", code="1"))["run_id"]
        has_connected = asyncio.Event()
        search = asyncio.create_task(services.in_turn(Caller(LOCAL, None, ignore_progress), has_connected.wait))
        await asyncio.sleep(0)  # lets it begin
        assert (await values_of(client, "get_run", run_id=run_id))["output"] == 1
        assert (await values_of(client, "read_artifact", ref=run_id))["content"] == "1"
        has_connected.set()
        await search


async def test_get_run_cuts_what_run_code_cuts_and_stores_it_once(services: Services) -> None:
    async with in_memory("auto")(services) as client:
        run_id = (await values_of(client, "run_code", code=PRINTS, detach=True))["run_id"]
        async with asyncio.timeout(60):
            while (shown := await values_of(client, "get_run", run_id=run_id))["verdict"] == "running":
                await asyncio.sleep(0.01)
        again = await values_of(client, "get_run", run_id=run_id)
        assert await whole(client, f"stderr-{run_id}.txt") == "e" * 20_000 + "\n"
    assert "13,617 characters are left out" in shown["stdout"]
    assert again == shown


async def test_the_size_of_answers_is_a_setting() -> None:
    config = Config(server=replace(Config().server, answer_bytes=1000))
    async with open_services(config) as services, in_memory("auto")(services) as client:
        values = await values_of(client, "run_code", code="print('x' * 1999)\n'v' * 999")
        tool = (await client.list_tools()).tools[0]
    assert "1,000 characters are left out" in values["stdout"]
    assert "artifact" in values["output"]
    assert "over 0.976562 KB" in (tool.description or "")


async def test_execute_cuts_what_was_printed_in_the_same_way(services: Services) -> None:
    async with offered(services, "execute") as client:
        answer = await client.call_tool("execute", {"code": "print('a' * 20_000 + 'z' * 20_000)"})
        text, link = answer.content
        assert (text.type, link.type) == ("text", "resource_link")
        assert await whole(client, link.uri) == "a" * 20_000 + "z" * 20_000 + "\n"
    assert "\n[… 23,617 characters are left out; the whole text is in the artifact a_" in text.text
    assert text.text.endswith("z\n[The script printed this and returned nothing. `return` gives a value.]")


async def test_a_long_message_of_an_error_is_cut(services: Services) -> None:
    async with in_memory("auto")(services) as client:
        values = await values_of(client, "run_code", code="raise ValueError('y' * 100_000)")
    assert "characters are left out …]" in values["error"]["message"]
    assert len(values["error"]["message"]) < 4100


async def test_read_artifact_finds_the_output_of_a_run_by_its_id(services: Services, connect: Connect) -> None:
    async with connect(services) as client:
        ran = await values_of(client, "run_code", code="print('first line')\n{'a': 1}")
        silent = await values_of(client, "run_code", code="None")
        read = await values_of(client, "read_artifact", ref=ran["run_id"])
        found = await values_of(client, "read_artifact", ref=ran["run_id"], search="LINE", context_lines=0)
        value = await values_of(client, "read_artifact", ref=f"result-{ran['run_id']}.json")
        nothing = await values_of(client, "read_artifact", ref=silent["run_id"])
        unknown = await values_of(client, "read_artifact", ref="r_AAAAAAAAAAAAAAAA")
    assert (read["content"], read["hint"]) == ("first line\n", f"The run's other output: {value['filename']}.")
    assert [match["text"] for match in found["matches"]] == ["first line"]
    assert json.loads(value["content"]) == {"a": 1}
    assert nothing["error"] == f"the run {silent['run_id']} printed and returned nothing"
    assert "there is no artifact" in unknown["error"]


async def test_a_large_value_is_stored_so_that_it_can_be_searched_and_read_by_lines(services: Services) -> None:
    rows = "[{'id': n, 'city': 'München'} for n in range(2000)]"
    async with in_memory("auto")(services) as client:
        listed = (await values_of(client, "run_code", code=rows))["output"]
        text = (await values_of(client, "run_code", code="'\\n'.join(f'line {n}, Øre' for n in range(5000))"))["output"]
        found = await values_of(client, "read_artifact", ref=listed["artifact"]["id"], search="München", limit=2)
        lines = await values_of(client, "read_artifact", ref=text["artifact"]["id"], unit="lines", offset=-2)
        whole_list = json.loads(await whole(client, listed["artifact"]["url"]))
    assert [match["text"] for match in found["matches"]] == [f'{{"id": {n}, "city": "München"}},' for n in range(2)]
    assert lines["content"] == "line 4998, Øre\nline 4999, Øre"
    assert text["artifact"]["mime_type"] == "text/plain"
    assert len(whole_list) == 2000
    assert "München" in listed["preview"]


async def test_read_artifact_says_if_several_artifacts_have_the_name(services: Services) -> None:
    async with in_memory("auto")(services) as client:
        made = [await values_of(client, "write_artifact", filename="twice.txt", content=text) for text in "ab"]
        named = await values_of(client, "read_artifact", ref="twice.txt")
        by_id = await values_of(client, "read_artifact", ref=made[0]["id"])
    assert named["content"] == "b"
    assert named["hint"].startswith(f"2 artifacts have this name; this is {made[1]['id']}, made 20")
    assert "hint" not in by_id


async def test_an_unknown_argument_is_told_only_of_those_that_are_listed(services: Services) -> None:
    async with in_memory("auto")(services) as client:
        listed = {tool.name: tool for tool in (await client.list_tools()).tools}
        for name, required in (("read_artifact", {"ref": "a"}), ("run_code", {"code": "1"})):
            said = json.loads((await client.call_tool(name, {**required, "zzzzzzzz": 1})).content[0].text)
            known = re.findall(r"'(\w+)'", next(hint for hint in said["hints"] if hint.startswith("Known fields")))
            assert set(known) <= set(listed[name].input_schema["properties"])


async def test_write_artifact_says_how_a_script_reads_the_file(services: Services) -> None:
    async with in_memory("auto")(services) as client:
        made = await values_of(client, "write_artifact", filename="a.csv", content="n\n1\n")
        python, javascript = made["hint"].removeprefix("A script reads it with `").split("`, in JavaScript `")
        read = await values_of(client, "run_code", code=python)
        node = await values_of(client, "run_code", code=javascript.removesuffix("`."), language="javascript")
    assert (read["output"], node["output"]) == ("n\n1\n", "n\n1\n")
    async with offered(services, "python") as client:
        assert "hint" not in await values_of(client, "write_artifact", filename="a.csv", content="x")


async def test_get_run_shows_the_last_progress_also_when_the_run_has_ended(services: Services) -> None:
    code = "import asyncio\nawait report_progress(2, 5, 'half')\nawait asyncio.sleep(600)"
    async with in_memory("auto")(services) as client:
        run_id = (await values_of(client, "run_code", code=code, detach=True, timeout=600))["run_id"]
        async with asyncio.timeout(60):
            while "progress" not in (shown := await values_of(client, "get_run", run_id=run_id)):
                await asyncio.sleep(0.01)
        await client.call_tool("cancel_run", {"run_id": run_id})
        ended = await values_of(client, "get_run", run_id=run_id)
    assert (shown["verdict"], ended["verdict"]) == ("running", "cancelled")
    assert shown["progress"] == ended["progress"] == {"done": 2.0, "total": 5.0, "message": "half"}


@pytest.mark.parametrize("name", SHIPPED)
async def test_runs_can_be_fetched_only_where_they_can_be_detached(services: Services, name: str) -> None:
    async with offered(services, name) as client:
        tools = {tool.name for tool in (await client.list_tools()).tools}
    assert {"get_run", "cancel_run"} & tools == ({"get_run", "cancel_run"} if name == "run_code" else set())


@pytest.mark.parametrize(("name", "comment"), [("code_execution", "#"), ("code-execution_execute", "//")])
async def test_stubs_without_tools_are_a_sentence(services: Services, name: str, comment: str) -> None:
    async with offered(services, name) as client:
        (read,) = (await client.read_resource(f"paddock://stubs/{name}")).contents
    assert read.text == f"{comment} There are no tools that scripts of {name} can call now.\n"


@pytest.mark.parametrize("tools", [[], [letters]], ids=["without tools", "with tools"])
async def test_instructions_have_at_most_150_tokens(tools: list[Any]) -> None:
    async with open_services(tools=tools) as services, offered(services, *SHIPPED) as client:
        instructions = client.instructions
    assert 200 < len(instructions) <= 600
    assert ("`search`" in instructions) is bool(tools)


async def test_memory_and_output_can_be_raised_up_to_the_caps(services: Services) -> None:
    hog, flood = f"len(bytearray({600 * MB}))", "print('x' * 2_000_000)"
    async with in_memory("auto")(services) as client:
        few = [await values_of(client, "run_code", code=code) for code in (hog, flood)]
        slow = await values_of(client, "run_code", code="while True: pass", timeout=1)
        more = [
            await values_of(client, "run_code", code=hog, memory_mb=1000),
            await values_of(client, "run_code", code=flood, output_kb=2048),
        ]
        refused = [
            json.loads((await client.call_tool("run_code", {"code": "1", name: cap + 1})).content[0].text)
            for name, cap in (("memory_mb", CAPS.memory_bytes // MB), ("output_kb", CAPS.output_bytes // 1024))
        ]
    raising = ("`memory_mb` (up to 4096 MB)", "`output_kb` (up to 16 MB)")
    for values, words in zip(few, raising, strict=True):
        assert values["error"]["hints"][-1] == f"Pass a higher {words}."
    assert slow["error"]["message"].startswith("the limit timeout = 1 s was reached")
    assert slow["error"]["hints"][0] == "Pass a higher `timeout` (up to 900 s)."
    assert [values["verdict"] for values in more] == ["ok", "ok"]
    for said, words in zip(refused, ("4096", "16384"), strict=True):
        assert problems(said) == []
        assert words in said["summary"]


async def test_a_run_at_its_limit_is_first_told_to_raise_it_if_the_caller_can() -> None:
    async def wait() -> None:
        await asyncio.Event().wait()

    async with Paddock(tools=[wait]) as paddock:
        result = await paddock.run("await call_tool('wait', {})", engine="monty", limits={"wall_seconds": 0.5})
    below, at_cap = (
        summarize(result.to_dict(), {}, replace(CAPS, wall_seconds=seconds))["error"]["hints"] for seconds in (2, 0.5)
    )
    assert below == ["Pass a higher `timeout` (up to 2 s).", *at_cap]
    assert at_cap[0].startswith("Process less data")


async def test_a_small_image_is_sent_as_an_image(services: Services, connect: Connect) -> None:
    code = (
        f"image = bytes.fromhex('{PNG.hex()}')\nawait create_artifact('a.png', image)\n"
        f"await create_artifact('b.png', image[:-12] + bytes({IMAGE_BYTES}) + image[-12:])\n"
        "await create_artifact('c.png', image[:-12])"
    )
    async with connect(services) as client:
        answer = await client.call_tool("run_code", {"code": code})
        read = await client.call_tool("read_artifact", {"ref": "a.png"})
        large = await client.call_tool("read_artifact", {"ref": "b.png"})
    _, shown, *links = answer.content
    assert (shown.type, shown.mime_type, base64.b64decode(shown.data)) == ("image", "image/png", PNG)
    (first, copy, second) = links
    assert [(link.type, link.name) for link in (first, second)] == [
        ("resource_link", "b.png"),
        ("resource_link", "c.png"),
    ]
    assert [block.type for block in read.content] == ["text", "image"]
    assert [block.type for block in large.content] == ["text", "resource_link", "image"]
    assert copy == large.content[2]


@pytest.mark.parametrize("era", ERAS)
async def test_images_that_do_not_fit_into_an_event_stay_links(services: Services, era: str) -> None:
    code = (
        f"image = bytes.fromhex('{PNG.hex()}')\nlarge = image[:-12] + bytes({IMAGE_BYTES - len(PNG)}) + image[-12:]\n"
        "for name in 'abc':\n    await create_artifact(name + '.png', large)"
    )
    async with over_http(era)(services) as client:
        answer = await client.call_tool("run_code", {"code": code})
    assert [block.type for block in answer.content] == ["text", "image", "resource_link", "resource_link"]
    assert len(answer.model_dump_json()) < EVENT_BYTES


async def test_answers_of_tools_have_no_internals(services: Services) -> None:
    broken_call = "await call_tool(1, 2, 3, 4, 5)"
    calls = [
        ("run_code", "import pandas\npandas.DataFrame({'a': [1]})['b']"),
        *((name, broken_call) for name in ("run_code", "execute", "code_execution")),
        *((name, "return call_tool") for name in ("run_code", "execute", "code_execution")),
        ("python", "import pandas\npandas.DataFrame({'a': [1]})['b']"),
        ("python", "import json\njson.loads('{')"),
        ("run_code", "from json import nope"),
    ]
    async with offered(services, *SHIPPED) as client:
        for name, code in calls:
            text = (await client.call_tool(name, {"code": code})).content[0].text
            for internal in ("<locals>", "/site-packages/", "/builds/", "/lib/python", " at 0x"):
                assert internal not in text, (name, code)


async def test_descriptions_name_the_packages_and_versions_that_are_there() -> None:
    environments = {**Config().environments, "default": EnvironmentConfig(packages=("polars>=1", "requests"))}
    names = ("run_code", "execute", "code_execution", "code_executor", "python")
    async with open_services(Config(environments=environments)) as services, offered(services, *names) as client:
        described = {tool.name: tool.description for tool in (await client.list_tools()).tools}
    for name in names:
        assert f"Python {sys.version_info.major}.{sys.version_info.minor}" in described[name]
        assert "polars" in described[name]
        assert "pandas" not in described[name]
    assert "polars, requests. No network" in described["run_code"]
    assert "library, polars. No network" in described["execute"]  # which refuses requests
    assert "`import` loads modules of Node 24." in described["run_code"]
    assert "Node 24 has its own modules" in described["code_executor"]


@pytest.mark.parametrize("name", ["run_code", "code_execution", "code-execution_execute"])
async def test_descriptions_say_how_tools_are_found_and_answer_only_if_there_are_tools(name: str) -> None:
    described = []
    for tools in ([], [letters]):
        async with open_services(tools=tools) as services, offered(services, name) as client:
            described.append((await client.list_tools()).tools[0].description)
    without, with_tools = described
    assert "{result: …}" in with_tools
    assert "callTool(" in with_tools or 'call_tool("server.tool", {...})' in with_tools
    assert "`search`" in with_tools or "resource paddock://stubs/" in with_tools
    assert "`search`" not in without
    assert "rtifact(" in without


async def test_write_artifact_stores_an_object_as_json(services: Services) -> None:
    async with in_memory("auto")(services) as client:
        made = await values_of(client, "write_artifact", filename="a.json", content={"a": ["é"]})
        assert await whole(client, made["id"]) == '{"a": ["é"]}'


async def test_a_run_that_is_cancelled_shows_its_last_calls() -> None:
    code = "for n in range(40):\n    await letters({'text': 'x' * 400})\nprint('all')\nimport time\ntime.sleep(600)"
    async with open_services(tools=[letters]) as services, in_memory("auto")(services) as client:
        run_id = (await values_of(client, "run_code", code=code, detach=True, timeout=600))["run_id"]
        async with asyncio.timeout(60):
            while not (await values_of(client, "get_run", run_id=run_id)).get("stdout"):
                await asyncio.sleep(0.01)
        shown = await values_of(client, "cancel_run", run_id=run_id)
    assert [call["id"] for call in shown["calls"]] == list(range(shown["calls_left_out"] + 1, 41))
    assert 1000 < len(json.dumps(shown["calls"])) < 9000


@pytest.mark.parametrize(
    ("names", "call"),
    [
        (["code-execution_execute"], 'await callTool("letters", {...})'),
        (["run_code", "code-execution_execute"], 'await call_tool("letters", {...})'),
    ],
)
async def test_stubs_are_in_the_language_of_the_code_tools_and_show_the_call(names: list[str], call: str) -> None:
    async with open_services(tools=[letters]) as services, offered(services, *names) as client:
        for tool, arguments in (
            ("search", {"query": "", "detail": "detailed"}),
            ("get_schema", {"tools": ["letters"]}),
        ):
            assert call in (await client.call_tool(tool, arguments)).content[0].text


@pytest.mark.parametrize("levels", [250, 490])  # the SDK's client reads 200, and its server writes 255
async def test_a_value_that_is_nested_deeply_is_whole_as_text_and_its_inner_part_is_json_text_in_the_object(
    services: Services, connect: Connect, levels: int
) -> None:
    async with connect(services) as client:
        answer = await client.call_tool("run_code", {"code": f"x = 1\nfor _ in range({levels}):\n    x = [x]\nx"})
        again = await values_of(client, "get_run", run_id=answer.structured_content["run_id"])
    assert json.loads(answer.content[0].text)["output"] == json.loads(f"{'[' * levels}1{']' * levels}")
    value = answer.structured_content["output"]
    for _ in range(STRUCTURED_DEPTH - 1):
        [value] = value
    left = levels - STRUCTURED_DEPTH + 1
    assert value == f"{'[' * left}1{']' * left}"
    assert again["output"] == answer.structured_content["output"]
