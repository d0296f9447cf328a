"""The server's log, as text and as JSON."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import httpx2 as httpx
from mcp import Client

from paddock.server.logs import JsonFormatter, TextFormatter
from tests.bare import bare
from tests.server.test_processes import forked

__all__ = ["bare"]


def entries(text: str) -> list[dict[str, Any]]:
    assert all(line.startswith("{") for line in text.splitlines()), text
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


def test_what_a_client_sends_neither_reaches_a_terminal_nor_forges_an_entry(bare: str) -> None:
    hostile = "\x1b[2J\x1b]0;owned\x07\nan entry of its own"
    started = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
    carriers = [{"baggage": value} for value in (hostile, 5, [1], True)]
    carriers += [{"traceparent": f"00-{'1' * 32}-{'2' * 16}-01", "tracestate": value} for value in (hostile, 5)]
    requests = [{"method": "initialize", "params": started}] + [
        {"method": "ping", "params": {"_meta": each}} for each in carriers
    ]
    with forked("mcp", "--config", bare) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.writelines(
            json.dumps({"jsonrpc": "2.0", "id": at, **each}) + "\n" for at, each in enumerate(requests)
        )
        process.stdin.flush()
        answers = [json.loads(process.stdout.readline()) for _ in requests]
        said = process.communicate(timeout=60)[1]
    assert ["result" in each for each in answers] == [True] * len(requests), answers
    assert "\x1b" not in said
    assert all(line.startswith(" ") for line in said.splitlines() if "entry of its own" in line), said


def test_a_long_message_is_cut() -> None:
    record = logging.LogRecord("x", logging.WARNING, __file__, 1, "%s", ("a" * 1_000_000 + "\nend",), None)
    for formatter in (TextFormatter(), JsonFormatter()):
        assert 1000 < len(formatter.format(record)) < 20_000
