"""The store locked, read-only and full, and artifacts that cannot be written, in the middle of a hundred runs."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager, nullcontext, suppress
from pathlib import Path

import pytest

from paddock.jail.walls.syscalls import syscall
from tests.anomaly.crowd import KINDS, Crowd, crowd
from tests.anomaly.serving import PATIENCE_SECONDS, Serving, serving
from tests.mounts import TEST_DISK

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.skipif(os.geteuid() != 0 and "CI" not in os.environ, reason="only root can mount what fails here"),
    pytest.mark.usefixtures("default_environment"),
]
RUNS = 100


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """The database, held by another connection as another process would."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("BEGIN EXCLUSIVE")
        yield


def mount(server: Serving, *arguments: str) -> None:
    """Mount something where the server sees it, and nobody else."""
    subprocess.run(["nsenter", "-t", str(server.pid), "-m", *arguments], check=True)  # noqa: S607


async def not_ready(server: Serving, *reasons: str) -> None:
    """Return once the server says each of these reasons why it is not ready."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while True:
            answer = await server.get("/readyz")
            if answer.status_code == 503 and all(reason in answer.text for reason in reasons):
                return
            await asyncio.sleep(0.05)


async def refused(callers: Crowd, reason: str) -> None:
    """Check that runs are refused now, over both faces, with the reason."""
    count = len(callers.asked)
    callers.ask(2 * len(KINDS))
    await asyncio.gather(*callers.tasks[count:])
    for run in callers.asked[count:]:
        assert run.run_id is None
        assert reason in (run.problem or ""), run
        assert str(callers.serving.folder) not in (run.problem or "")  # no paths of the host


async def test_runs_go_on_while_the_store_is_locked_and_then_read_only_and_are_recorded_afterwards(
    tmp_path: Path,
) -> None:
    async with serving(tmp_path, "", "unshare", "-m", "--propagation", "private") as server:
        async with crowd(server) as callers:
            callers.ask(RUNS)
            await server.arrived(RUNS)
            folder = str(server.store.parent)
            mount(server, "mount", "--bind", folder, folder)
            with locked(server.store):
                server.open_gate()
                await not_ready(server, "is locked by another process")
                await callers.answered()
                await refused(callers, "is locked by another process")
                mount(server, "mount", "-o", "remount,bind,ro", folder)  # it opens the file again at the next write
            await not_ready(server, "may not be written by this user")
            await refused(callers, "may not be written by this user")
            assert {run.verdict for run in callers.asked if run.verdict} == {"ok"}
            mount(server, "umount", folder)
            await server.until_ready()
            await callers.ended()
            assert callers.check() == {"ok": RUNS, "refused": 4 * len(KINDS)}
            await callers.check_artifacts()
            await works(callers)
        said = [entry["message"] for entry in server.logged() if entry["logger"] == "paddock.store"]
        assert len(said) == 2  # what is wrong, and that it is over
        assert "is locked by another process" in said[0]
        assert said[1].endswith("can be written again")
        server.end()


async def works(callers: Crowd) -> None:
    """Check that runs of all kinds work, and are stored with their artifacts."""
    async with crowd(callers.serving) as others:
        others.ask(2 * len(KINDS))
        await others.ended()
        assert others.check() == {"ok": 2 * len(KINDS)}
        assert others.stored() == 2 * len(KINDS)
        await others.check_artifacts()


async def test_runs_on_a_full_disk_are_recorded_when_there_is_room_again(tmp_path: Path) -> None:
    with small_disk(tmp_path / "kept"):
        async with serving(tmp_path) as server, crowd(server) as callers:
            callers.ask(RUNS)
            await server.arrived(RUNS)
            with filled(server.store.parent):
                server.open_gate()
                await not_ready(server, "the disk is full; make room", "has less than 64 MB left")
                await callers.answered()
                await refused(callers, "the disk is full; make room")
            await server.until_ready()
            await callers.ended()
            assert callers.check() == {"ok": RUNS, "refused": 2 * len(KINDS)}
            await callers.check_artifacts()
            await works(callers)


def _exchange(one: Path, other: Path) -> None:
    """Exchange two paths in one step: the server would make a missing folder again."""
    here, exchange = -100, 2  # AT_FDCWD, RENAME_EXCHANGE
    syscall("renameat2", here, bytes(one), here, bytes(other), exchange)


@pytest.mark.parametrize("fault", ["full", "replaced"])
async def test_artifacts_that_cannot_be_written_are_missing_whole_and_their_scripts_are_told(
    tmp_path: Path, fault: str
) -> None:
    objects, away = tmp_path / "objects", tmp_path / "away"
    with small_disk(objects) if fault == "full" else nullcontext():
        async with serving(tmp_path) as server, crowd(server, repeats=10_000) as callers:  # 250 KB each
            callers.ask(RUNS)
            await server.arrived(RUNS)
            if fault == "full":
                with filled(objects, but=10 << 20):
                    server.open_gate()
                    await callers.ended()
                    await not_ready(server, "has less than 64 MB left")
            else:
                server.open_gate()
                async with asyncio.timeout(PATIENCE_SECONDS):
                    while not (await callers.http["ann"].get("/artifacts")).json()["artifacts"]:
                        await asyncio.sleep(0.001)
                away.write_text("no folder")
                _exchange(objects, away)
                await callers.ended()
                await not_ready(server, "the bytes of an artifact cannot be written")
                _exchange(objects, away)
            await server.until_ready()
            assert callers.check() == {"ok": RUNS}
            assert 0 < callers.stored() < RUNS
            await callers.check_artifacts()
            await works(callers)


@contextmanager
def small_disk(folder: Path) -> Iterator[None]:
    """A disk of 80 MB at `folder`. What servers of other tests see of it does not matter."""
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=80m", TEST_DISK, str(folder)], check=True)  # noqa: S607
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)  # noqa: S607


@contextmanager
def filled(folder: Path, but: int = 0) -> Iterator[None]:
    """The disk of `folder`, full except for `but` bytes."""
    with (folder / "fill").open("wb") as file:
        is_filled = False
        while not is_filled:
            disk = os.statvfs(folder)
            with suppress(OSError):  # the server has written something meanwhile
                os.posix_fallocate(file.fileno(), 0, disk.f_bavail * disk.f_frsize - but)
                is_filled = True
        yield
    (folder / "fill").unlink()
