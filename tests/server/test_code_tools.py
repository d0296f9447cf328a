"""`run_code` through real clients in both protocol eras, its progress, and results that are too large to send."""

from __future__ import annotations

import asyncio
import json
import os
import secrets
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from mcp import Client

from paddock import Config, Paddock
from paddock.definitions.definition import shipped
from paddock.model.environments import EnvironmentConfig
from paddock.model.events import Progress
from paddock.model.request import LOCAL
from paddock.server import runs
from paddock.server.mcp import make_server
from paddock.server.services import Services
from paddock.server.sessions import Caller
from paddock.server.tool import EVENT_BYTES
from tests.envelopes import problems
from tests.forks import fork
from tests.packages.wheels import wheel
from tests.server.conftest import ERAS, Connect, in_memory, over_stdio, served
from tests.server.shared_services import SharedServices, open_services

pytestmark = pytest.mark.asyncio(loop_scope="module")


DESCRIPTION_TOKENS = 400


def told(result: Any) -> dict[str, Any]:
    """The result, checked to be the same as text and as an object, without time and run id."""
    values = dict(result.structured_content)
    assert json.loads(result.content[0].text) == values
    assert values.pop("run_id").startswith("r_")
    return values


async def test_a_script_returns_its_value_and_its_output(services: Services, connect: Connect) -> None:
    async with connect(services) as client:
        result = await client.call_tool("run_code", {"code": "print('hi')\nsum(xs)", "inputs": {"xs": [1, 2]}})
    assert (result.is_error, told(result)) == (
        False,
        {"verdict": "ok", "output": 3, "stdout": "hi\n", "engine": "cpython"},
    )


async def test_a_script_that_fails_is_an_error_with_its_line(services: Services, connect: Connect) -> None:
    async with connect(services) as client:
        result = await client.call_tool("run_code", {"code": "print('so far')\n1 / 0"})
    values = told(result)
    assert (result.is_error, values["verdict"], values["stdout"]) == (True, "raised", "so far\n")
    assert (values["error"]["type"], values["error"]["line"]) == ("ZeroDivisionError", 2)


@pytest.mark.parametrize("era", ERAS)
async def test_over_stdio_too_and_full_python_with_files(era: str) -> None:
    code = "import pandas\npandas.read_csv('/files/a.csv')['n'].sum().item(), open('/files/b').read()"
    files = [{"file_name": "a.csv", "content": "n\n2\n3\n"}, {"file_name": "b", "base64": "aGk="}]
    async with over_stdio(era) as client:
        result = await client.call_tool("run_code", {"code": code, "files": files, "timeout": 60})
    assert (told(result)["output"], told(result)["engine"]) == ([5, "hi"], "cpython")


@pytest.mark.parametrize(
    ("arguments", "summary"),
    [
        ({}, "'code' is required"),
        ({"code": 1}, "'code' "),
        ({"code": "1", "timout": 3}, "'timout' is not a field"),
        ({"code": "1", "timeout": 100_000}, "'timeout' "),
        ({"code": "1", "language": "cobol"}, "'language' "),
        ({"code": "1", "inputs": {"not a name": 1}}, "not a name"),
        ({"code": "1", "files": [{"file_name": "a"}]}, "needs content or base64"),
        ({"code": "1", "files": [{"file_name": "a", "content": "", "base64": ""}]}, "pass one of them"),
        ({"code": "1", "files": ["a.csv"]}, "'files[0]' must be an object"),
        ({"code": "1", "files": [{"file_name": "a", "base64": "%"}]}, "cannot be read"),
        ({"code": "x" * 200_000}, "larger than 128 KB"),
    ],
)
async def test_invalid_arguments_are_an_envelope(services: Services, arguments: dict[str, Any], summary: str) -> None:
    async with in_memory("auto")(services) as client:
        result = await client.call_tool("run_code", arguments)
    said = json.loads(result.content[0].text)
    assert problems(said) == []
    assert (result.is_error, said["tool"], said["error_kind"]) == (True, "run_code", "mcp_input_validation")
    assert summary in said["summary"]


