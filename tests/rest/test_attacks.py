"""Hostile requests over REST: each is refused or bounded, and the server goes on serving."""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import asdict, replace
from typing import Any

import httpx2 as httpx
import pytest

from paddock import Config
from paddock.config import ServerConfig, ToolsConfig
from paddock.model.events import Output, Progress, ToolCall
from paddock.server.code_tools import SavedTools
from paddock.server.http import make_app
from paddock.server.mcp import make_server
from paddock.server.rest import runs as rest_runs
from paddock.server.rest.runs import Events
from paddock.server.services import Services
from paddock.store.principals import PrincipalData
from paddock.store.runs import EVERYONE
from tests.rest.conftest import REQUIRED, Rest, price, serve_rest
from tests.server.conftest import at_a_port
from tests.server.test_access import bearer
from tests.server.test_event_loop import ERA
from tests.server.test_processes import ACCEPT
from tests.tools.upstreams import TOKEN, bare_config, hostile, plain, until

pytestmark = pytest.mark.asyncio(loop_scope="session")
FOREVER = "import time\nprint('begun', flush=True)\ntime.sleep(600)"
MANY = 20_000


async def send(rest: Rest, path: str, body: Any, *headers: str) -> asyncio.StreamWriter:
    """Send a request and return its connection, without waiting for the answer."""
    content = json.dumps(body).encode()
    head = [f"POST /v1{path} HTTP/1.1", "Host: localhost", "Content-Type: application/json", *headers]
    _, writer = await asyncio.open_connection("127.0.0.1", int(rest.url.rsplit(":")[-1]))
    writer.write("\r\n".join([*head, f"Content-Length: {len(content)}", "", ""]).encode() + content)
    await writer.drain()
    return writer


ABOUT_ALL_TOOLS: dict[str, tuple[str, str, Any]] = {
    "stubs": ("GET", "/tools/stubs", None),
    "search": ("GET", "/tools?query=price", None),
    "validate": ("POST", "/definitions/validate", {"name": "x", "description": "d", "code": "1", "tools": ["price"]}),
    "get_schema": ("POST", "", {"name": "get_schema", "arguments": {"tools": ["price"]}}),
    "tags": ("POST", "", {"name": "tags", "arguments": {}}),
}


@pytest.mark.parametrize("case", ABOUT_ALL_TOOLS)
async def test_one_callers_work_on_all_tools_is_done_one_after_another_even_if_it_gives_up(
    case: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """30 requests for the stubs of 2,500 tools made another caller's run wait for 91 s."""
    method, path, body = ABOUT_ALL_TOOLS[case]
    begun: list[None] = []
    may_go_on = asyncio.Event()

    def gated(work: Any) -> Any:
        async def wait(*arguments: Any, **options: Any) -> Any:
            begun.append(None)
            await may_go_on.wait()
            return await work(*arguments, **options)

        return wait

    async with serve_rest(REQUIRED, tools=[price]) as rest:
        for name in ("tool_stubs", "search_tools", "tools"):
            monkeypatch.setattr(rest.services.paddock, name, gated(getattr(rest.services.paddock, name)))
        ann, bob = await tokens(rest)

        def asked(token: dict[str, str]) -> asyncio.Task[httpx.Response]:
            return asyncio.create_task(
                rest.http.request(method, path, json=body, headers=token) if path else called(rest, body, token)
            )

        greedy = [asked(ann) for _ in range(3)]
        await until(lambda: bool(begun))
        greedy[0].cancel()
        await asyncio.wait(greedy[:1])
        modest = asked(bob)
        await until(lambda: len(begun) == 2)  # one for each
        for _ in range(3):  # what was sent before has arrived
            assert (await rest.http.get("/health", headers=ann)).status_code == 200
        assert len(begun) == 2
        may_go_on.set()
        assert [each.status_code for each in await asyncio.gather(modest, *greedy[1:])] == [200] * 3


async def called(rest: Rest, params: dict[str, Any], token: dict[str, str]) -> httpx.Response:
    """Call a tool over MCP."""
    era = {"io.modelcontextprotocol/protocolVersion": ERA, "io.modelcontextprotocol/clientCapabilities": {}}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {**params, "_meta": era}}
    headers = {**ACCEPT, **token, "mcp-protocol-version": ERA, "mcp-method": "tools/call", "mcp-name": params["name"]}
    return await rest.http.post(f"{rest.url}/mcp", json=message, headers=headers)


