"""A backup of a live store, as docs/operating.md describes it, restored elsewhere."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

from mcp import Client

from paddock import Config
from paddock.model.artifacts import Owner
from paddock.model.request import LOCAL
from paddock.server.mcp import make_server
from paddock.server.services import Services
from tests.server.shared_services import stored_in


def back_up(source: Path, target: Path) -> None:
    """Copy the database first, then the objects: an object stays for an hour after no record needs it."""
    target.mkdir()
    with (
        closing(sqlite3.connect(source / "paddock.db")) as live,
        closing(sqlite3.connect(target / "paddock.db")) as copy,
    ):
        live.backup(copy)
    shutil.copytree(source / "objects", target / "objects")


async def test_a_copy_of_a_live_store_has_the_runs_and_artifacts_and_marks_a_run_in_progress_as_lost(
    tmp_path: Path,
) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    source.mkdir()
    engine = Config(engine="monty")
    async with Services(stored_in(source, engine)) as services, Client(make_server(services)) as client:
        codes = [f"await create_artifact('{n}.txt', 'text {n}')\nprint({n})" for n in range(20)]
        ran = [(await client.call_tool("run_code", {"code": code})).structured_content for code in codes]
        endless = {"code": "while True:\n    pass", "detach": True}
        lasting = (await client.call_tool("run_code", endless)).structured_content
        assert await services.store.runs.get(LOCAL, lasting["run_id"]) is not None  # it has been written
        back_up(source, target)
        for each in (await services.artifacts.of(Owner(LOCAL)).list()).artifacts:
            await services.artifacts.of(Owner(LOCAL)).remove(each)  # after the backup
    async with Services(stored_in(target, engine)) as restored:
        for number, run in enumerate(ran):
            stored = await restored.store.runs.get(LOCAL, run["run_id"])
            assert stored is not None
            assert stored.result is not None
            assert (stored.verdict, stored.result["stdout"]) == ("ok", f"{number}\n")
            found = await restored.artifacts.of(Owner(LOCAL)).read(run["artifacts"][0]["id"])
            assert found is not None
            assert found[1] == f"text {number}".encode()
        unfinished = await restored.store.runs.get(LOCAL, lasting["run_id"])
        assert unfinished is not None
        assert unfinished.verdict == "lost"
