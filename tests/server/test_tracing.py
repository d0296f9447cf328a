"""Spans: of a run, its engine, its tool calls and requests to upstreams, in one trace."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import httpx2 as httpx

from tests.bare import bare
from tests.server.test_processes import begun
from tests.tools.upstreams import SERVERS

__all__ = ["bare"]
TRACING = SERVERS / "tracing.py"
TRACE, PARENT = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
CODE = """
found = await call_tool("it.traceparent", {})
try:
    await call_tool("it.made_up", {"x": "private"})
except Exception:
    pass
found
"""


async def test_one_trace_has_the_run_its_engine_its_calls_and_the_upstream_gets_its_context(
    tmp_path: Path, bare: str
) -> None:
    file = tmp_path / "settings.toml"
    upstream = f'[upstreams.it]\ncommand = "{sys.executable}"\nargs = ["{TRACING}"]\n'
    file.write_text(f"{Path(bare).read_text()}\n{upstream}")
    environment = {**os.environ, "OTEL_TRACES_EXPORTER": "console"}
    command = [sys.executable, "-m", "paddock", "serve", "--port", "0", "--config", str(file)]
    with begun(command, env=environment) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        url = process.stdout.readline().split(" at ")[1].split("/mcp")[0]
        async with httpx.AsyncClient(base_url=url, timeout=60) as http:
            headers = {"traceparent": f"00-{TRACE}-{PARENT}-01", "baggage": "private=1"}
            result = (await http.post("/v1/runs", json={"code": CODE}, headers=headers)).json()
            assert (await http.get("/v1/tools", params={"query": "private"})).status_code == 200
        process.terminate()
        text = process.stderr.read()
    assert result["verdict"] == "ok", result
    decoder, found = json.JSONDecoder(), []
    while text := text.lstrip():
        span, end = decoder.raw_decode(text)
        found.append(span)
        text = text[end:]
    by_name = {each["name"]: each for each in found}
    run, engine = by_name["run"], by_name["engine cpython"]
    call, sent = by_name["execute_tool it.traceparent"], by_name["MCP send tools/call traceparent"]
    assert [each["parent_id"] for each in (engine, call, sent)] == [
        each["context"]["span_id"] for each in (run, engine, call)
    ]
    assert (run["context"]["trace_id"], run["parent_id"]) == (f"0x{TRACE}", f"0x{PARENT}")
    trace_id, span_id = (sent["context"][name].removeprefix("0x") for name in ("trace_id", "span_id"))
    assert result["output"]["result"].startswith(f"00-{trace_id}-{span_id}-")
    assert (run["attributes"]["paddock.run_id"], run["attributes"]["paddock.verdict"]) == (result["run_id"], "ok")
    unknown = by_name["execute_tool"]
    assert (unknown["status"]["status_code"], unknown["attributes"]) == ("ERROR", {"error.type": "tool_not_found"})
    assert "private" not in json.dumps(found)


def test_without_a_provider_a_run_does_not_even_import_the_tracing_api() -> None:
    program = (
        "import sys, paddock; paddock.Paddock().run_sync('1', engine='monty');"
        "print('opentelemetry.trace' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_an_exporter_that_is_not_installed_is_refused_before_anything_is_served() -> None:
    environment = {**os.environ, "OTEL_TRACES_EXPORTER": "nonsense"}
    command = [sys.executable, "-m", "paddock", "serve", "--port", "0"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stdout) == (2, "")
    assert "OTEL_TRACES_EXPORTER is 'nonsense', which is not installed here" in done.stderr
