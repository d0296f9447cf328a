"""Interrupted writes of artifacts leave no record without bytes, and no bytes that are never deleted."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from paddock.errors import BadArtifact, ConfigError, StoreError
from paddock.store.artifact_records import FAILED_SECONDS, UPLOAD_SECONDS
from paddock.store.artifacts import Content, StoredArtifact
from paddock.store.objects import Objects
from tests.forks import fork
from tests.store.artifact_places import MB, Place, chunks, content_of, find, opened

ROOT = Path(__file__).parents[2]


@pytest.fixture
async def place(tmp_path: Path) -> AsyncIterator[Place]:
    async with opened(tmp_path) as made:
        yield made


def crash(folder: Path, moment: str) -> None:
    program = ["-m", "tests.store.crashing_artifact", str(folder), moment]
    status, _, stderr = fork.run(program, cwd=ROOT, env=dict(os.environ), seconds=60)
    assert (status, stderr) == (-signal.SIGKILL, b"")


@pytest.mark.parametrize("moment", ["within bytes", "create", "replace", "append"])
async def test_a_write_interrupted_by_a_crash_has_no_effect_and_its_bytes_are_swept(
    tmp_path: Path, moment: str
) -> None:
    await asyncio.to_thread(crash, tmp_path, moment)
    async with opened(tmp_path) as place:
        own = place.of()
        assert [kept.artifact.filename for kept in (await own.list()).artifacts] == ["a"]
        assert await content_of(own, "a") == b"old"
        assert (await place.stored.sweep(), len(place.files())) == (0, 2)
        place.clock.now += UPLOAD_SECONDS + 1  # the clock of the process that died may have gone a little further
        assert (await place.stored.sweep(), len(place.files())) == (1, 1)
        assert await content_of(own, "a") == b"old"


async def test_refused_bytes_are_swept_soon(tmp_path: Path) -> None:
    async with opened(tmp_path, principal_bytes=5) as place:
        with pytest.raises(BadArtifact):
            await place.of().create("a", "text/plain", b"x" * 6)
        place.clock.now += FAILED_SECONDS
        assert (await place.stored.sweep(), place.files()) == (1, [])


async def test_a_failed_stream_leaves_nothing(place: Place) -> None:
    async def broken() -> AsyncIterator[bytes]:
        yield bytes(10 * MB)
        raise ConnectionResetError("the client has left")

    with pytest.raises((ConnectionResetError, StoreError)):
        await place.of().create("a", "text/plain", broken())
    assert (await place.of().list()).artifacts == ()
    place.clock.now += FAILED_SECONDS
    assert (await place.stored.sweep(), place.files()) == (1, [])


async def test_a_cancelled_write_leaves_nothing(place: Place) -> None:
    has_begun = asyncio.Event()

    async def endless() -> AsyncIterator[bytes]:
        yield bytes(20 * MB)
        has_begun.set()
        await asyncio.Event().wait()

    writing = asyncio.create_task(place.of().create("a", "text/plain", endless()))
    await has_begun.wait()
    writing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await writing
    assert (await place.of().list()).artifacts == ()
    place.clock.now += FAILED_SECONDS
    await place.stored.sweep()
    assert place.files() == []


async def test_no_record_can_use_bytes_that_are_being_deleted(place: Place) -> None:
    """An upload that takes longer than a day loses its bytes and raises."""

    class Slow(Objects):
        async def put(self, key: str, content: Content) -> None:
            await super().put(key, content)
            place.clock.now += UPLOAD_SECONDS
            assert await place.stored.sweep() == 1

    place.stored.objects = Slow("", place.folder)
    with pytest.raises(StoreError, match="writing the artifact took longer than a day"):
        await place.of().create("a", "text/plain", b"x")
    assert ((await place.of().list()).artifacts, place.files()) == ((), [])


async def test_a_sweep_interrupted_by_a_crash_is_completed_by_the_next(place: Place) -> None:
    class DiesBeforeDelete(Objects):
        async def delete(self, key: str) -> None:
            raise StoreError("gone")

    kept = await _made(place)
    await place.of().remove(kept)
    place.clock.now += UPLOAD_SECONDS
    real, place.stored.objects = place.stored.objects, DiesBeforeDelete("", place.folder)
    with pytest.raises(StoreError):
        await place.stored.sweep()
    place.stored.objects = real
    assert (await place.stored.sweep(), place.files()) == (1, [])


async def test_two_processes_may_sweep_at_the_same_time(place: Place) -> None:
    for _ in range(5):
        await place.of().remove(await _made(place))
    place.clock.now += UPLOAD_SECONDS
    await asyncio.gather(place.stored.sweep(), place.stored.sweep())
    assert place.files() == []


async def test_truncated_bytes_are_not_returned_as_the_artifact(place: Place) -> None:
    await place.of().create("a", "text/plain", b"x" * 1000)
    (file,) = place.files()
    file.write_bytes(b"x" * 10)
    with pytest.raises(StoreError):
        await content_of(place.of(), "a")


async def test_the_folder_and_its_files_are_readable_by_this_user_alone(place: Place) -> None:
    await place.of().create("a", "text/plain", b"x")
    assert place.folder.stat().st_mode & 0o077 == 0


async def test_a_folder_that_cannot_be_created_is_a_store_error(tmp_path: Path) -> None:
    (tmp_path / "artifacts").write_text("a file")
    async with opened(tmp_path) as place:
        with pytest.raises(StoreError, match=r"the artifacts' folder .* cannot be used"):
            await place.of().create("a", "text/plain", b"x")


async def test_an_invalid_bucket_url_is_a_config_error(tmp_path: Path) -> None:
    objects = Objects("az://container/path", tmp_path)
    with pytest.raises(ConfigError, match=r"artifacts.url 'az://container/path' cannot be used: .*[Aa]ccount"):
        await objects.put("ab/a_x.1", b"x")


async def test_a_file_url_names_a_folder(tmp_path: Path) -> None:
    content: Content = chunks(b"x")
    await Objects(f"file://{tmp_path}/with%20space", "unused").put("ab/a_x.1", content)
    assert (tmp_path / "with space" / "ab" / "a_x.1").read_bytes() == b"x"


async def _made(place: Place) -> StoredArtifact:
    made = await place.of().create("a", "text/plain", b"x")
    return await find(place.of(), made.id)
