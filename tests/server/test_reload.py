"""SIGHUP: the configuration is read again, and no run notices."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from pathlib import Path

import httpx2 as httpx

from paddock.server.reload import LIVE
from tests.bare import bare
from tests.docs.pages import ROOT, rows
from tests.server.test_processes import started

__all__ = ["bare"]


async def test_with_a_json_log_a_reload_is_an_entry_too(tmp_path: Path, bare: str) -> None:
    file, settings = tmp_path / "settings.toml", f"{Path(bare).read_text()}\n[server]\nlog_format = 'json'\n"
    file.write_text(settings)
    with started("serve", "--port", "0", "--config", str(file)) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        for text in (f"code_bytes = 1000\n{settings}max_runs = 5\n", "max_runs = 'many'"):
            file.write_text(text)
            process.send_signal(signal.SIGHUP)
            line = await asyncio.to_thread(process.stderr.readline)
            if text != "max_runs = 'many'":
                assert json.loads(line)["message"] == "The configuration was reloaded; changed: server.max_runs."
                line = await asyncio.to_thread(process.stderr.readline)
                assert json.loads(line)["message"] == "Restart the server to change: code_bytes."
        assert json.loads(line)["message"].startswith("The configuration was not reloaded: ")
        assert json.loads(line)["level"] == "warning"


async def test_a_pipe_is_not_read_again(tmp_path: Path, bare: str) -> None:
    pipe = tmp_path / "settings.toml"
    os.mkfifo(pipe)
    with started("serve", "--port", "0", "--config", str(pipe)) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        await asyncio.to_thread(pipe.write_text, Path(bare).read_text())
        url = process.stdout.readline().split(" at ")[1].split("/mcp")[0]
        process.send_signal(signal.SIGHUP)
        problem = await asyncio.to_thread(process.stderr.readline)
        assert problem == f"The configuration was not reloaded: {pipe} is a pipe, which can be read only once\n"
        assert httpx.get(f"{url}/healthz").is_success


async def test_a_reload_changes_limits_at_once_and_drops_no_run_and_says_what_needs_a_restart(
    tmp_path: Path, bare: str
) -> None:
    file, settings = tmp_path / "settings.toml", Path(bare).read_text()
    file.write_text(settings)
    with started("serve", "--port", "0", "--config", str(file)) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        url = process.stdout.readline().split(" at ")[1].split("/mcp")[0]
        async with httpx.AsyncClient(base_url=f"{url}/v1", timeout=60) as http:
            code = "import time\nprint('begun', flush=True)\ntime.sleep(2)\n'whole'"
            lasting = (await http.post("/runs", json={"code": code, "detach": True})).json()
            file.write_text(
                f"code_bytes = 1000\n{settings}\n[server]\nprincipal_runs_per_minute = 2\nurl = 'http://x.example'\n"
            )
            process.send_signal(signal.SIGHUP)
            lines = [await asyncio.to_thread(process.stderr.readline) for _ in range(2)]
            assert lines == [
                "The configuration was reloaded; changed: server.principal_runs_per_minute.\n",
                "Restart the server to change: code_bytes, server.url.\n",
            ]
            statuses = [(await http.post("/runs", json={"code": "1"})).status_code for _ in range(3)]
            assert statuses == [200, 200, 429]
            file.write_text("max_runs = 'many'")
            process.send_signal(signal.SIGHUP)
            problem = await asyncio.to_thread(process.stderr.readline)
            assert problem.startswith("The configuration was not reloaded: ")
            ended = (await http.get(f"/runs/{lasting['run_id']}", params={"wait_seconds": 60})).json()
            assert (ended["verdict"], ended["result"]["output"]) == ("ok", "whole")
    (entry,) = [json.loads(line) for line in (tmp_path / "audit.jsonl").read_text().splitlines()]
    assert (entry["event"], entry["changed"]) == ("config.reloaded", ["server.principal_runs_per_minute"])


def test_the_page_lists_every_setting_that_can_change() -> None:
    text = " ".join(row[0] for row in rows(ROOT / "docs" / "operating.md", "Changing the configuration"))
    assert sorted(name.strip("`,") for name in text.split()) == sorted(LIVE)
