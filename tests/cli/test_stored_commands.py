"""`paddock run` stores its runs: what `paddock runs` then knows of them, however they ended."""

from __future__ import annotations

import json
import signal
import stat
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import Ended, paddock, started
from tests.tools.upstreams import plain


class Stored:
    """A store, and the command as it uses that one."""

    def __init__(self, path: Path) -> None:
        self.path, self.spool = path, path.with_name(f"{path.name}.spool")

    def paddock(self, *arguments: str, **more: str) -> Ended:
        return paddock(*arguments, **{"PADDOCK_STORE__PATH": str(self.path), **more})  # type: ignore[arg-type]

    def started(self, *arguments: str) -> subprocess.Popen[str]:
        return started(*arguments, PADDOCK_STORE__PATH=str(self.path))

    def waiting(self) -> list[Path]:
        return list(self.spool.glob("*"))

    def runs(self) -> list[dict[str, Any]]:
        """All of them, the newest first, each with all that is kept of it."""
        listed = json.loads(self.paddock("runs", "list", "--json").out)
        return [json.loads(self.paddock("runs", "show", line["run_id"], "--json").out) for line in listed]


@pytest.fixture
def store(tmp_path: Path) -> Stored:
    return Stored(tmp_path / "paddock.db")


def servers(tmp_path: Path) -> str:
    file = tmp_path / "mcp.json"
    file.write_text(json.dumps({"mcpServers": {"plain": plain()}}))
    return str(file)


def test_a_run_is_listed_and_shown_with_its_code_result_and_calls(store: Stored, tmp_path: Path) -> None:
    code = "print('hi')\nreturn (await call_tool('plain.add', {'a': 1, 'b': 2}))['sum']"
    ran = store.paddock("run", "-c", code, "--json", "--mcp-config", servers(tmp_path))
    assert store.paddock("run", "-c", "1 / 0").status == 1
    assert not store.path.exists()  # nobody waited for a database
    failed, done = store.runs()
    assert store.waiting() == []
    assert done["run_id"] == json.loads(ran.out)["run_id"]
    assert (done["verdict"], done["code"], done["principal"]) == ("ok", code, "local")
    assert (done["result"]["output"], done["result"]["stdout"]) == (3, "hi\n")
    assert [(call["tool"], call["status"]) for call in done["result"]["calls"]] == [("plain.add", "ok")]
    assert (failed["verdict"], failed["result"]["error"]["type"]) == ("raised", "ZeroDivisionError")
    assert store.runs() == [failed, done]


def test_what_is_written_is_for_its_user_alone_and_holds_no_secret(store: Stored) -> None:
    store.paddock("run", "-c", "password = 'hunter2-of-ada'\nprint({'api_key': 'sk-live-0123456789abcdef0123'})")
    (file,) = store.waiting()
    assert [stat.S_IMODE(path.stat().st_mode) for path in (file, file.parent)] == [0o600, 0o700]
    assert "sk-live-0123456789abcdef0123" not in file.read_text()


def test_a_run_that_is_interrupted_was_cancelled(store: Stored) -> None:
    process = store.started("run", "-c", "print('here', flush=True)\nwhile True:\n    pass")
    assert process.stdout is not None
    assert process.stdout.readline() == "here\n"
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    (run,) = store.runs()
    assert run["verdict"] == "cancelled"


def test_a_run_whose_command_was_killed_is_lost_and_its_journal_whole(store: Stored, tmp_path: Path) -> None:
    begun = tmp_path / "begun"
    call = f"await call_tool('plain.wait', {{'started': '{begun}', 'cancelled': '{tmp_path / 'ended'}'}})"
    process = store.started("run", "-c", call, "--mcp-config", servers(tmp_path))
    while not begun.exists():
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)
    assert store.paddock("runs", "list").out == "No runs are stored yet.\n"  # it goes on, and is left alone
    process.kill()
    process.communicate(timeout=60)
    (run,) = store.runs()
    assert run["verdict"] == "lost"
    assert [(call["tool"], call["status"]) for call in run["result"]["calls"]] == [("plain.wait", None)]


def test_where_it_cannot_be_stored_that_is_said_and_it_runs_all_the_same(store: Stored) -> None:
    store.spool.write_text("no folder")
    ended = store.paddock("run", "-c", "1 + 1")
    assert (ended.status, ended.out) == (0, "2\n")
    assert ended.err.startswith("This run is not stored: cannot write ")


def test_a_request_that_makes_no_sense_is_no_run(store: Stored) -> None:
    assert store.paddock("run", "-c", "1", "--engine", "rust").status == 2
    assert store.waiting() == []


def test_it_can_be_switched_off(store: Stored) -> None:
    assert store.paddock("run", "-c", "1 + 1", PADDOCK_STORE__COMMANDS="false") == Ended(0, "2\n", "")
    assert store.waiting() == []