@pytest.mark.parametrize("files", ["a.csv", ["a.csv"], [{"name": "a.csv", "content": "x"}]])
async def test_the_name_of_an_artifact_as_a_file_is_told_from_a_wrong_field(services: Services, files: Any) -> None:
    async with in_memory("auto")(services) as client:
        result = await client.call_tool("run_code", {"code": "1", "files": files})
    said = json.loads(result.content[0].text)
    hints, form = said["hints"], {"file_name": "a.csv", "content": "…"}
    if files in ("a.csv", ["a.csv"]):
        assert hints == ["File: {file_name, content}. Artifact: (await read_artifact(name))['content']."]
    else:
        assert said["examples"] == [{"code": "…", "files": [form]}]
        assert "Did you mean 'file_name' instead of 'name'?" in hints


async def test_an_unknown_tool_is_an_envelope(services: Services, connect: Connect) -> None:
    async with connect(services) as client:
        result = await client.call_tool("run_cod", {"code": "1"})
    said = json.loads(result.content[0].text)
    assert problems(said) == []
    assert (result.is_error, said["error_code"]) == (True, "TOOL_NOT_FOUND")


async def test_the_description_is_short_and_the_result_fits_its_schema(services: Services, connect: Connect) -> None:
    async with connect(services) as client:
        tool, *_ = (await client.list_tools()).tools
        results = [
            await client.call_tool("run_code", {"code": code})
            for code in ("[1]", "raise SystemExit(3)", "def", "await create_artifact('a.txt', 'x', 'txt')")
        ]
    assert (tool.name, tool.title) == ("run_code", "Run code")
    assert len(tool.description) / 4 < DESCRIPTION_TOKENS
    assert "{" not in tool.description.replace("{path, file_name, file_type}", "").replace("{...}", "")
    for result in results:
        jsonschema_rs.validate(tool.output_schema, result.structured_content)


async def test_progress_of_a_script_reaches_the_client(services: Services, connect: Connect) -> None:
    heard = []

    async def hear(done: float, total: float | None, message: str | None) -> None:
        heard.append((done, total, message))

    code = "for n in range(3):\n    await report_progress(n, 3, 'page')"
    async with connect(services) as client:
        await client.call_tool("run_code", {"code": code}, progress_callback=hear)
    assert heard == [(0.0, 3.0, "page"), (1.0, 3.0, "page"), (2.0, 3.0, "page")]


async def test_each_report_of_progress_is_more_than_the_one_before(services: Services, connect: Connect) -> None:
    heard: list[float] = []

    async def hear(done: float, total: float | None, message: str | None) -> None:
        heard.append(done)

    code = "for n in (0, 0, 2, 1, 3):\n    await report_progress(n, 3)"
    async with connect(services) as client:
        await client.call_tool("run_code", {"code": code}, progress_callback=hear)
    assert len(heard) == 5
    assert heard == sorted(set(heard))
    assert [heard[0], heard[2], heard[4]] == [0, 2, 3]


async def test_environments_of_the_configuration_can_be_chosen(connect: Connect) -> None:
    environments = {**Config().environments, "bare": EnvironmentConfig()}
    async with open_services(Config(environments=environments)) as services, connect(services) as client:
        tool, *_ = (await client.list_tools()).tools
        assert tool.input_schema["properties"]["environment"]["enum"] == ["default", "bare"]
        arguments = {"code": "import pandas", "environment": "bare"}
        result = await client.call_tool("run_code", arguments)
    assert (result.structured_content or {})["error"]["hints"] == [
        '`pandas` is not installed: pass packages: ["pandas"].'
    ]


