"""`paddock artifacts`: what servers have stored, here and over REST."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from paddock.config import Config
from paddock.model.artifacts import Owner
from paddock.model.request import LOCAL
from paddock.store.artifacts import StoredArtifacts
from paddock.store.database import Store
from tests.cli.command import Ended, paddock


def artifacts(data: str, *arguments: str) -> Ended:
    return paddock("artifacts", *arguments, PADDOCK_DATA_DIRECTORY=data)


@pytest.fixture
def data(tmp_path: Path) -> str:
    """A data directory with three artifacts, one of them of another principal."""
    config = Config(data_directory=str(tmp_path / "data"))

    async def fill() -> None:
        async with Store.from_config(config) as store:
            stored = StoredArtifacts.from_config(config, store)
            for owner, name in ((LOCAL, "a.csv"), (LOCAL, "../b.txt"), ("ann", "secret.csv")):
                await stored.of(Owner(owner, session="s")).create(name, "text/plain", name.encode())
            await stored.close()

    asyncio.run(fill())
    return str(tmp_path / "data")


def test_they_are_listed_saved_and_deleted(data: str, tmp_path: Path) -> None:
    listed = artifacts(data, "list")
    assert [line.split()[-1] for line in listed.out.splitlines()] == ["../b.txt", "a.csv"]
    (found,) = json.loads(artifacts(data, "list", "--name", "*.csv", "--json").out)
    assert (found["filename"], found["size"]) == ("a.csv", 5)
    got = artifacts(data, "get", "../b.txt", "--out", str(tmp_path / "out"))
    assert got == Ended(0, f"Saved ../b.txt as {tmp_path}/out/_._b.txt\n", "")
    assert (tmp_path / "out" / "_._b.txt").read_text() == "../b.txt"
    assert artifacts(data, "delete", found["id"]) == Ended(0, "Deleted a.csv\n", "")
    assert artifacts(data, "list", "--name", "*.csv").out == "No artifact matches.\n"


@pytest.mark.parametrize("command", ["get", "delete"])
def test_another_principals_are_unknown(data: str, command: str) -> None:
    ended = artifacts(data, command, "secret.csv")
    assert (ended.status, ended.err) == (
        2,
        "Error: there is no artifact 'secret.csv'; `paddock artifacts list` lists them\n",
    )


def test_without_a_store_there_are_none(tmp_path: Path) -> None:
    data = str(tmp_path / "none")
    assert artifacts(data, "list") == Ended(0, "No artifacts are stored.\n", "")
    assert not (tmp_path / "none").exists()
    assert artifacts(data, "get", "a").status == 2
