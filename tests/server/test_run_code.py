"""`run_code` through real clients, in both eras of the protocol."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import jsonschema_rs
import pytest

from paddock import Config, Paddock
from paddock.server.services import Services
from tests.envelopes import problems
from tests.forks import fork
from tests.server.conftest import ERAS, Connect, in_memory, over_stdio
from tests.server.kept import Kept

pytestmark = pytest.mark.asyncio(loop_scope="module")

DESCRIPTION_TOKENS = 400


def told(result: Any) -> dict[str, Any]:
    """What the tool gave, the same as text and as an object; how long it took and which run it was left out."""
    values = dict(result.structured_content)
    assert json.loads(result.content[0].text) == values
    assert values.pop("run_id").startswith("r_")
    return values


async def test_a_script_comes_back_as_its_value_and_what_it_printed(services: Services, connect: Connect) -> None:
    async with connect(services) as client:
        result = await client.call_tool("run_code", {"code": "print('hi')\nsum(xs)", "inputs": {"xs": [1, 2]}})
    assert (result.is_error, told(result)) == (
        False,
        {"verdict": "ok", "output": 3, "stdout": "hi\n", "engine": "monty"},
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
        ({"code": "1", "files": [{"file_name": "a"}]}, "either content or base64"),
        ({"code": "1", "files": [{"file_name": "a", "base64": "%"}]}, "cannot be read"),
        ({"code": "x" * 200_000}, "larger than 131072 bytes"),
    ],
)
async def test_wrong_arguments_are_told_as_an_envelope(
    services: Services, arguments: dict[str, Any], summary: str
) -> None:
    async with in_memory("auto")(services) as client:
        result = await client.call_tool("run_code", arguments)
    said = json.loads(result.content[0].text)
    assert problems(said) == []
    assert (result.is_error, said["tool"], said["error_kind"]) == (True, "run_code", "mcp_input_validation")
    assert summary in said["summary"]


async def test_a_tool_that_there_is_not_is_told_as_an_envelope(services: Services, connect: Connect) -> None:
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


begun, ended = asyncio.Event(), asyncio.Event()


async def wait_for_ever() -> None:
    begun.set()
    try:
        await asyncio.Event().wait()
    finally:
        ended.set()


@pytest.mark.parametrize("engine", ["monty", "cpython", "quickjs", "node"])
async def test_a_call_that_its_client_gives_up_ends_the_run(kept: Kept, connect: Connect, engine: str) -> None:
    begun.clear()
    ended.clear()
    language = "python" if engine in ("monty", "cpython") else "javascript"
    services = await kept.of(Config(engine=engine), (wait_for_ever,))
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
