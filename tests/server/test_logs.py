"""The server's log as JSON."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import httpx2 as httpx
from mcp import Client

from paddock.server.logs import JsonFormatter
from tests.bare import bare
from tests.server.test_processes import forked

__all__ = ["bare"]


def entries(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


async def test_each_run_has_an_entry_with_its_id_and_principal(tmp_path: Path, bare: str) -> None:
    file = tmp_path / "settings.toml"
    file.write_text(f'{Path(bare).read_text()}\n[server]\nlog_format = "json"\n')
    with forked("serve", "--port", "0", "--config", str(file)) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        address = process.stdout.readline().split(" at ")[1].split(". ")[0]
        async with Client(address) as client:
            ran = (await client.call_tool("run_code", {"code": "print('secret text')"})).structured_content
        async with httpx.AsyncClient(base_url=address.removesuffix("mcp"), timeout=60) as http:
            headers = {"Authorization": "Bearer an invented token"}
            other = (await http.post("v1/runs", json={"code": "1/0"}, headers=headers)).json()
        process.terminate()
        text = process.stderr.read()
    ends = [each for each in entries(text) if "verdict" in each]
    assert [(each["run_id"], each["verdict"], each["engine"]) for each in ends] == [
        (ran["run_id"], "ok", "cpython"),
        (other["run_id"], "raised", "cpython"),
    ]
    assert ends[0]["principal"] == "local"
    assert ends[1]["principal"].startswith("token-")
    assert "secret text" not in text
    assert "invented" not in text


def test_a_message_cannot_forge_another_entry() -> None:
    record = logging.LogRecord("paddock", logging.WARNING, __file__, 1, 'a\n{"level": "error"}', (), None)
    formatted = JsonFormatter().format(record)
    assert len(formatted.splitlines()) == 1
    assert json.loads(formatted)["message"] == 'a\n{"level": "error"}'
