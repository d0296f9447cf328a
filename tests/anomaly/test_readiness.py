"""A server whose store, data directory or disk fails: it says so once, and starts no run that it cannot record."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest
from mcp import Client

from tests.server.test_processes import address_of, begun

SMALL_DISK = 'mount -t tmpfs -o size=3m none {disk} && dd if=/dev/zero of={disk}/fill bs=1k 2>/dev/null; exec "$@"'

READ_ONLY = 'mount --bind {disk} {disk} && mount -o remount,bind,ro {disk}; exec "$@"'


class Server:
    """A server that runs, and what it says of itself."""

    def __init__(self, process: subprocess.Popen[str], address: str) -> None:
        self.process, self.address = process, address

    def get(self, path: str) -> tuple[int, str]:
        answer = httpx.get(self.address.replace("/mcp", path), timeout=60)
        return answer.status_code, answer.text

    async def run(self, code: str = "1 + 1", **arguments: Any) -> Any:
        async with Client(self.address) as client:
            return await client.call_tool("run_code", {"code": code, **arguments})

    def end(self) -> list[str]:
        """End it, and return the lines of its stderr."""
        self.process.terminate()
        return self.process.communicate(timeout=60)[1].splitlines()


def times(said: list[str], text: str) -> int:
    """How many lines have that text. At its end, a server also says how much was not written."""
    return len([line for line in said if text in line and "entries were not written" not in line])


WITHOUT_OVERRIDE = "import ctypes, os, sys; ctypes.CDLL(None).prctl(24, 1); os.execv(sys.argv[1], sys.argv[1:])"
"""A command that starts another one without CAP_DAC_OVERRIDE, with which root may write everywhere."""


@contextmanager
def server(*before: str) -> Iterator[Server]:
    command = [*before, sys.executable, "-m", "paddock", "serve", "--port", "0"]
    with begun(command) as process:
        yield Server(process, address_of(process))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the servers of a test keep what they keep."""
    made = tmp_path / "kept"
    made.mkdir()
    monkeypatch.setenv("PADDOCK_ENGINE", "monty")
    monkeypatch.setenv("PADDOCK_STORE__PATH", str(made / "store" / "paddock.db"))
    monkeypatch.setenv("PADDOCK_ARTIFACTS__URL", f"file://{made}/objects")
    monkeypatch.setenv("PADDOCK_DATA_DIRECTORY", str(made))
    return made


async def test_a_server_that_can_keep_what_it_does_is_ready_and_probes_leave_nothing(folder: Path) -> None:
    with server() as ready:
        assert (ready.get("/readyz"), ready.get("/healthz")) == ((200, "ok\n"), (200, "ok\n"))
        assert (await ready.run()).structured_content["output"] == 2
        assert [*(folder / "objects").iterdir()] == []
        assert ready.end() == []


async def test_a_store_that_is_removed_while_it_is_open_fails_runs_until_it_is_put_back(folder: Path) -> None:
    store, away = folder / "store", folder / "away"
    with server() as there:
        assert (await there.run()).is_error is False
        store.rename(away)
        assert (await there.run(detach=True)).is_error is True
        refused = await there.run()
        status, reason = there.get("/readyz")
        assert (status, there.get("/healthz")) == (503, (200, "ok\n"))
        assert "was removed or replaced while it was open" in reason
        assert (refused.is_error, "was removed or replaced" in refused.content[0].text) == (True, True)
        away.rename(store)
        assert there.get("/readyz") == (200, "ok\n")
        assert (await there.run()).is_error is False
        said = there.end()
    began, ended = said
    assert "was removed or replaced while it was open" in began
    assert ended == f"the store {store}/paddock.db can be written again"


