"""Five well-known MCP servers, called from a script on every engine."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from paddock import Paddock, Progress, RunResult, Verdict
from paddock.planning.plan import ENGINE_LANGUAGE
from tests.tools.installed import Installed, environment
from tests.tools.upstreams import bare_config

ENGINES = ["monty", *(pytest.param(engine, marks=pytest.mark.thorough) for engine in ("cpython", "quickjs", "node"))]
WAV = b"RIFF\x24\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00\x40\x1f\x00\x00\x01\x00\x08\x00"

pytestmark = pytest.mark.asyncio(loop_scope="module")


@dataclass(frozen=True)
class Place:
    """What the servers were given to work on, and a Paddock that has all five."""

    paddock: Paddock
    files: Path
    repository: Path

    async def run(self, engine: str, python: str, javascript: str) -> RunResult:
        language = ENGINE_LANGUAGE[engine]
        code = python if language == "python" else javascript
        inputs = {"files_at": str(self.files), "repository": str(self.repository)}
        result = await self.paddock.run(code, language=language, engine=engine, inputs=inputs)
        assert result.verdict is Verdict.OK, result.error
        assert result.engine == engine
        return result


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def place(installed: Installed, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Place]:
    """One for the whole file: servers that have answered one engine answer the next."""
    files, repository = tmp_path_factory.mktemp("files"), tmp_path_factory.mktemp("repository")
    (files / "note.txt").write_text("forty-two")
    (files / "beep.wav").write_bytes(WAV)
    _commit(repository)
    memory = {"MEMORY_FILE_PATH": str(tmp_path_factory.mktemp("memory") / "graph.json")}
    upstreams: dict[str, Any] = {
        "everything": {"command": installed.everything, "env": environment()},
        "files": {"command": installed.filesystem, "args": [str(files)], "env": environment()},
        "memory": {"command": installed.memory, "env": environment() | memory},
        "git": {"command": installed.git, "args": ["--repository", str(repository)]},
        "time": {"command": installed.time},
    }
    async with Paddock(bare_config(upstreams)) as paddock:
        yield Place(paddock, files, repository)


def _commit(repository: Path) -> None:
    (repository / "kept.txt").write_text("kept\n")
    (repository / "new.txt").write_text("new\n")
    who = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_AUTHOR_NAME": "Ada", "GIT_AUTHOR_EMAIL": "ada@example.org"}
    who |= {"GIT_COMMITTER_NAME": "Ada", "GIT_COMMITTER_EMAIL": "ada@example.org"}
    for words in ("init", "add kept.txt", "commit --message first-of-all"):
        command = ["git", "-C", str(repository), *words.split()]
        subprocess.run(command, env=os.environ | who, check=True, capture_output=True)


@pytest.mark.parametrize("engine", ENGINES)
async def test_git_tells_a_script_what_is_in_a_repository(place: Place, engine: str) -> None:
    result = await place.run(
        engine,
        """
log = await git_log({"repo_path": repository, "max_count": 5})
status = await call_tool("git.git_status", {"repo_path": repository})
shown = await git_show({"repo_path": repository, "revision": "HEAD:kept.txt"})
try:
    await git_show({"repo_path": repository, "revision": "nowhere"})
except RuntimeError as error:
    wrong = str(error)
[log["result"], status["result"], shown["result"], wrong]
""",
        """
const log = await git_log({ repo_path: repository, max_count: 5 })
const status = await callTool('git', 'git_status', { repo_path: repository })
const shown = await git_show({ repo_path: repository, revision: 'HEAD:kept.txt' })
const said = (error) => JSON.stringify(error.envelope)
const wrong = await git_show({ repo_path: repository, revision: 'nowhere' }).catch(said);
[log.result, status.result, shown.result, wrong]
""",
    )
    log, status, shown, wrong = result.output
    assert "Message: first-of-all" in log
    assert "Author: Ada" in log
    assert "new.txt" in status
    assert "kept.txt" not in status
    assert shown == "kept\n"
    assert json.loads(wrong)["error_kind"] == "internal_error"
    assert [call.status for call in result.calls] == ["ok", "ok", "ok", "error"]


@pytest.mark.parametrize("engine", ENGINES)
async def test_everything_gives_a_script_structure_text_and_failures(place: Place, engine: str) -> None:
    result = await place.run(
        engine,
        """
weather = await get_structured_content({"location": "Chicago"})
summed = await call_tool("everything.get-sum", {"a": 40, "b": 2})
links = await get_resource_links({"count": 2})
try:
    await get_structured_content({"location": "Chicagoo"})
except RuntimeError as error:
    wrong = str(error)
[weather, summed, links["result"][1]["uri"], wrong]
""",
        """
