"""How the host answers a guest's calls: artifacts within the limits of a run, and side effects."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from paddock import Config
from paddock.calls import RunArtifacts
from paddock.jail import guest, wire
from paddock.model import artifacts
from paddock.model.events import ArtifactAnswer, ArtifactCall, Event, Finished, Output, ToolCall, ToolResult
from paddock.model.result import Verdict
from paddock.run import Paddock
from paddock.store.memory import MemoryArtifacts
from paddock.tools import broker
from tests.bare import bare
from tests.scripted_engine import ScriptedEngine
from tests.test_run import scripted, seen

__all__ = ["bare"]


def create(number: int, name: str = "a.txt", content: bytes = b"x") -> ArtifactCall:
    return ArtifactCall(number, "create", name, "", content)


async def test_the_oldest_artifacts_are_dropped_when_memory_is_full() -> None:
    store = MemoryArtifacts(total_bytes=10, total_count=3)
    first = await store.create("a", "text/plain", b"12345")
    second = await store.create("b", "text/plain", b"12345")
    assert await store.read(first.id) == (first, b"12345")
    third = await store.create("c", "text/plain", b"1")
    assert (await store.read(first.id), await store.read("b")) == (None, (second, b"12345"))
    for name in ("d", "e"):
        await store.create(name, "text/plain", b"")
    assert (await store.read("b"), await store.read(third.url)) == (None, (third, b"1"))


async def test_ids_cannot_be_guessed() -> None:
    store = MemoryArtifacts()
    ids = {(await store.create("a", "text/plain", b"")).id for _ in range(100)}
    assert (len(ids), {len(made) for made in ids}) == (100, {22})


async def test_the_artifacts_of_a_run_are_limited() -> None:
    kept = RunArtifacts(MemoryArtifacts())
    answers = [await kept.answer(create(number, content=b"")) for number in range(artifacts.RUN_COUNT + 1)]
    assert [answer.values["success"] for answer in answers] == [True] * artifacts.RUN_COUNT + [False]
    assert len(kept.created()) == artifacts.RUN_COUNT


async def test_the_artifacts_of_a_run_are_limited_whatever_ids_its_calls_have() -> None:
    kept = RunArtifacts(MemoryArtifacts())
    answers = [await kept.answer(create(7, content=b"")) for _ in range(artifacts.RUN_COUNT + 1)]
    assert [answer.values["success"] for answer in answers] == [True] * artifacts.RUN_COUNT + [False]
    assert len(kept.created()) == artifacts.RUN_COUNT


async def test_the_bytes_that_a_run_reads_are_limited() -> None:
    store = MemoryArtifacts()
    await store.create("a.txt", "text/plain", bytes(artifacts.ARTIFACT_BYTES))
    kept, most = RunArtifacts(store), artifacts.READ_BYTES // artifacts.ARTIFACT_BYTES
    answers = [await kept.answer(ArtifactCall(number, "read", "a.txt")) for number in range(most + 1)]
    assert [answer.content is not None for answer in answers] == [True] * most + [False]
    assert answers[-1] == ArtifactAnswer(
        {"success": False, "error": "one run may read 256 MB of artifacts; keep what was read in a variable"}
    )


async def test_a_run_that_has_read_enough_is_refused_without_reading() -> None:
    class Counting(MemoryArtifacts):
        reads = 0

        async def read(self, ref: str) -> tuple[artifacts.Artifact, bytes] | None:
            self.reads += 1
            return await super().read(ref)

    store = Counting()
    await store.create("a.bin", "application/octet-stream", bytes(artifacts.READ_BYTES))
    kept = RunArtifacts(store)
    answers = [await kept.answer(ArtifactCall(number, "read", "a.bin")) for number in range(9)]
    assert [answer.content is not None for answer in answers] == [True] + [False] * 8
    assert store.reads == 2


def test_host_and_guest_have_the_same_size_limit_for_artifacts() -> None:
    assert wire.ARTIFACT_BYTES == artifacts.ARTIFACT_BYTES


async def test_a_run_that_created_an_artifact_is_not_started_again() -> None:
    lost = Finished(Verdict.LOST, error_type="EngineCrashed", error_message="gone")
    paddock, engine = scripted(create(1), Output("stdout", "x"), lost)
    result = await paddock.run("1")
    assert (result.verdict, len(engine.opened), len(result.artifacts)) == (Verdict.LOST, 1, 1)


async def test_the_callers_own_store_is_used() -> None:
    store = MemoryArtifacts()
    engine = ScriptedEngine([create(1, "own.txt", b"abc"), Finished(Verdict.OK)])
    async with Paddock(engines={"monty": lambda config: engine}, artifacts=store) as paddock:
        result = await paddock.run("1")
    assert await store.read("own.txt") == (result.artifacts[0], b"abc")


async def test_no_event_keeps_arguments_beyond_those_that_a_run_may_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(broker, "ARGUMENT_BYTES", 20)
    calls = [ToolCall(number, "nothing", '{"a": 100}') for number in (1, 2, 3, 4)]
    paddock, engine = scripted(*calls, Finished(Verdict.OK, "1"))
    events = await seen(paddock, limits={"calls": 3})
    shown = [event.arguments_json for event in events if isinstance(event, ToolCall)]
    assert shown == ['{"a": 100}', '{"a": 100}', "{}"]
    codes = [json.loads(answer.json)["error_code"] for _, answer in sorted(engine.answers.items())]
    assert codes == ["TOOL_NOT_FOUND", "TOOL_NOT_FOUND", "INPUT_VALIDATION_FAILED", "CALL_LIMIT_EXCEEDED"]


ASKS_AND_READS_NOTHING = """
import os, select, stat, struct, time
def is_socket(fd):
    try:
        return stat.S_ISSOCK(os.fstat(fd).st_mode)
    except OSError:
        return False
