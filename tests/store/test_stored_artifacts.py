"""Stored artifacts: ownership, names, changes, quotas and expiry."""

from __future__ import annotations

import asyncio
import random
import threading
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from paddock.calls import RunArtifacts
from paddock.errors import BadArtifact, StoreError
from paddock.model.artifacts import ARTIFACT_BYTES, URL, Artifact, Owner
from paddock.model.events import ArtifactAnswer, ArtifactCall
from paddock.store.artifact_records import DAY_SECONDS, HURRIED_SECONDS, READERS_SECONDS, UPLOAD_SECONDS
from paddock.store.artifact_text import STRETCH_CHARACTERS, Query
from paddock.store.memory import MemoryArtifacts
from tests.store.artifact_places import ANN, ANN_ELSEWHERE, BOB, MB, Place, chunks, content_of, find, opened

HOSTILE = [
    "../../etc/passwd",
    "/etc/passwd",
    ".",
    "..",
    "a/b",
    "C:\\boot.ini",
    "%2e%2e%2fx",
    "x#1",
    "' OR 1=1 --",
    "%",
    "a_AAAAAAAAAAAAAAAAAAAA",
    "漢字 🙂.txt",
    "a" * 255,
]
REFUSED = ["", " ", "a\0b", "a\nb", "a" * 256, "a" * 10_000, "evil\u202etxt.exe", "\u2066x", "\ud800", "\x1b[31m"]


@pytest.fixture(params=["folder", "memory"])
async def place(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Place]:
    async with opened(tmp_path, url="memory://" if request.param == "memory" else "") as made:
        yield made


async def test_an_artifact_is_read_by_id_url_and_name(place: Place) -> None:
    own = place.of()
    made = await own.create("totals.csv", "text/csv", b"city,total\n")
    assert made == Artifact(made.id, "totals.csv", "text/csv", 11, f"{URL}{made.id}")
    assert [await own.read(ref) for ref in (made.id, made.url, "totals.csv")] == [(made, b"city,total\n")] * 3
    assert await own.read("totals") is None


async def test_a_url_has_the_base_url_of_the_server(tmp_path: Path) -> None:
    async with opened(tmp_path, base_url="https://paddock.example/v1/artifacts") as place:
        made = await place.of().create("a", "text/plain", b"x")
        assert made.url == f"https://paddock.example/v1/artifacts/{made.id}"
        for ref in (made.url, f"{URL}{made.id}", made.id):
            assert await place.of().read(ref) == (made, b"x")
        assert await place.of().read(f"https://elsewhere.example/{made.id}") is None


async def test_an_artifact_may_be_empty_or_come_in_pieces(place: Place) -> None:
    own = place.of()
    assert await content_of(own, (await own.create("a", "text/plain", b"")).id) == b""
    assert await content_of(own, (await own.create("b", "text/plain", chunks())).id) == b""
    made = await own.create("c", "text/plain", chunks(b"one", b"", b"two"))
    assert (made.size, await content_of(own, made.id)) == (6, b"onetwo")


async def test_any_range_of_an_artifact_can_be_streamed(place: Place) -> None:
    own = place.of()
    made = await own.create("a", "text/plain", bytes(9 * MB))
    for _ in range(2):
        kept = await find(own, made.id)
        await own.append(kept, chunks(b"0123456789"))
    kept = await find(own, made.id)
    wanted = bytes(9 * MB) + b"0123456789" * 2
    for start, end in ((0, None), (9 * MB - 1, 9 * MB + 12), (9 * MB + 10, None), (9 * MB + 20, None), (5, 5)):
        assert b"".join([piece async for piece in own.stream(kept, start, end)]) == wanted[start:end]


async def test_a_name_finds_the_newest_in_the_session_else_of_the_principal(place: Place) -> None:
    here, there = place.of(ANN), place.of(ANN_ELSEWHERE)
    await here.create("r", "text/plain", b"older here")
    await here.create("r", "text/plain", b"here")
    await there.create("r", "text/plain", b"there")
    assert [await content_of(own, "r") for own in (here, there)] == [b"here", b"there"]
    for owner in (Owner("ann", "s3"), Owner("ann")):
        assert await content_of(place.of(owner), "r") == b"there"