async def test_a_data_directory_that_is_removed_is_noticed(folder: Path) -> None:
    with server() as there:
        assert (await there.run()).is_error is False
        shutil.rmtree(folder)
        status, reason = there.get("/readyz")
        refused = [await there.run(), await there.run()]
        assert there.get("/readyz")[0] == 503
        said = there.end()
    assert (status, {each.is_error for each in refused}) == (503, {True})
    assert f"the data directory {folder} was removed" in reason
    assert [line.partition(": ")[0] for line in said if "the data directory" in line] == ["not ready"]
    assert times(said, f"the store {folder}/store/paddock.db was removed") == 1


def until_not_ready(there: Server) -> None:
    """A server that is ready is checked once a second."""
    deadline = time.monotonic() + 30
    while there.get("/readyz")[0] != 503:
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_artifacts_that_cannot_be_stored_are_reported_once(folder: Path) -> None:
    objects = folder / "objects"
    with server() as there:
        assert there.get("/readyz") == (200, "ok\n")
        objects.rmdir()
        objects.touch()
        until_not_ready(there)
        assert [there.get("/readyz")[0] for _ in range(3)] == [503] * 3
        said = there.end()
    assert [line.partition(": ")[0] for line in said] == ["not ready"]


def test_a_folder_that_takes_no_new_artifacts_is_noticed(folder: Path) -> None:
    objects = folder / "objects"
    with server(sys.executable, "-c", WITHOUT_OVERRIDE) as there:
        assert there.get("/readyz") == (200, "ok\n")
        objects.chmod(0o555)
        until_not_ready(there)
        objects.chmod(0o755)


async def test_a_store_that_cannot_be_used_fails_the_first_run_already(folder: Path) -> None:
    (folder / "store").mkdir()
    (folder / "store" / "paddock.db").write_bytes(b"this is no database, whatever its name says" * 100)
    with server() as there:
        refused = [await there.run(), await there.run(detach=True), await there.run()]
        status, reason = there.get("/readyz")
        there.get("/readyz")
        said = there.end()
    assert ({each.is_error for each in refused}, status) == ({True}, 503)
    assert all("is not a database; move it away" in text for text in (refused[0].content[0].text, reason))
    assert times(said, f"the store {folder}/store/paddock.db ") == 1


def in_namespace(script: str, folder: Path) -> tuple[str, ...]:
    """The beginning of a command that runs `script` in mounts of its own, and then the rest."""
    command = ("unshare", "-rm", "sh", "-c", script.format(disk=folder), "sh")
    if subprocess.run([*command, "true"], capture_output=True, check=False).returncode:
        pytest.skip("a disk cannot be made here: no user namespaces")
    return command


@pytest.mark.parametrize("is_new", [True, False], ids=["new", "used before"])
async def test_a_store_that_is_read_only_from_the_start_fails_runs_and_is_noticed(
    folder: Path, *, is_new: bool
) -> None:
    if not is_new:
        with server() as before:
            assert (await before.run()).is_error is False
            before.end()
    with server(*in_namespace(READ_ONLY, folder)) as there:
        refused = [await there.run(), await there.run(detach=True), await there.run()]
        status, reason = there.get("/readyz")
        said = there.end()
    assert ({each.is_error for each in refused}, status) == ({True}, 503)
    assert all("paddock.db" in text and str(folder) not in text for text in (each.content[0].text for each in refused))
    assert all(
        "read-only" in text.lower() or "may not be written" in text for text in (reason, refused[0].content[0].text)
    )
    assert times(said, f"the store {folder}/store/paddock.db ") == 1


async def test_a_full_disk_fails_runs_and_is_noticed(folder: Path) -> None:
    with server(*in_namespace(SMALL_DISK, folder)) as there:
        refused = [await there.run(), await there.run()]
        status, reason = there.get("/readyz")
        said = there.end()
    assert ({each.is_error for each in refused}, status) == ({True}, 503)
    assert "the disk is full; make room" in refused[0].content[0].text
    assert "has less than 64 MB left" in reason
    assert times(said, f"the store {folder}/store/paddock.db ") == 1