async def test_packages_are_installed_and_progress_says_so(
    services: Services, connect: Connect, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard = []

    async def hear(done: float, total: float | None, message: str | None) -> None:
        heard.append(message)

    for parent in (tmp_path, *tmp_path.parents):
        if parent.stat().st_uid == os.getuid() and parent != Path("/"):
            parent.chmod(parent.stat().st_mode | 0o055)  # an installer has another uid
    name = f"greeting_{secrets.token_hex(4)}"
    wheel(tmp_path, name)
    for variable, value in (("UV_FIND_LINKS", str(tmp_path)), ("UV_NO_INDEX", "1"), ("PIP_NO_INDEX", "1")):
        monkeypatch.setenv(variable, value)
    async with connect(services) as client:
        arguments = {"code": f"import {name}\n{name}.VERSION", "packages": [name]}
        result = await client.call_tool("run_code", arguments, progress_callback=hear)
    assert (result.structured_content or {})["output"] == "1.0"
    assert heard[0] == f"installing {name}"


begun, ended = asyncio.Event(), asyncio.Event()


async def wait_for_ever() -> None:
    begun.set()
    try:
        await asyncio.Event().wait()
    finally:
        ended.set()


@pytest.mark.parametrize(
    ("alias", "language", "engine"),
    [
        ("py", "python", None),
        ("js", "javascript", "quickjs"),
        ("ts", "typescript", "node"),
        ("node", "javascript", "node"),
    ],
)
async def test_languages_have_short_names(services: Services, alias: str, language: str, engine: str | None) -> None:
    async with in_memory("auto")(services) as client:
        result = (await client.call_tool("run_code", {"code": "1 + 1", "language": alias})).structured_content
        listed = {tool.name: tool for tool in (await client.list_tools()).tools}["run_code"].input_schema
    assert result is not None
    assert (result["output"], "engine" in listed["properties"]) == (2, False)
    run = await services.store.runs.get(LOCAL, result["run_id"])
    assert run is not None
    assert (run.language, engine in (None, run.engine)) == (language, True)


@pytest.mark.parametrize("engine", ["monty", "cpython", "quickjs", "node"])
async def test_a_call_that_the_client_cancels_ends_the_run(
    shared: SharedServices, connect: Connect, engine: str
) -> None:
    begun.clear()
    ended.clear()
    language = "python" if engine in ("monty", "cpython") else "javascript"
    services = await shared.get(Config(engine=engine), (wait_for_ever,))
    async with connect(services) as client:
        asked = {"code": "await wait_for_ever({})", "language": language}
        call = asyncio.create_task(client.call_tool("run_code", asked))
        await asyncio.wait_for(begun.wait(), 60)
        call.cancel()
        await asyncio.wait([call])
        await asyncio.wait_for(ended.wait(), 30)
        assert told(await client.call_tool("run_code", {"code": "1", "language": language}))["output"] == 1


async def test_another_paddock_does_not_let_its_scripts_call_this_one() -> None:
    upstream = {"nested": fork.settings("-m", "paddock", "mcp")}
    async with Paddock(Config(upstreams=upstream)) as paddock:
        result = await paddock.run("await call_tool('nested.run_code', {'code': '1'})")
    assert result.error is not None
    assert result.error.envelope is not None
    assert result.error.envelope["error_kind"] == "tool_not_found"


async def test_a_silent_run_is_reported_as_still_running(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "STILL_RUNNING_SECONDS", 0.01)
    twice = asyncio.Event()
    heard: list[str | None] = []

    async def wait() -> None:
        await twice.wait()

    async def hear(done: float, total: float | None, message: str | None) -> None:
        heard.append(message)
        if len(heard) == 2:
            twice.set()

    async with open_services(tools=[wait]) as services, in_memory("auto")(services) as client, asyncio.timeout(60):
        await client.call_tool("run_code", {"code": "await wait()"}, progress_callback=hear)
    assert heard[:2] == ["still running after 0.01 s", "still running after 0.02 s"]


async def test_progress_arrives_in_order_and_before_the_result() -> None:
    heard = []

    async def report(done: float, total: float | None, message: str) -> None:
        await asyncio.sleep(0)
        heard.append(done)

    reporter = runs.ProgressReporter(Caller(LOCAL, None, report), lambda stream, text: None)
    for number in range(5):
        reporter(Progress(number, 5, ""))
    await reporter.flush()
    reporter.close()
    assert heard == [0, 1, 2, 3, 4]


async def test_a_failing_progress_report_does_not_end_the_run() -> None:
    async def report(done: float, total: float | None, message: str) -> None:
        raise ConnectionError

    reporter = runs.ProgressReporter(Caller(LOCAL, None, report), lambda stream, text: None)
    reporter(Progress(1, None, ""))
    await reporter.flush()
    reporter.close()


async def test_if_there_are_too_many_reports_the_newest_are_sent() -> None:
    heard: list[float] = []
    may_hear = asyncio.Event()

    async def report(done: float, total: float | None, message: str) -> None:
        await may_hear.wait()
        heard.append(done)

    reporter = runs.ProgressReporter(Caller(LOCAL, None, report), lambda stream, text: None)
    reporter(Progress(0, None, ""))
    await asyncio.sleep(0)  # now the report is being sent
    for number in range(1, 10_001):
        reporter(Progress(number, None, ""))
    may_hear.set()
    await reporter.flush()
    reporter.close()
    assert heard == [0, *range(10_001 - runs.MAX_PENDING_REPORTS, 10_001)]


LARGE = [
    ("execute", {"code": "return {'a': 'x' * 600_000}"}),
    ("execute", {"code": "print('x' * 900_000)\nreturn 'y' * 900_000"}),
    ("code_execution", {"code": "'x' * 600_000"}),
]


async def heard(progress: float, total: float | None, message: str | None) -> None:
    """A request for progress makes the response a stream of events, in the newest era too."""


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize(("tool", "arguments"), LARGE)
async def test_a_large_result_is_shortened_and_stored_as_an_artifact(
    services: Services, era: str, tool: str, arguments: dict[str, Any]
) -> None:
    async with (
        served(services, shipped(tool)) as address,
        Client(address, mode=era) as client,
    ):
        answer = await client.call_tool(tool, arguments, progress_callback=heard)
        assert len(answer.model_dump_json().encode()) < EVENT_BYTES
        links = [each for each in answer.content if each.type == "resource_link"]
        assert links[0].name.startswith("answer-")
        assert (await client.call_tool("read_artifact", {"ref": links[0].uri, "limit": 10})).is_error is False
        after = await client.list_tools()
    assert tool in {each.name for each in after.tools}


EMOJI = chr(0x1F40E)
ESCAPED = [
    ("execute", {"code": f"return {{'a': {EMOJI!r} * 60_000}}"}),
    ("code_execution", {"code": "'ж' * 100_000"}),
]


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize(("tool", "arguments"), ESCAPED)
async def test_a_result_whose_event_is_large_only_once_it_is_escaped_arrives_too(
    services: Services, era: str, tool: str, arguments: dict[str, Any]
) -> None:
    async with served(services, shipped(tool)) as address, Client(address, mode=era) as client:
        answer = await client.call_tool(tool, arguments, progress_callback=heard)
    assert any(each.type == "resource_link" and each.name.startswith("answer-") for each in answer.content)


async def test_an_answer_that_took_so_long_that_it_became_an_event_arrives(
    services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mcp.server._streamable_http_modern._SSE_PING_INTERVAL", 0.001)  # 15 s
    tool, arguments = LARGE[1]
    async with served(services, shipped(tool)) as address, Client(address, mode=ERAS[0]) as client:
        answer = await client.call_tool(tool, arguments)
    assert "yyy" in answer.model_dump_json()
    assert any(each.type == "resource_link" and each.name.startswith("answer-") for each in answer.content)


async def test_a_client_without_a_limit_gets_the_whole_result(services: Services) -> None:
    async with Client(make_server(services, [shipped("execute")]), mode=ERAS[0]) as client:
        answer = await client.call_tool("execute", {"code": "return 'y' * 900_000"})
    assert "y" * 900_000 in answer.model_dump_json()


@pytest.mark.parametrize("era", ERAS)
async def test_a_resource_that_is_too_large_only_once_it_is_escaped_is_refused(services: Services, era: str) -> None:
    async with served(services) as address, Client(address, mode=era) as client:
        content = {"filename": "a.txt", "content": "ж" * (EVENT_BYTES // 4)}
        made = (await client.call_tool("write_artifact", content)).structured_content
        with pytest.raises(Exception, match="page or search it with read_artifact"):
            await client.read_resource(made["url"])


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("size", [EVENT_BYTES // 2, EVENT_BYTES // 2 + 1])
async def test_a_resource_may_be_as_large_as_an_event_allows(services: Services, size: int, era: str) -> None:
    async with served(services) as address, Client(address, mode=era) as client:
        made = (
            await client.call_tool("write_artifact", {"filename": "a.txt", "content": "x" * size})
        ).structured_content
        if size <= EVENT_BYTES // 2:
            read: Any = await client.read_resource(made["url"])
            assert len(read.contents[0].text) == size
        else:
            with pytest.raises(Exception, match="page or search it with read_artifact"):
                await client.read_resource(made["url"])