async def test_an_id_takes_precedence_over_a_name_that_looks_like_it(place: Place) -> None:
    made = await place.of().create("first", "text/plain", b"first")
    await place.of().create(made.id, "text/plain", b"second")
    assert await content_of(place.of(), made.id) == b"first"


async def test_another_principal_finds_nothing_by_any_reference(place: Place) -> None:
    made = await place.of(ANN).create("secret.txt", "text/plain", b"x")
    kept = await find(place.of(ANN), made.id)
    other = place.of(BOB)
    assert [await other.read(ref) for ref in (made.id, made.url, "secret.txt")] == [None] * 3
    assert (await other.list()).artifacts == ()
    for change in (other.append(kept, b"y"), other.replace(kept, "text/plain", b"y"), other.remove(kept)):
        with pytest.raises(BadArtifact, match="there is no artifact"):
            await change
    assert await content_of(place.of(ANN), made.id) == b"x"


async def test_ids_are_long_and_random(place: Place) -> None:
    ids = {(await place.of().create("a", "text/plain", b"")).id for _ in range(50)}
    assert (len(ids), {len(made) for made in ids}) == (50, {22})


@pytest.mark.parametrize("name", HOSTILE)
async def test_a_hostile_name_is_only_a_name(tmp_path: Path, name: str) -> None:
    async with opened(tmp_path) as place:
        made = await place.of().create(name, "text/plain", b"x")
        assert (made.filename, await content_of(place.of(), name)) == (name, b"x")
        (file,) = place.files()
        assert file.parent.parent == place.folder
        assert file.name.startswith(f"{made.id}.")
    outside = [path for path in tmp_path.rglob("*") if path.is_file() and place.folder not in path.parents]
    assert {path.name.partition("-")[0] for path in outside} == {"paddock.db"}


@pytest.mark.parametrize("name", REFUSED)
async def test_an_unprintable_name_is_refused_and_never_found(tmp_path: Path, name: str) -> None:
    async with opened(tmp_path) as place:
        with pytest.raises(BadArtifact, match="a file name must have 1 to 255 characters and no control characters"):
            await place.of().create(name, "text/plain", b"x")
        assert await place.of().find(name) is None
        assert place.files() == []


async def test_a_replaced_artifact_keeps_its_id_and_has_only_its_new_bytes(place: Place) -> None:
    own = place.of()
    made = await own.create("a.txt", "text/plain", b"old" * 1000)
    before = await find(own, made.id)
    await own.append(before, chunks(b"more"))
    replaced = await own.replace(before, "text/csv", b"new")
    assert replaced == Artifact(made.id, "a.txt", "text/csv", 3, made.url)
    assert await own.read("a.txt") == (replaced, b"new")
    # A reader that found it before the change reads all of the old bytes.
    assert b"".join([piece async for piece in own.stream(before)]) == b"old" * 1000


async def test_a_reader_sees_one_version_while_it_is_replaced_again_and_again(place: Place) -> None:
    own = place.of()
    made = await own.create("a", "text/plain", b"0" * 100)
    kept = await find(own, made.id)

    async def write() -> None:
        for number in range(1, 30):
            await own.replace(kept, "text/plain", str(number % 10).encode() * (100 + number))

    async def read() -> None:
        while not writing.done():
            content = await content_of(own, made.id)
            assert len(set(content)) == 1

    writing = asyncio.create_task(write())
    await asyncio.gather(writing, read(), read())


async def test_appends_at_the_same_time_lose_nothing(place: Place) -> None:
    own = place.of()
    made = await own.create("log", "text/plain", b"")
    kept = await find(own, made.id)
    pieces = [f"{number:04}\n".encode() * (1 + number % 7) for number in range(100)]
    await asyncio.gather(*(own.append(kept, piece) for piece in pieces))
    content = await content_of(own, made.id)
    lines = content.splitlines(keepends=True)
    assert sorted(lines) == sorted(b"".join(pieces).splitlines(keepends=True))
    # Each append is in one piece.
    assert len([line for line, before in zip(lines, [b"", *lines], strict=False) if line != before]) == len(pieces)
    found = await find(own, made.id)
    assert found.artifact.size == len(content)


