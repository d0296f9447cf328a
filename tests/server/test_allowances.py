"""How often a caller may start runs and call tools, over MCP and REST."""

from __future__ import annotations

import json
from typing import Any

import httpx2 as httpx
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from paddock import Config
from paddock.config import ServerConfig
from tests.rest.conftest import price, serve_rest


def config(**settings: Any) -> Config:
    return Config(engine="monty", server=ServerConfig(**settings))


def check_envelope(envelope: dict[str, Any]) -> None:
    assert (envelope["error_kind"], envelope["error_code"]) == ("rate_limited", "RATE_LIMITED")
    assert 0 < envelope["_meta"]["retry_after_seconds"] <= 60


async def test_a_caller_starts_no_more_runs_in_a_minute_than_it_may_and_others_are_not_affected() -> None:
    async with serve_rest(config(principal_runs_per_minute=2, require_token=True)) as rest:
        tokens = [(await rest.services.store.tokens.add(name))[1] for name in ("ada", "bob")]
        ada, bob = ({"Authorization": f"Bearer {token}"} for token in tokens)
        answers = [await rest.http.post("/runs", json={"code": "1"}, headers=ada) for _ in range(3)]
        assert [each.status_code for each in answers] == [200, 200, 429]
        check_envelope(answers[2].json()["envelope"])
        assert 1 <= int(answers[2].headers["retry-after"]) <= 60
        assert (await rest.http.post("/runs", json={"code": "1"}, headers=bob)).status_code == 200
        async with (
            httpx.AsyncClient(headers=ada, timeout=60) as http,
            Client(streamable_http_client(f"{rest.url}/mcp", http_client=http)) as client,
        ):
            answer = await client.call_tool("run_code", {"code": "1"})
        assert answer.is_error
        check_envelope(json.loads(answer.content[0].text))  # type: ignore[union-attr]
        assert len(await rest.services.store.runs.list("ada")) == 2


async def test_scripts_and_direct_calls_share_one_allowance_of_tool_calls() -> None:
    async with serve_rest(config(principal_calls_per_minute=2), tools=[price]) as rest:
        call = {"arguments": {"item": "lamp"}}
        assert (await rest.http.post("/tools/price/call", json=call)).json()["failed"] is False
        code = """
await price({'item': 'lamp'})
try:
    await price({'item': 'lamp'})
except Exception as problem:
    text = str(problem)
text
"""
        result = await rest.run(code)
        check_envelope(json.loads(result["output"]))
        refused = await rest.http.post("/tools/price/call", json=call)
        assert refused.status_code == 429
        assert int(refused.headers["retry-after"]) >= 1
        check_envelope(refused.json()["envelope"])
