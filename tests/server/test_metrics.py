"""`/metrics`: what it counts, and who may see it."""

from __future__ import annotations

from typing import Any

import httpx2 as httpx
from prometheus_client.parser import text_string_to_metric_families

from tests.docs.pages import ROOT, rows
from tests.rest.conftest import REQUIRED, Rest, price, serve_rest
from tests.tools.upstreams import bare_config, plain


async def samples(rest: Rest) -> dict[tuple[str, ...], float]:
    """Every sample, by its name and the values of its labels, in the order of the labels' names."""
    response = await rest.http.get(f"{rest.url}/metrics")
    assert response.status_code == 200
    found = {}
    for family in text_string_to_metric_families(response.text):
        for sample in family.samples:
            found[(sample.name, *(sample.labels[label] for label in sorted(sample.labels)))] = sample.value
    return found


async def test_runs_are_counted_by_engine_and_verdict_and_calls_by_upstream_and_outcome() -> None:
    async with serve_rest(tools=[price]) as rest:
        await rest.run("await price({'item': 'lamp'})")
        await rest.run("await price({'item': 'lamp'}); await price({})")
        await rest.run("1 + 1", language="javascript")
        found = await samples(rest)
    assert found["paddock_runs_total", "cpython", "ok"] == 1
    assert found["paddock_runs_total", "cpython", "raised"] == 1
    assert found["paddock_runs_total", "quickjs", "ok"] == 1
    assert found["paddock_run_seconds_count", "cpython"] == 2
    assert found["paddock_run_wait_seconds_count",] == 3
    assert (found["paddock_runs_waiting",], found["paddock_runs_running",]) == (0, 0)
    calls = {key[1:]: value for key, value in found.items() if key[0] == "paddock_tool_calls_total"}
    assert calls == {("ok", ""): 2, ("mcp_input_validation", ""): 1}
    assert found["paddock_tool_call_seconds_count", ""] == 3
    assert found["paddock_guests_waiting", "quickjs", "bare"] >= 0


async def test_a_run_that_is_cancelled_is_counted_for_its_engine() -> None:
    async with serve_rest() as rest:
        run = await rest.run("print('be' + 'gun', flush=True)\nimport time; time.sleep(60)", detach=True)
        while "begun" not in (await rest.http.get(f"/runs/{run['run_id']}")).text:
            pass
        ended = (await rest.http.post(f"/runs/{run['run_id']}/cancel")).json()
        found = await samples(rest)
    assert (ended["verdict"], ended["engine"]) == ("cancelled", "cpython")
    assert found["paddock_runs_total", "cpython", "cancelled"] == 1


async def test_the_calls_of_an_upstream_carry_its_name() -> None:
    async with serve_rest(bare_config({"plain": plain()})) as rest:
        await rest.run("await call_tool('plain.add', {'a': 1, 'b': 2})")
        found = await samples(rest)
    assert found["paddock_tool_calls_total", "ok", "plain"] == 1
    assert found["paddock_tool_call_seconds_count", "plain"] == 1


async def test_the_page_on_operating_names_every_metric() -> None:
    async with serve_rest() as rest:
        assert rest.services.metrics is not None
        families = {family.name: family.type for family in rest.services.metrics.registry.collect()}
    names = {f"{name}_total" if kind == "counter" else name for name, kind in families.items()}
    documented = {row[0].strip("`").partition("{")[0] for row in rows(ROOT / "docs" / "operating.md", "Metrics")}
    assert documented == names


async def test_a_name_that_a_script_makes_up_is_no_label() -> None:
    async with serve_rest(tools=[price]) as rest:
        await rest.run("await call_tool('made.up', {})")
        found = await samples(rest)
    assert [key[1:] for key in found if key[0] == "paddock_tool_calls_total"] == [("tool_not_found", "")]


async def test_a_call_outside_of_a_run_is_counted_too() -> None:
    async with serve_rest(tools=[price]) as rest:
        await rest.http.post("/tools/price/call", json={"arguments": {"item": "desk"}})
        found = await samples(rest)
    assert found["paddock_tool_calls_total", "ok", ""] == 1


async def test_two_servers_in_one_process_count_apart() -> None:
    async with serve_rest() as one, serve_rest() as other:
        await one.run("1")
        assert ("paddock_runs_total", "cpython", "ok") not in await samples(other)


async def test_only_an_operator_sees_the_metrics_of_a_server_with_tokens() -> None:
    async def status(role: Any) -> int:
        _, token = await rest.services.store.tokens.add(f"{role}-1", role)
        headers = {"Authorization": f"Bearer {token}"}
        return (await http.get("/metrics", headers=headers)).status_code

    async with serve_rest(REQUIRED) as rest, httpx.AsyncClient(base_url=rest.url) as http:
        assert (await http.get("/metrics")).status_code == 401
        assert (await status("user"), await status("operator")) == (403, 200)


async def test_on_loopback_the_caller_without_a_token_is_the_operator() -> None:
    async with serve_rest() as rest, httpx.AsyncClient(base_url=rest.url) as http:
        assert (await http.get("/metrics")).status_code == 200
        assert (await http.get("/metrics", headers={"Authorization": "Bearer invented"})).status_code == 403