async def test_many_small_appends_leave_few_objects(place: Place) -> None:
    own, wanted = place.of(), b""
    made = await own.create("log", "text/plain", b"")
    for number in range(100):
        kept = await find(own, made.id)
        await own.append(kept, f"line {number}\n".encode())
        wanted += f"line {number}\n".encode()
    kept = await find(own, made.id)
    assert (await content_of(own, made.id), len(kept.parts) < 12) == (wanted, True)


async def test_one_artifact_has_a_size_limit(tmp_path: Path) -> None:
    async with opened(tmp_path, artifact_bytes=10) as place:
        own = place.of()
        for content in (b"x" * 11, chunks(b"x" * 6, b"x" * 5)):
            with pytest.raises(BadArtifact):
                await own.create("a", "text/plain", content)
        await own.create("a", "text/plain", b"x" * 10)
        kept = await find(own, "a")
        for more in (b"y", chunks(b"y")):
            with pytest.raises(BadArtifact):
                await own.append(kept, more)
        assert await content_of(own, "a") == b"x" * 10


async def test_one_principal_has_a_quota(tmp_path: Path) -> None:
    async with opened(tmp_path, principal_bytes=10, principal_count=3) as place:
        own = place.of()
        await own.create("a", "text/plain", b"x" * 6)
        for content in (b"x" * 5, chunks(b"x" * 5)):
            with pytest.raises(BadArtifact, match=r"may be stored|you have 6 bytes"):
                await own.create("b", "text/plain", content)
        kept = await find(own, "a")
        with pytest.raises(
            BadArtifact, match="you have 6 bytes of artifacts, and the limit is 10 bytes: 5 bytes more do not fit"
        ):
            await own.append(kept, b"x" * 5)
        await own.replace(kept, "text/plain", b"x" * 10)
        await place.of(BOB).create("b", "text/plain", b"x" * 10)
        for name in ("c", "d"):
            await own.create(name, "text/plain", b"")
        with pytest.raises(BadArtifact, match="you have 3 artifacts, and the limit is 3"):
            await own.create("e", "text/plain", b"")
        await own.remove(kept)
        await own.create("e", "text/plain", b"x" * 10)


async def test_concurrent_writers_cannot_exceed_the_quota(tmp_path: Path) -> None:
    async with opened(tmp_path, principal_bytes=100) as place:
        made = await asyncio.gather(
            *(place.of().create("a", "text/plain", chunks(b"x" * 30)) for _ in range(10)), return_exceptions=True
        )
        assert sum(isinstance(each, Artifact) for each in made) == 3
        assert {type(each) for each in made} == {Artifact, BadArtifact}


async def test_an_expired_artifact_disappears_at_once_and_its_bytes_later(tmp_path: Path) -> None:
    async with opened(tmp_path, days=2) as place:
        own = place.of()
        made = await own.create("a", "text/plain", b"x")
        place.clock.now += 2 * DAY_SECONDS - 10
        assert await own.read(made.id) == (made, b"x")
        place.clock.now += 10
        assert [await own.read(ref) for ref in (made.id, "a")] == [None, None]
        assert (await own.list()).artifacts == ()
        assert (await place.stored.sweep(), len(place.files())) == (0, 1)
        place.clock.now += READERS_SECONDS
        assert (await place.stored.sweep(), place.files()) == (1, [])


async def test_writing_to_an_artifact_extends_its_life(tmp_path: Path) -> None:
    async with opened(tmp_path, days=2) as place:
        own = place.of()
        for name in ("a", "b", "c"):
            await own.create(name, "text/plain", b"x")
        place.clock.now += DAY_SECONDS
        appended, replaced = await find(own, "a"), await find(own, "b")
        await own.append(appended, b"y")
        await own.replace(replaced, "text/plain", b"z")
        place.clock.now += 1.5 * DAY_SECONDS
        assert sorted(kept.artifact.filename for kept in (await own.list()).artifacts) == ["a", "b"]


async def test_artifacts_may_never_expire(tmp_path: Path) -> None:
    async with opened(tmp_path, days=0) as place:
        await place.of().create("a", "text/plain", b"x")
        place.clock.now += 10_000 * DAY_SECONDS
        assert await place.stored.sweep() == 0
        assert await content_of(place.of(), "a") == b"x"


