"""How the host answers a guest's calls: artifacts within the limits of a run, and side effects."""

from __future__ import annotations

from paddock.calls import RunArtifacts
from paddock.jail import wire
from paddock.model import artifacts
from paddock.model.events import ArtifactAnswer, ArtifactCall, Finished, Output
from paddock.model.result import Verdict
from paddock.run import Paddock
from paddock.store.memory import MemoryArtifacts
from tests.scripted_engine import ScriptedEngine
from tests.test_run import scripted


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