const weather = await get_structured_content({ location: 'Chicago' })
const summed = await callTool('everything', 'get-sum', { a: 40, b: 2 })
const links = await get_resource_links({ count: 2 })
const wrong = await get_structured_content({ location: 'Chicagoo' }).catch((error) => JSON.stringify(error.envelope));
[weather, summed, links.result[1].uri, wrong]
""",
    )
    weather, summed, link, wrong = result.output
    assert weather == {"temperature": 36, "conditions": "Light rain / drizzle", "humidity": 82}
    assert summed == {"result": "The sum of 40 and 2 is 42."}
    assert link.startswith("demo://resource/")
    said = json.loads(wrong)
    assert (said["error_code"], said["tool"]) == ("SCHEMA_ENUM_MISMATCH", "everything.get-structured-content")
    assert any("Chicago" in hint for hint in said["hints"])


@pytest.mark.parametrize("engine", ENGINES)
async def test_a_long_operation_reports_progress(place: Place, engine: str) -> None:
    arguments = '{"duration": 0.2, "steps": 4}'
    code = f"(await trigger_long_running_operation({arguments}))"
    heard = place.paddock.stream(f"{code}.result", language="javascript", engine=engine)
    if ENGINE_LANGUAGE[engine] == "python":
        heard = place.paddock.stream(f"{code}['result']", engine=engine)
    events = [event async for event in heard]
    assert [(event.done, event.total) for event in events if isinstance(event, Progress)] == [
        (step, 4) for step in (1, 2, 3, 4)
    ]
    assert events[-1].result.output.startswith("Long running operation completed")  # type: ignore[union-attr]


@pytest.mark.parametrize("engine", ENGINES)
async def test_files_memory_and_time_answer(place: Place, engine: str) -> None:
    result = await place.run(
        engine,
        f"""
note = await read_text_file({{"path": files_at + "/note.txt"}})
entity = {{"name": "{engine}", "entityType": "engine", "observations": ["it asked"]}}
await create_entities({{"entities": [entity]}})
found = await call_tool("memory.open_nodes", {{"names": ["{engine}"]}})
then = await convert_time({{"source_timezone": "UTC", "time": "12:00", "target_timezone": "Asia/Tokyo"}})
[note["content"], found["entities"], then["time_difference"]]
""",
        f"""
const note = await read_text_file({{ path: files_at + '/note.txt' }})
const entity = {{ name: '{engine}', entityType: 'engine', observations: ['it asked'] }}
await create_entities({{ entities: [entity] }})
const found = await callTool('memory', 'open_nodes', {{ names: ['{engine}'] }})
const then = await convert_time({{ source_timezone: 'UTC', time: '12:00', target_timezone: 'Asia/Tokyo' }});
[note.content, found.entities, then.time_difference]
""",
    )
    entity = {"name": engine, "entityType": "engine", "observations": ["it asked"]}
    assert result.output == ["forty-two", [entity], "+9.0h"]


@pytest.mark.parametrize("engine", ENGINES)
async def test_pictures_sounds_and_files_are_artifacts_whose_bytes_the_script_reads(place: Place, engine: str) -> None:
    result = await place.run(
        engine,
        """
logo = (await get_tiny_image({}))["result"][1]
packed = {"name": "hello.gz", "data": "data:text/plain;base64,aGVsbG8=", "outputType": "resource"}
packed = (await call_tool("everything.gzip-file-as-resource", packed))["result"]
words = (await get_resource_reference({"resourceType": "Blob", "resourceId": 1}))["result"][1]
beep = (await read_media_file({"path": files_at + "/beep.wav"}))["_attachments"][0]
read = [(await read_artifact(given["id"]))["content"] for given in (logo, packed, words, beep)]
[logo, packed, words, beep, [list(read[0]), list(read[1]), read[2], list(read[3])]]
""",
        """
const logo = (await get_tiny_image({})).result[1]
const hello = { name: 'hello.gz', data: 'data:text/plain;base64,aGVsbG8=', outputType: 'resource' }
const packed = (await callTool('everything', 'gzip-file-as-resource', hello)).result
const words = (await get_resource_reference({ resourceType: 'Blob', resourceId: 1 })).result[1]
const beep = (await read_media_file({ path: files_at + '/beep.wav' }))._attachments[0]
const read = []
for (const given of [logo, packed, words, beep]) read.push((await codeExec.readArtifact(given.id)).content);
[logo, packed, words, beep, [Array.from(read[0]), Array.from(read[1]), read[2], Array.from(read[3])]]
""",
    )
    *given, read = result.output
    assert [artifact.id for artifact in result.artifacts] == [one["id"] for one in given]
    assert [(one["filename"], one["mimeType"]) for one in given] == [
        ("image-2.png", "image/png"),
        ("hello.gz", "application/gzip"),
        ("1", "text/plain"),
        ("audio-1.wav", "audio/wav"),
    ]
    logo, packed, words, beep = [await place.paddock.read_artifact(one["id"]) for one in given]
    assert logo.startswith(b"\x89PNG")
    assert gzip.decompress(packed) == b"hello"
    assert words.startswith(b"Resource 1: This is a base64 blob")
    assert beep == WAV
    assert read == [list(logo), list(packed), words.decode(), list(beep)]
    assert [one["size"] for one in given] == [len(content) for content in (logo, packed, words, beep)]