async def tokens(rest: Rest) -> list[dict[str, str]]:
    """The headers of two principals."""
    made = [await rest.services.store.tokens.add(name) for name in ("ann", "bob")]
    return [{"Authorization": f"Bearer {token}"} for _, token in made]


async def until_idle(rest: Rest) -> None:
    """Wait until nothing has a slot any more."""
    async with asyncio.timeout(30):
        while rest.services.queue.running or rest.services.queue.waiting or rest.services.runs:
            await asyncio.sleep(0.01)


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/runs", {"code": FOREVER}),
        ("/definitions/run_code/try", {"arguments": {"code": FOREVER}}),
        ("/tools/wait/call", {"arguments": {}}),
    ],
)
async def test_a_client_that_disconnects_while_it_waits_ends_what_it_asked_for(path: str, body: Any) -> None:
    started = asyncio.Event()

    async def wait() -> None:
        started.set()
        await asyncio.sleep(600)

    async with serve_rest(tools=[wait]) as rest:
        writer = await send(rest, path, body)
        async with asyncio.timeout(30):
            while not rest.services.runs and not started.is_set():
                await asyncio.sleep(0.01)
        writer.close()
        await until_idle(rest)


async def test_a_client_that_is_gone_before_its_stream_begins_leaves_no_slot_taken(rest: Rest) -> None:
    for _ in range(5):
        body, key = {"code": FOREVER}, "Idempotency-Key: gone"  # with a key, the run is written before it starts
        writer = await send(rest, "/runs", body, key, "Accept: text/event-stream")
        writer.transport.abort()
        writer.close()
        await until_idle(rest)
    unended = await rest.services.store.runs.list(EVERYONE, verdict="running")
    assert unended == []


async def test_waiting_for_the_run_of_another_does_not_tell_that_it_exists() -> None:
    async with serve_rest(REQUIRED) as rest:
        ann, bob = await tokens(rest)
        made = await rest.http.post("/runs", json={"code": FOREVER, "detach": True}, headers=ann)
        run_id = made.json()["run_id"]
        # A wait for the run would end only with the run, and the client gives up before that.
        response = await rest.http.get(f"/runs/{run_id}", params={"wait_seconds": 60}, headers=bob, timeout=30)
        assert (response.status_code, run_id in rest.services.runs) == (404, True)
        missing = await rest.http.get("/runs/r_nothing", params={"wait_seconds": 60}, headers=bob)
        assert missing.json() == {**response.json(), "detail": "there is no run 'r_nothing'"}


@pytest.mark.parametrize(
    "body",
    [
        {"code": "1", **{f"field{number}": 0 for number in range(MANY)}},
        {"code": "1", "argv": [0] * MANY},
        {"code": "1", "tools": [0] * MANY},
        {"code": "1", "tools": ["a"] * MANY},
        {"code": "1", "refused_modules": ["a"] * MANY},
        {"code": "1", "inputs": {f"x{number}": 0 for number in range(MANY)}},
        {"code": "1", "files": [{}] * MANY},
    ],
    ids=["fields", "arguments", "wrong tools", "tools", "modules", "inputs", "files"],
)
async def test_a_request_with_too_many_entries_is_refused_without_looking_at_each(rest: Rest, body: Any) -> None:
    response = await rest.http.post("/runs", json=body)
    problem = response.json()
    assert (response.status_code, len(response.content) < 1000) == (422, True)
    assert any(number in problem["detail"] for number in ("1000", "100 items", "at most 100")), problem


async def test_a_context_with_too_many_entries_is_refused(rest: Rest) -> None:
    response = await rest.http.put("/context", json={"values": {f"x{number}": 0 for number in range(MANY)}})
    assert (response.status_code, "at most 1000" in response.json()["detail"]) == (422, True)


