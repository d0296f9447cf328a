"""A backup of a live store, as docs/operating.md describes it, restored."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path

from mcp import Client

from paddock import Config
from paddock.model.artifacts import Owner
from paddock.model.request import LOCAL
from paddock.server.mcp import make_server
from paddock.server.services import Services
from tests.docs.pages import ROOT, blocks

BACKUP, RESTORE = [each.text for each in blocks(ROOT / "docs" / "operating.md") if each.language == "sh"]


async def do(commands: str, home: Path, backup: Path) -> None:
    """Run commands of the page, with other folders."""
    text = commands.replace("/backup", str(backup)).replace("~", str(home))
    shell = await asyncio.create_subprocess_exec("/bin/sh", "-euc", text)
    assert await shell.wait() == 0


async def test_a_copy_of_a_live_store_has_the_runs_and_artifacts_and_marks_a_run_in_progress_as_lost(
    tmp_path: Path,
) -> None:
    folder, backup = tmp_path / ".local" / "share" / "paddock", tmp_path / "backup"
    backup.mkdir()
    config = Config(engine="monty", data_directory=str(folder))
    async with Services(config) as services, Client(make_server(services)) as client:
        codes = [f"await create_artifact('{n}.txt', 'text {n}')\nprint({n})" for n in range(20)]
        ran = [(await client.call_tool("run_code", {"code": code})).structured_content for code in codes]
        endless = {"code": "while True:\n    pass", "detach": True}
        lasting = (await client.call_tool("run_code", endless)).structured_content
        assert await services.store.runs.get(LOCAL, lasting["run_id"]) is not None  # it has been written
        await do(BACKUP, tmp_path, backup)
        for each in (await services.artifacts.of(Owner(LOCAL)).list()).artifacts:
            await services.artifacts.of(Owner(LOCAL)).remove(each)  # after the backup
    shutil.rmtree(folder / "artifacts")
    (folder / "artifacts").mkdir()
    await do(RESTORE, tmp_path, backup)
    async with Services(config) as restored:
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
