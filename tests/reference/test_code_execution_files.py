"""Files over MCP: attached to a session, named as artifacts, read by scripts."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from paddock import File, Paddock
from paddock.definitions.definition import shipped
from paddock.server import artifacts
from paddock.server.mcp import make_server
from paddock.server.services import Services
from tests.cli.command import paddock
from tests.server.conftest import ERAS, over_stdio, served

pytestmark = pytest.mark.asyncio(loop_scope="module")
NAMES = "[f['file_name'] for f in files]"
READ = """
from pathlib import Path
[[f["path"], f["file_name"], f["file_type"], f["element_id"], len(Path(f["path"]).read_bytes())] for f in files]
"""


def in_memory(services: Any) -> Any:
    return Client(make_server(services, [shipped("code_execution")]), mode="legacy")


async def called(client: Any, name: str, **arguments: Any) -> dict[str, Any]:
    result = await client.call_tool(name, arguments)
    values: dict[str, Any] = result.structured_content
    assert json.loads(result.content[0].text) == values
    assert result.is_error is not values["success"]
    return values


async def output(client: Any, code: str, **arguments: Any) -> Any:
    values = await called(client, "code_execution", code=code, **arguments)
    return values["output"] if values["success"] else values["error"]


async def test_files_stay_attached_until_they_are_detached_and_are_artifacts(services: Services) -> None:
    async with in_memory(services) as client:
        assert await output(client, "files") == []
        first = await called(client, "attach_file", file_name="a.csv", content="größe\n1\n")
        second = await called(client, "attach_file", file_name="a.csv", base64="AP8=", file_type="image/png")
        ids = [first["element_id"], second["element_id"]]
        seen = [["/files/a.csv", "a.csv", "text/csv", ids[0], 10], ["/files/a-2.csv", "a.csv", "image/png", ids[1], 2]]
        assert await output(client, READ) == seen
        assert await output(client, f"import textwrap{READ}") == seen  # on full Python
        detached = await called(client, "detach_file", element_id=ids[0])
        kept = {"element_id": ids[1], "file_name": "a.csv", "file_type": "image/png"}
        assert detached == {"success": True, "detached": [ids[0]], "files": [kept]}
        assert await output(client, NAMES) == ["a.csv"]
        assert (await called(client, "read_artifact", ref=ids[0]))["content"] == "größe\n1\n"


async def test_an_artifact_is_attached_by_name_and_a_run_can_add_others(services: Services) -> None:
    async with in_memory(services) as client:
        made = await called(client, "write_artifact", filename="b.txt", content="b")
        await output(client, "await create_artifact('c.txt', 'c', 'txt')")
        attached = await called(client, "attach_file", artifact="b.txt")
        assert (attached["element_id"], attached["attached"]) == (made["id"], True)
        assert await output(client, NAMES, files=["c.txt", made["id"], made["url"]]) == ["b.txt", "c.txt"]
        assert await output(client, NAMES) == ["b.txt"]


@pytest.mark.parametrize("engine", ["monty", "cpython"])
async def test_files_that_a_script_writes_are_gone_and_a_missing_file_is_not_found(
    services: Services, tmp_path: Path, engine: str
) -> None:
    of_the_host = tmp_path / "of_the_host.txt"
    of_the_host.write_text("secret")
    async with Client(
        make_server(services, [replace(shipped("code_execution"), engine=engine)]), mode="legacy"
    ) as client:
        await called(client, "attach_file", file_name="a.txt", content="a")
        write = "from pathlib import Path\nPath('/tmp/x').write_text('1')\nPath('/tmp/x').read_text()"
        assert await output(client, write) == "1"
        for path in ("/tmp/x", "/files/b.txt", "/etc/hostname", of_the_host):  # noqa: S108
            error = await output(client, f"from pathlib import Path\nPath('{path}').read_text()")
            assert error["type"] == "FileNotFoundError"
        assert await output(client, "open(files[0]['path']).read()") == "a"


async def test_a_file_name_is_never_a_path(services: Services) -> None:
    async with in_memory(services) as client:
        await called(client, "attach_file", file_name="../../etc/passwd", content="mine")
        paths = "from pathlib import Path\n[[f['path'], Path(f['path']).read_text()] for f in files]"
        assert await output(client, paths) == [["/files/passwd", "mine"]]


@pytest.mark.parametrize(
    ("tool", "arguments", "said"),
    [
        ("attach_file", {}, "file_name is missing"),
        ("attach_file", {"file_name": "a"}, "content is missing"),
        ("attach_file", {"file_name": "a", "content": "a", "base64": "YQ=="}, "either content"),
        ("attach_file", {"file_name": "a", "base64": "%"}, "not base64"),
        ("attach_file", {"file_name": "", "content": "a"}, "cannot have that name"),
        ("attach_file", {"file_name": "a", "artifact": "a"}, "artifact was passed together with a new file"),
        ("attach_file", {"artifact": "nothing"}, "there is no artifact 'nothing'"),
        ("detach_file", {"element_id": "nothing"}, "no file 'nothing' is attached"),
    ],
)
async def test_a_file_that_cannot_be_attached_is_an_error(
    services: Services, tool: str, arguments: dict[str, Any], said: str
) -> None:
    async with in_memory(services) as client:
        values = await called(client, tool, **arguments)
        assert (values["success"], said in values["error"], await output(client, "files")) == (False, True, [])


async def test_the_number_and_size_of_files_are_limited(services: Services, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(artifacts, "MAX_ATTACHED", 2)
    monkeypatch.setattr(artifacts, "RUN_BYTES", 5)
    async with in_memory(services) as client:
        await called(client, "attach_file", file_name="a", content="123")
        await called(client, "attach_file", file_name="b", content="456")
        assert "which is the maximum" in (await called(client, "attach_file", file_name="c", content=""))["error"]
        assert (await output(client, "files"))["type"] == "ToolValidationError"
        await called(client, "detach_file", element_id="b")
        assert await output(client, NAMES) == ["a"]


@pytest.mark.parametrize("era", ERAS)
async def test_over_stdio_a_connection_is_a_session(era: str) -> None:
    async with over_stdio(era, "--definitions", "code_execution") as client:
        await called(client, "attach_file", file_name="a.txt", content="a")
        assert await output(client, NAMES) == ["a.txt"]


async def test_over_http_each_session_has_its_own(services: Services) -> None:
    async with (
        served(services, shipped("code_execution")) as address,
        Client(address, mode="legacy") as one,
        Client(address, mode="legacy") as other,
    ):
        await called(one, "attach_file", file_name="a.txt", content="a")
        assert (await output(one, NAMES), await output(other, NAMES)) == (["a.txt"], [])


async def test_without_a_session_a_file_is_stored_and_each_run_names_it(services: Services) -> None:
    async with (
        served(services, shipped("code_execution")) as address,
        Client(address, mode=ERAS[0]) as client,
    ):
        made = await called(client, "attach_file", file_name="a.txt", content="a")
        assert (made["attached"], made["element_id"] in made["hint"]) == (False, True)
        assert await output(client, NAMES) == []
        assert await output(client, NAMES, files=[made["element_id"]]) == ["a.txt"]


async def test_a_definition_without_files_has_no_files_and_no_file_tools(services: Services) -> None:
    definition = replace(shipped("code_execution"), includes_files=False)
    async with Client(make_server(services, [definition]), mode="legacy") as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert {"attach_file", "detach_file"} & tools.keys() == set()
        assert tools["code_execution"].input_schema["properties"].keys() == {"code", "inputs"}
        assert await output(client, "files") == []


async def test_the_command_takes_files(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("größe\n1\n")
    (tmp_path / "b.txt").write_text("b")
    given = [word for name in ("a.csv", "b.txt") for word in ("--file", str(tmp_path / name))]
    ended = await asyncio.to_thread(paddock, "run", "-c", READ, *given)
    assert (ended.status, ended.err) == (0, "")
    seen = [[path, name, kind, size] for path, name, kind, _, size in json.loads(ended.out)]
    assert seen == [["/files/a.csv", "a.csv", "text/csv", 10], ["/files/b.txt", "b.txt", "text/plain", 1]]


async def test_the_library_takes_files() -> None:
    given = [File("a.csv", b"1", "text/csv", "a_1"), File("a.csv", b"22")]
    async with Paddock() as library:
        result = await library.run(READ, files=given)
    assert result.output == [["/files/a.csv", "a.csv", "text/csv", "a_1", 1], ["/files/a-2.csv", "a.csv", "", "", 2]]