@pytest.mark.parametrize(
    ("inputs", "reason"),
    [
        ({"x": "a" * 300_000}, "larger than"),
        ({"x": [10**4000] * 80}, "larger than"),
        ({"x": json.loads("[" * 500 + "]" * 500)}, "nested more than"),
    ],
)
async def test_a_definition_that_would_break_every_list_is_refused(rest: Rest, inputs: Any, reason: str) -> None:
    response = await rest.http.put("/definitions/big", json={"description": "d", "code": "1", "inputs": inputs})
    assert (response.status_code, reason in response.json()["detail"]) == (422, True)
    assert (await rest.http.get("/definitions")).status_code == 200


async def test_a_principal_has_a_limited_number_of_definitions(rest: Rest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("paddock.server.rest.definitions.MAX_DEFINITIONS", 1)
    spec = {"description": "d", "code": "1"}
    statuses = [(await rest.http.put(f"/definitions/{name}", json=spec)).status_code for name in ("d1", "d2", "d1")]
    assert statuses == [200, 422, 200]
    await rest.http.delete("/definitions/d1")


async def test_the_definitions_of_a_principal_are_limited_together(rest: Rest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("paddock.server.rest.definitions.TOTAL_BYTES", 50_000)
    spec = {"description": "d", "code": "1", "inputs": {"x": [10**4000] * 8}}
    statuses = [(await rest.http.put(f"/definitions/{name}", json=spec)).status_code for name in ("d1", "d2", "d1")]
    assert statuses == [200, 422, 200]
    await rest.http.delete("/definitions/d1")


async def test_events_that_nobody_reads_are_dropped_and_counted() -> None:
    events = Events()
    for number in range(100):
        events.add(ToolCall(number, "t", "x" * 1_000_000))
        events.add(Progress(number, None, "x" * 1000))
        events.add(Output("stdout", "x" * 1000))
    events.end()
    kept = []
    while (event := await events.next()) is not None:
        kept.append(event)
    assert (len(kept) + events.dropped, isinstance(kept[0], ToolCall)) == (300, True)
    assert sum(len(getattr(each, "arguments_json", "")) for each in kept) <= rest_runs.WAITING_BYTES


async def test_a_reader_that_missed_events_is_told_and_still_gets_the_result(
    rest: Rest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rest_runs, "WAITING_BYTES", 1000)
    headers, code = {"Accept": "text/event-stream"}, "for i in range(50): print('x' * 900, flush=True)\n7"
    async with rest.http.stream("POST", "/runs", json={"code": code}, headers=headers) as response:
        lines = [line async for line in response.aiter_lines()]
    assert "event: dropped" in lines or lines.count("event: output") == 50
    done = json.loads(lines[lines.index("event: done") + 1].removeprefix("data: "))
    assert (done["output"], len(done["stdout"])) == (7, 50 * 901)


@pytest.mark.parametrize("text", ["5", "[1]", "nonsense", "[" * 100_000, '{"a": NaN}', '{"a": 1e999}'])
async def test_arguments_that_are_not_an_object_do_not_break_the_stream(text: str) -> None:
    event = rest_runs._event("tool_call", asdict(ToolCall(1, "t", text)))
    assert json.loads(event.partition("data: ")[2])["arguments_json"] == text


async def test_what_a_called_tool_stores_belongs_to_its_caller() -> None:
    config = replace(bare_config({"it": plain()}), server=ServerConfig(require_token=True))
    async with serve_rest(config) as rest:
        ann, bob = await tokens(rest)
        answer = (await rest.http.post("/tools/it.picture/call", json={"arguments": {}}, headers=ann)).json()
        artifact = answer["value"]["result"]["id"]
        statuses = [(await rest.http.get(f"/artifacts/{artifact}", headers=who)).status_code for who in (ann, bob)]
        assert statuses == [200, 404]


@pytest.mark.parametrize("tool", ["secrets", "protocol_error", "die", "malformed", "surrogate", "nan", "odd_blocks"])
async def test_a_called_tool_that_misbehaves_is_an_answer_without_its_secret(tool: str) -> None:
    async with serve_rest(bare_config({"it": hostile()})) as rest:
        response = await rest.http.post(f"/tools/it.{tool}/call", json={"arguments": {}})
        assert (response.status_code, set(response.json())) == (200, {"value", "failed"})
        code = f"await call_tool('it.{tool}', {{}})"
        streamed = await rest.http.post("/runs", json={"code": code}, headers={"Accept": "text/event-stream"})
        servers = await rest.http.get("/servers")
        run = await rest.run(code)
        stored = await rest.http.get(f"/runs/{run['run_id']}")
        shown = [response.text, streamed.text, servers.text, json.dumps(run), stored.text]
        assert ("event: done" in streamed.text, [text for text in shown if TOKEN in text]) == (True, [])


async def test_a_called_tool_obeys_the_policy_and_the_rules_of_the_context() -> None:
    rules = ToolsConfig(policy=({"match": "it.ok", "action": "deny"},))
    async with serve_rest(bare_config({"it": hostile()}, tools=rules)) as rest:
        denied = (await rest.http.post("/tools/it.ok/call", json={"arguments": {}})).json()
        assert (denied["failed"], denied["value"]["error_kind"]) == (True, "policy_denied")


@pytest.mark.parametrize("path", ["/check", "/lint", "/definitions/validate", "/tools/price/call"])
async def test_work_that_is_no_run_is_refused_when_the_queue_is_full(path: str) -> None:
    few = replace(Config(), server=ServerConfig(max_runs=1, max_waiting=0))
    async with serve_rest(few) as rest:
        writer = await send(rest, "/runs", {"code": FOREVER})
        while not rest.services.queue.running:
            await asyncio.sleep(0.01)
        body: dict[str, Any] = {"arguments": {}} if path.startswith("/tools") else {"code": "1"}
        if "validate" in path:
            body = {"name": "a", "description": "d", "code": "1"}
        response = await rest.http.post(path, json=body)
        assert (response.status_code, response.json()["envelope"]["error_code"]) == (429, "RATE_LIMITED")
        writer.close()
        await until_idle(rest)


async def test_the_document_needs_a_token_as_everything_else_does() -> None:
    async with serve_rest(REQUIRED) as rest:
        assert (await rest.http.get(f"{rest.url}/openapi.json")).status_code == 401


async def test_only_operators_see_how_an_upstream_is_reached() -> None:
    config = replace(bare_config({"it": plain()}), server=ServerConfig(require_token=True))
    async with serve_rest(config) as rest:
        shown = {}
        for role in ("user", "operator"):
            _, token = await rest.services.store.tokens.add(role, role=role)
            response = await rest.http.get("/servers", headers={"Authorization": f"Bearer {token}"})
            shown[role] = response.json()[0]["endpoint"]
        assert (shown["user"], "plain.py" in shown["operator"]) == ("", True)


async def test_only_operators_see_where_a_store_that_failed_is() -> None:
    async with serve_rest() as rest:  # where only callers without a token are operators
        assert (await rest.http.post("/runs", json={"code": "1"})).status_code == 200
        path = rest.services.store.path
        path.rename(path.with_name("elsewhere.db"))
        shown = [(await rest.http.get(f"{rest.url}/readyz", headers=who)).text for who in (bearer("anybody"), {})]
        path.with_name("elsewhere.db").rename(path)
    assert [("was removed" in each, str(path.parent) in each) for each in shown] == [(True, False), (True, True)]


async def test_an_artifact_whose_bytes_are_gone_is_an_error_and_not_half_an_answer(rest: Rest) -> None:
    made = (await rest.http.post("/artifacts", files={"file": ("gone.txt", b"hello")})).json()
    folder = rest.services.artifacts.objects.folder
    assert folder is not None
    for path in [each for each in folder.rglob("*") if each.is_file() and each.read_bytes() == b"hello"]:
        path.unlink()
    response = await rest.http.get(f"/artifacts/{made['id']}/content")
    assert (response.status_code, str(folder) in response.text) == (503, False), response.text


async def test_a_client_that_leaves_in_the_middle_of_its_body_costs_no_line_in_the_log(
    rest: Rest, caplog: pytest.LogCaptureFixture
) -> None:
    _, writer = await asyncio.open_connection("127.0.0.1", int(rest.url.rsplit(":")[-1]))
    writer.write(b"POST /v1/runs HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n{")
    await writer.drain()
    await asyncio.sleep(0)
    writer.transport.abort()
    assert (await rest.run("1 + 1"))["output"] == 2
    assert [record.getMessage() for record in caplog.records if "ASGI" in record.getMessage()] == []


@pytest.mark.parametrize("path", ["/check", "/lint", "/definitions/validate"])
async def test_work_that_is_no_run_counts_as_one(path: str) -> None:
    few = replace(Config(), server=ServerConfig(principal_runs_per_minute=1))
    body = {"code": "1"} if "validate" not in path else {"name": "a", "description": "d", "code": "1"}
    async with serve_rest(few) as rest:
        statuses = [(await rest.http.post(path, json=body)).status_code for _ in range(2)]
        assert (statuses, (await rest.http.post("/runs", json={"code": "1"})).status_code) == ([200, 429], 429)


async def test_a_server_that_is_ready_is_not_checked_again_at_once(rest: Rest, monkeypatch: pytest.MonkeyPatch) -> None:
    probes = []
    probe = rest.services.artifacts.objects.probe

    async def count() -> None:
        probes.append(1)
        await probe()

    monkeypatch.setattr(rest.services.artifacts.objects, "probe", count)
    for path in ("/health", f"{rest.url}/readyz") * 10:
        assert (await rest.http.get(path)).status_code == 200
    assert len(probes) < 10


async def test_a_purge_reaches_the_session_and_the_definitions_that_a_server_holds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("paddock.server.services.CHECK_SECONDS", 0.0)
    monkeypatch.setattr("paddock.store.principals.REMEMBERED_SECONDS", 0.0)
    monkeypatch.setattr("paddock.server.authentication.REMEMBERED_SECONDS", 0.0)
    config = replace(REQUIRED, context={"region": {"argument": "region", "servers": ["*"]}})
    async with serve_rest(config) as rest:
        ann, _ = await tokens(rest)
        services = rest.services
        assert (await rest.http.put("/context", json={"values": {"region": "old"}}, headers=ann)).status_code == 200
        await rest.http.put("/definitions/mine", json={"description": "d", "code": "'old'"}, headers=ann)
        offered = SavedTools(services, "all")
        assert [each.code for each, _ in await offered.current("ann")] == ["'old'"]
        await PrincipalData(services.store, services.artifacts, "ann").purge()
        again = {"Authorization": f"Bearer {(await services.store.tokens.add('ann'))[1]}"}
        assert (await rest.http.get("/context", headers=again)).json() == {"values": {}, "connections": {}}
        await rest.http.put("/definitions/mine", json={"description": "d", "code": "'new'"}, headers=again)
        assert [each.code for each, _ in await offered.current("ann")] == ["'new'"]


async def test_a_purge_reaches_the_context_that_a_script_has_set(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("server.services.CHECK_SECONDS", "store.principals.REMEMBERED_SECONDS"):
        monkeypatch.setattr(f"paddock.{name}", 0.0)
    async with serve_rest(replace(REQUIRED, context={"region": {"argument": "region", "servers": ["*"]}})) as rest:
        ann, _ = await tokens(rest)
        body = {"code": "await call_tool('set_region', {'region': 'old'})"}
        assert (await rest.http.post("/runs", json=body, headers=ann)).json()["verdict"] == "ok"
        assert (await rest.http.get("/context", headers=ann)).json()["values"] == {"region": "old"}
        await PrincipalData(rest.services.store, rest.services.artifacts, "ann").purge()
        again = {"Authorization": f"Bearer {(await rest.services.store.tokens.add('ann'))[1]}"}
        assert (await rest.http.get("/context", headers=again)).json()["values"] == {}


async def test_a_purge_reaches_live_sessions(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("server.services.CHECK_SECONDS", "store.principals.REMEMBERED_SECONDS"):
        monkeypatch.setattr(f"paddock.{name}", 0.0)
    async with serve_rest(REQUIRED) as rest:
        ann, bob = await tokens(rest)
        body = {"code": "globals().setdefault('x', 0)\nx += 1\nx", "session": "notes"}

        async def count(token: dict[str, str]) -> int:
            return int((await rest.http.post("/runs", json=body, headers=token)).json()["output"])

        assert [await count(token) for token in (ann, ann, bob)] == [1, 2, 1]
        await PrincipalData(rest.services.store, rest.services.artifacts, "ann").purge()
        again = {"Authorization": f"Bearer {(await rest.services.store.tokens.add('ann'))[1]}"}
        assert (await rest.http.get("/sessions", headers=again)).json() == []
        assert [await count(token) for token in (again, again, bob)] == [1, 2, 2]


async def test_no_request_overtakes_the_one_that_finds_out_about_a_purge(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("paddock.store.principals.REMEMBERED_SECONDS", 0.0)
    async with serve_rest(replace(REQUIRED, context={"region": {"argument": "region", "servers": ["*"]}})) as rest:
        ann, _ = await tokens(rest)
        body = {"code": "await call_tool('set_region', {'region': 'old'})", "session": "notes", "engine": "monty"}
        assert (await rest.http.post("/runs", json=body, headers=ann)).json()["verdict"] == "ok"
        await PrincipalData(rest.services.store, rest.services.artifacts, "ann").purge()
        again = {"Authorization": f"Bearer {(await rest.services.store.tokens.add('ann'))[1]}"}
        answers = await asyncio.gather(*(rest.http.get(path, headers=again) for path in ("/sessions", "/context") * 4))
        assert [each.json() for each in answers] == [[], {"values": {}, "connections": {}}] * 4


async def test_the_next_holder_of_a_name_is_not_told_how_a_session_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("paddock.store.principals.REMEMBERED_SECONDS", 0.0)
    async with serve_rest(REQUIRED) as rest:
        ann, _ = await tokens(rest)
        crash = {"code": "import os\nos.abort()", "session": "notes"}
        assert (await rest.http.post("/runs", json=crash, headers=ann)).json()["verdict"] == "crashed"
        await PrincipalData(rest.services.store, rest.services.artifacts, "ann").purge()
        again = {"Authorization": f"Bearer {(await rest.services.store.tokens.add('ann'))[1]}"}
        ran = await rest.http.post("/runs", json={"code": "1", "session": "notes"}, headers=again)
        assert ran.json()["verdict"] == "ok", ran.text


async def test_a_check_does_not_depend_on_a_session_of_another() -> None:
    async with serve_rest(replace(Config(), server=ServerConfig(token="owner"))) as rest:  # noqa: S106
        ann, _ = await tokens(rest)
        run = {"code": "x = 1", "session": "notes", "environment": "default"}
        assert (await rest.http.post("/runs", json=run, headers=bearer("owner"))).json()["verdict"] == "ok"
        checked = {"code": "1", "session": "notes", "engine": "monty"}  # which has no environments
        assert (await rest.http.post("/check", json=checked, headers=ann)).json() == {"error": None}


async def test_a_purge_reaches_a_second_server_whose_first_has_served_the_next_holder_of_the_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("server.services.CHECK_SECONDS", "store.principals.REMEMBERED_SECONDS"):
        monkeypatch.setattr(f"paddock.{name}", 0.0)
    config = replace(REQUIRED, context={"region": {"argument": "region", "servers": ["*"]}})
    async with (
        serve_rest(config) as one,
        Services(one.services.config) as services,
        at_a_port(make_app(make_server(services), services)) as address,
        httpx.AsyncClient(base_url=f"{address.removesuffix('/mcp')}/v1", timeout=60) as other,
    ):
        ann, _ = await tokens(one)
        old, run = {"values": {"region": "old"}}, {"code": "x = 1", "session": "notes"}
        assert (await other.put("/context", json=old, headers=ann)).status_code == 200
        assert (await other.post("/runs", json=run, headers=ann)).json()["verdict"] == "ok"
        await PrincipalData(one.services.store, one.services.artifacts, "ann").purge()
        again = {"Authorization": f"Bearer {(await one.services.store.tokens.add('ann'))[1]}"}
        new = {"values": {"region": "new"}}
        assert (await one.http.put("/context", json=new, headers=again)).status_code == 200
        assert (await one.http.post("/runs", json=run, headers=again)).json()["verdict"] == "ok"
        assert (await other.get("/context", headers=again)).json()["values"] == {}
        assert (await other.get("/sessions", headers=again)).json() == []


async def test_a_purge_ends_the_requests_in_progress_so_that_they_store_nothing_afterwards(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("paddock.server.authentication.REMEMBERED_SECONDS", 0.01)
    begun, ended = asyncio.Event(), asyncio.Event()

    async def wait() -> None:
        """Wait forever."""
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    async with serve_rest(REQUIRED, tools=[wait]) as rest:
        ann, bob = await tokens(rest)
        for token in (ann, bob):
            begun.clear()
            request = asyncio.create_task(rest.http.post("/tools/wait/call", json={"arguments": {}}, headers=token))
            await begun.wait()
            if token is ann:
                await PrincipalData(rest.services.store, rest.services.artifacts, "ann").purge()
                assert ended.is_set()
                assert (await request).status_code == 401
                ended.clear()
        (token_of_bob,) = await rest.services.store.tokens.revoke("bob")  # is kept, so its requests go on
        await rest.http.get("/health", headers=bob)
        assert (token_of_bob.principal, ended.is_set()) == ("bob", False)
        request.cancel()


@pytest.mark.parametrize("charset", ["undefined", "punycode", "idna", "utf-16", "unicode_escape"])
@pytest.mark.parametrize(("path", "name"), [("/runs", "request"), ("/artifacts", "file")])
async def test_a_form_is_not_decoded_with_the_codec_that_a_caller_names(
    rest: Rest, path: str, name: str, charset: str
) -> None:
    body = f'--B\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{"a-b" * 100_000}\r\n--B--\r\n'
    kind = f"multipart/form-data; boundary=B; charset={charset}"
    async with asyncio.timeout(2):  # punycode would take longer
        refused = await rest.http.post(path, content=body, headers={"Content-Type": kind})
    assert (refused.status_code, "UTF-8" in refused.text) == (400, True), refused.text


async def test_others_get_turns_while_a_form_with_hostile_heads_is_parsed(rest: Rest) -> None:
    head = f'Content-Disposition: form-data; name="file"; filename="f"; x="{";" * 3900}'
    body = (f"--B\r\n{head}\r\n\r\n1\r\n" * 100).encode() + b"--B--\r\n"
    loop, longest = asyncio.get_running_loop(), 0.0

    async def watch() -> None:
        nonlocal longest
        while True:
            before = time.thread_time()
            await asyncio.sleep(0)
            longest = max(longest, time.thread_time() - before)

    watching = loop.create_task(watch())
    began = time.thread_time()
    headers = {"Content-Type": "multipart/form-data; boundary=B"}
    assert (await rest.http.post("/artifacts", content=body, headers=headers)).status_code == 422
    watching.cancel()
    assert longest < (time.thread_time() - began) / 2


async def test_a_long_content_type_is_refused_unparsed(rest: Rest) -> None:
    kind = f'multipart/form-data; boundary=B; a="{";" * 1000}"'
    body = '--B\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\nx\r\n--B--\r\n'
    refused = await rest.http.post("/artifacts", content=body, headers={"Content-Type": kind})
    assert refused.status_code == 400, refused.text
    short = kind.replace(";" * 1000, ";")
    assert (await rest.http.post("/artifacts", content=body, headers={"Content-Type": short})).status_code == 201


@pytest.mark.parametrize("path", ["/mcp", "/v1/health", "/healthz"])
async def test_a_path_with_a_line_break_at_its_end_is_unknown(rest: Rest, path: str) -> None:
    answer = await rest.http.get(f"{rest.url}{path}%0a")
    assert (answer.status_code, answer.json()["error"]) == (404, "UnknownPath")