[control] = [fd for fd in range(3, 32) if is_socket(fd)]
header = b'{"tool": "big"}'
for number in range(20):
    os.write(control, struct.pack("!BIII", 17, number, len(header), 2) + header + b"{}")
time.sleep(1000)
"""


async def test_answers_that_a_script_does_not_take_are_dropped(bare: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guest, "ANSWERS_BYTES", 4_000_000)
    answered, has_answers = 0, asyncio.Event()

    def watch(event: Event) -> None:
        nonlocal answered
        answered += isinstance(event, ToolResult)
        if answered == 20:
            has_answers.set()

    async with Paddock(Config.load(bare), tools=[big]) as paddock:
        run = asyncio.create_task(paddock.follow(ASKS_AND_READS_NOTHING, watch, session="s"))
        await has_answers.wait()
        interpreter: Any = paddock._sessions._sessions["local", "s"].interpreter
        unsent_bytes = interpreter._guest._unsent_bytes
        await paddock.delete_session("s")
        assert (await run).verdict is Verdict.CANCELLED
    assert 4_000_000 < unsent_bytes < 6_000_000


def big() -> str:
    return "x" * 1_000_000


async def test_a_store_that_fails_in_its_own_way_is_a_failed_call() -> None:
    class Broken:
        async def create(self, filename: str, mime_type: str, content: bytes) -> artifacts.Artifact:
            raise KeyError(filename)

        async def read(self, ref: str) -> tuple[artifacts.Artifact, bytes] | None:
            raise OSError(ref)

    kept = RunArtifacts(Broken())
    said = "the artifact could not be {} because of a fault on the host; the host's log has the details"
    for call, what in ((create(1), "stored"), (ArtifactCall(2, "read", "a.txt"), "read")):
        assert await kept.answer(call) == ArtifactAnswer({"success": False, "error": said.format(what)})
    assert not await kept.exists("a.txt")