async def test_the_bytes_of_removed_and_replaced_artifacts_are_swept(tmp_path: Path) -> None:
    async with opened(tmp_path) as place:
        own = place.of()
        for name in ("a", "b"):
            await own.create(name, "text/plain", name.encode())
        removed, replaced = await find(own, "a"), await find(own, "b")
        await own.remove(removed)
        await own.replace(replaced, "text/plain", b"new")
        assert (await place.stored.sweep(), len(place.files())) == (0, 3)
        place.clock.now += READERS_SECONDS
        assert (await place.stored.sweep(), len(place.files())) == (2, 1)
        with pytest.raises(StoreError, match="the artifact was changed or removed while it was read"):
            _ = [piece async for piece in own.stream(removed)]
        assert await content_of(own, "b") == b"new"


async def test_much_that_waits_to_be_deleted_waits_a_minute_and_no_upload_in_progress_is_cut(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("paddock.store.artifacts.WAITING_BYTES", 100_000)
    own, swept = place.of(), []
    read = await own.create("read", "text/plain", b"x" * 60_000)
    found = await find(own, read.id)
    await own.remove(found)
    place.clock.now += HURRIED_SECONDS
    swept.append(await place.stored.sweep())  # little waits
    for name in ("a", "b"):
        await own.create(name, "text/plain", b"x" * 60_000)
        await own.replace(await find(own, name), "text/plain", b"new")
    place.clock.now += HURRIED_SECONDS / 2
    swept.append(await place.stored.sweep())  # the first was removed a minute ago

    async def slow() -> AsyncIterator[bytes]:
        yield b"slow "
        place.clock.now += UPLOAD_SECONDS - READERS_SECONDS / 2
        for name in ("c", "d"):
            await own.create(name, "text/plain", b"x" * 60_000)
            await own.remove(await find(own, name))
        place.clock.now += HURRIED_SECONDS
        swept.append(await place.stored.sweep())
        yield b"upload"

    await own.create("upload", "text/plain", slow())
    assert swept == [0, 1, 4]
    assert [await content_of(own, name) for name in ("a", "b", "upload")] == [b"new", b"new", b"slow upload"]
    with pytest.raises(StoreError, match="the artifact was changed or removed while it was read"):
        _ = [piece async for piece in own.stream(found)]


async def test_a_list_is_newest_first_and_continues_with_its_cursor(place: Place) -> None:
    own = place.of()
    for number in range(7):
        await own.create(f"{number}.txt", "text/plain", b"")
    names, cursor = [], None
    while True:
        listing = await own.list(limit=3, cursor=cursor)
        names.append([kept.artifact.filename for kept in listing.artifacts])
        await own.create("meanwhile", "text/plain", b"")  # does not shift the next page
        cursor = listing.cursor
        if cursor is None:
            break
    assert names == [["6.txt", "5.txt", "4.txt"], ["3.txt", "2.txt", "1.txt"], ["0.txt"]]


@pytest.mark.parametrize(
    ("filters", "names"),
    [
        ({}, ["100%.md", "B.CSV", "a.csv"]),
        ({"session_only": True}, ["B.CSV", "a.csv"]),
        ({"filename": "*.csv"}, ["B.CSV", "a.csv"]),
        ({"filename": "?.csv", "mime_type": "text/csv"}, ["a.csv"]),
        ({"filename": "%"}, []),
        ({"filename": "*%*"}, ["100%.md"]),
        ({"filename": "a_csv"}, []),
        ({"mime_type": "text/*"}, ["100%.md", "a.csv"]),
        ({"filename": "*" * 255}, ["100%.md", "B.CSV", "a.csv"]),
    ],
)
async def test_a_list_is_filtered(tmp_path: Path, filters: dict[str, Any], names: list[str]) -> None:
    async with opened(tmp_path) as place:
        await place.of(ANN).create("a.csv", "text/csv", b"")
        await place.of(ANN).create("B.CSV", "application/x", b"")
        await place.of(ANN_ELSEWHERE).create("100%.md", "text/markdown", b"")
        await place.of(BOB).create("bob.csv", "text/csv", b"")
        assert [kept.artifact.filename for kept in (await place.of(ANN).list(**filters)).artifacts] == names


@pytest.mark.parametrize("cursor", ["", "x", "1~a_", "nan~a_AAAAAAAAAAAAAAAAAAAA", "1~" + "a" * 22, "\ud800"])
async def test_an_invalid_cursor_is_refused(place: Place, cursor: str) -> None:
    with pytest.raises(BadArtifact, match="the cursor is not valid"):
        await place.of().list(cursor=cursor)


async def test_a_run_stores_its_artifacts_here(place: Place) -> None:
    artifacts_of_run = RunArtifacts(place.of(ANN, "r_1"))
    made = await artifacts_of_run.answer(ArtifactCall(1, "create", "a.txt", "", b"abc"))
    answer = await artifacts_of_run.answer(ArtifactCall(2, "read", "a.txt"))
    values = {"success": True, "filename": "a.txt", "mimeType": "text/plain", "size": 3}
    assert answer == ArtifactAnswer(values, b"abc", is_text=True)
    kept = await find(place.of(ANN), made.values["id"])
    assert (kept.run_id, kept.session) == ("r_1", "s1")


async def test_a_run_over_its_quota_gets_an_error(tmp_path: Path) -> None:
    async with opened(tmp_path, principal_bytes=2) as place:
        artifacts_of_run = RunArtifacts(place.of())
        answer = await artifacts_of_run.answer(ArtifactCall(1, "create", "a.txt", "", b"abc"))
        said = "you have 0 bytes of artifacts, and the limit is 2 bytes: 3 bytes more do not fit; remove some"
        assert (answer, artifacts_of_run.created()) == (ArtifactAnswer({"success": False, "error": said}), ())


async def test_a_run_that_reads_too_large_an_artifact_gets_an_error(place: Place) -> None:
    await place.of().create("large", "text/plain", chunks(bytes(ARTIFACT_BYTES), b"x"))
    answer = await RunArtifacts(place.of()).answer(ArtifactCall(1, "read", "large"))
    assert answer.values["success"] is False
    assert "a script reads at most 16 MB at once" in answer.values["error"]


async def test_a_run_learns_that_the_store_failed_but_not_its_path(tmp_path: Path) -> None:
    async with opened(tmp_path) as place:
        await place.of().create("a", "text/plain", b"x")
        for file in place.files():
            file.unlink()
        answer = await RunArtifacts(place.of()).answer(ArtifactCall(1, "read", "a"))
    said = "the artifact could not be read because of a fault on the host; the host's log has the details"
    assert answer.values == {"success": False, "error": said}


async def test_memory_and_store_behave_alike_for_a_run(place: Place) -> None:
    for store in (MemoryArtifacts(), place.of()):
        first = await store.create("a", "text/plain", b"1")
        second = await store.create("a", "text/csv", b"2")
        assert await store.read("a") == (second, b"2")
        assert await store.read(first.url) == (first, b"1")
        assert await store.read("b") is None


async def test_the_event_loop_is_not_blocked_by_the_slowest_search(tmp_path: Path) -> None:
    async with opened(tmp_path) as place:
        own = place.of()
        await own.create("a", "text/plain", bytes(random.Random(1).choices(b"ab", k=STRETCH_CHARACTERS + 1)))  # noqa: S311
        kept = await find(own, "a")
        searching = asyncio.create_task(own.search(kept, Query("(?:a?b?){800}c", is_regex=True)))
        turns = 0
        while not searching.done():
            assert (await own.page(kept, "characters", 0, 10)).text  # pages do not wait for it either
            turns += 1
        assert ((await searching).matches, turns > 2) == ([], True)


async def test_a_cancelled_search_stops(tmp_path: Path) -> None:
    async with opened(tmp_path) as place:
        own = place.of()
        await own.create("a", "text/plain", bytes(random.Random(1).choices(b"ab", k=8 * MB)))  # noqa: S311
        kept = await find(own, "a")
        searching = asyncio.create_task(own.search(kept, Query("(?:a?b?){400}c", is_regex=True)))
        while not any("artifact-search" in thread.name for thread in threading.enumerate()):
            await asyncio.sleep(0)
        searching.cancel()
        with pytest.raises(asyncio.CancelledError):
            await searching
        # Leaving the block waits for the thread, which stops after its current step.


async def test_a_pattern_that_the_store_could_not_match_is_refused(place: Place) -> None:
    for filename, mime_type in (("*a" * 200, ""), ("", "*a" * 200), ("", "a\nb")):
        with pytest.raises(BadArtifact, match="a pattern may have at most 255 characters"):
            await place.of().list(filename=filename, mime_type=mime_type)
