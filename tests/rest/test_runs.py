"""Runs over REST: created and waited for, streamed, detached, repeated, listed, cancelled."""

from __future__ import annotations

import asyncio
import base64
import json
from dataclasses import replace
from typing import Any

import pytest

from paddock import Config
from paddock.config import NetworkConfig, ServerConfig
from paddock.model.environments import EnvironmentConfig
from paddock.model.request import LOCAL, RunContext
from paddock.model.result import RunError, Verdict
from paddock.record import unfinished_result
from paddock.server import artifacts
from paddock.server import runs as server_runs
from paddock.server.services import SHUT_DOWN, SHUT_DOWN_EARLY
from paddock.store.database import Store
from paddock.store.runs import EVERYONE, LARGE_BYTES, NewRun
from tests.bare import BARE
from tests.rest.conftest import REQUIRED, Rest, serve_rest

pytestmark = pytest.mark.asyncio(loop_scope="session")
FOREVER = "import time\nprint('begun', flush=True)\ntime.sleep(60)"


async def events_of(rest: Rest, body: dict[str, Any]) -> list[tuple[str, Any]]:
    headers, found, name = {"Accept": "text/event-stream"}, [], ""
    async with rest.http.stream("POST", "/runs", json=body, headers=headers) as response:
        async for line in response.aiter_lines():
            if line.startswith("event: "):
                name = line.removeprefix("event: ")
            elif line.startswith("data: "):
                found.append((name, json.loads(line.removeprefix("data: "))))
    return found


async def test_a_run_is_created_and_its_result_returned(rest: Rest) -> None:
    response = await rest.http.post("/runs", json={"code": "sum(prices)", "inputs": {"prices": [1, 2, 3]}})
    result = response.json()
    assert (response.status_code, result["verdict"], result["output"], result["engine"]) == (200, "ok", 6, "cpython")
    stored = (await rest.http.get(f"/runs/{result['run_id']}")).json()
    assert (stored["code"], stored["result"]) == ("sum(prices)", result)


async def test_a_failed_script_is_a_result_with_hints_and_not_an_error_of_http(rest: Rest) -> None:
    response = await rest.http.post("/runs", json={"code": "x = 1\n1 / 0"})
    error = response.json()["error"]
    assert (response.status_code, error["type"], error["line"]) == (200, "ZeroDivisionError", 2)
    assert error["hints"] == ["Check that the divisor is not 0 first."]


async def test_the_events_of_a_run_are_streamed_in_order(rest: Rest) -> None:
    lines = ("print('hi')", "await price({'item': 'lamp'})", "await report_progress(1, 2, 'half')")
    code = "\n".join([*lines, "await create_artifact('a.txt', 'x')", "7"])
    events = await events_of(rest, {"code": code})
    names = [name for name, _ in events]
    assert names == ["started", "output", "tool_call", "tool_result", "progress", "artifact", "done"]
    values = dict(events)
    call = {"id": 1, "tool": "price", "arguments_json": '{"item": "lamp"}', "is_function": True}
    assert values["tool_call"] == call
    assert (values["tool_result"]["status"], values["progress"]["message"]) == ("ok", "half")
    assert (values["done"]["output"], values["done"]["run_id"]) == (7, values["started"]["run_id"])


async def test_files_go_in_as_text_base64_or_artifacts(rest: Rest) -> None:
    stored = (await rest.http.post("/artifacts", files={"file": ("c.txt", b"three", "text/plain")})).json()
    files = [
        {"file_name": "a.txt", "content": "one"},
        {"file_name": "b.bin", "base64": base64.b64encode(b"\xfftwo").decode()},
        {"artifact": stored["id"]},
    ]
    code = "sorted(open(f['path'], 'rb').read().decode(errors='replace') for f in files)"
    assert (await rest.run(code, files=files))["output"] == ["one", "three", "\ufffdtwo"]


@pytest.mark.parametrize(
    ("body", "status", "error", "detail"),
    [
        ({}, 422, "InvalidRequest", "code: Field required"),
        ({"code": 1}, 422, "InvalidRequest", "code: Input should be a valid string"),
        ({"code": "1", "cod": 1}, 422, "InvalidRequest", "cod: Extra inputs are not permitted"),
        ({"code": "1", "language": "ruby"}, 422, "UnknownLanguage", "ruby"),
        ({"code": "1", "engine": "v8"}, 422, "UnknownEngine", "v8"),
        ({"code": "1", "limits": {"wall": 1}}, 422, "BadLimit", "there is no limit 'wall'"),
        ({"code": "1", "limits": {"wall_seconds": -1}}, 422, "BadLimit", "positive"),
        ({"code": "1", "limits": {"wall_seconds": 1e9}}, 422, "LimitTooHigh", "at most 900"),
        ({"code": "1", "inputs": {"": 1}}, 422, "BadInput", "''"),
        ({"code": "1", "tools": ["nothing"]}, 422, "UnknownTool", "nothing"),
        ({"code": "1", "files": [{"file_name": "a"}]}, 422, "InvalidRequest", "files.0"),
        ({"code": "1", "files": [{"artifact": "a_none"}]}, 422, "BadFile", "a_none"),
        ({"code": "#" * 2_000_000}, 413, "CodeTooLarge", "128 KB"),
    ],
)
@pytest.mark.parametrize("more", [{}, {"detach": True}], ids=["waited for", "detached"])
async def test_a_wrong_request_is_a_problem_that_says_what_to_change(
    rest: Rest, body: dict[str, Any], status: int, error: str, detail: str, more: dict[str, Any]
) -> None:
    response = await rest.http.post("/runs", json=body | more)
    problem = response.json()
    assert (response.status_code, response.headers["content-type"]) == (status, "application/problem+json")
    assert (problem["status"], problem["error"], detail in problem["detail"]) == (status, error, True), problem


async def test_what_a_session_rules_out_is_refused_at_once_whether_detached_or_not() -> None:
    javascript, node = {"language": "javascript"}, {"language": "javascript", "engine": "node"}
    refused: list[dict[str, Any]] = [
        {"session": "new", "fork_from": "nope"},
        {"session": "new", "fork_from": "node", **node},
        {"session": "new", "fork_from": "python", **node},
        {"session": "new", "fork_from": "python", "environment": "data"},
        {"session": "new", "fork_from": "python", "network": ["example.org"]},
        {"session": "node", "fork_from": "python", **node},
        {"session": "python", **javascript},
        {"session": "python", "engine": "monty"},
        {"session": "python", "environment": "data"},
        {"session": "python", "network": ["example.org"]},
        {"session": "node"},
        {"session": "node", "limits": {"processes": 9}, **node},
        {"session": "node", "limits": {"file_bytes": 1 << 20}, **node},
    ]
    environments = {**BARE.environments, "data": EnvironmentConfig()}
    network = NetworkConfig(("example.org",))
    async with serve_rest(replace(BARE, environments=environments, network=network)) as rest:
        for session in ({"session": "python", "engine": "cpython"}, {"session": "node", **node}):
            assert (await rest.run("1", **session))["verdict"] == "ok"
        for body in refused:
            attached = await rest.http.post("/runs", json={"code": "1", **body})
            detached = await rest.http.post("/runs", json={"code": "1", "detach": True, **body})
            checked = await rest.http.post("/check", params={"compile": False}, json={"code": "1", **body})
            assert attached.status_code in (404, 422), body
            assert (detached.status_code, detached.json()["detail"]) == (
                attached.status_code,
                attached.json()["detail"],
            )
            assert checked.status_code == attached.status_code, body
        listed = await rest.http.get("/sessions")
        assert [(each["name"], each["cells"]) for each in listed.json()] == [("python", 1), ("node", 1)]


async def test_a_detached_run_may_fork_a_session_that_a_detached_run_is_to_make() -> None:
    async with serve_rest(replace(BARE, server=ServerConfig(max_runs=1))) as rest:
        bodies: list[dict[str, Any]] = [
            {"code": "import time\ntime.sleep(0.5)"},
            {"code": "x = 5", "session": "first"},
            {"code": "x", "session": "second", "fork_from": "first"},
        ]
        posted = [await rest.http.post("/runs", json={"engine": "cpython", "detach": True, **body}) for body in bodies]
        assert [each.status_code for each in posted] == [202] * 3
        last = (await rest.http.get(f"/runs/{posted[-1].json()['run_id']}", params={"wait_seconds": 60})).json()[
            "result"
        ]
        assert (last["verdict"], last["output"]) == ("ok", 5), last


async def test_a_body_that_is_not_json_is_a_problem(rest: Rest) -> None:
    for content in (b"{", b"\xff", b"[" * 100_000):
        response = await rest.http.post("/runs", content=content, headers={"Content-Type": "application/json"})
        assert (response.status_code in (400, 422), response.json()["status"] == response.status_code) == (True, True)


async def test_a_detached_run_is_fetched_later(rest: Rest) -> None:
    response = await rest.http.post("/runs", json={"code": "print('x')\n5", "detach": True})
    run_id = response.json()["run_id"]
    assert (response.status_code, response.headers["location"]) == (202, f"/v1/runs/{run_id}")
    run = (await rest.http.get(f"/runs/{run_id}", params={"wait_seconds": 30})).json()
    assert (run["verdict"], run["result"]["output"], run["result"]["stdout"]) == ("ok", 5, "x\n")


async def test_a_detached_run_is_known_to_other_servers_as_soon_as_it_is_accepted(rest: Rest) -> None:
    async with Store(rest.services.store.path) as elsewhere:
        for _ in range(5):
            run_id = (await rest.http.post("/runs", json={"code": "1", "detach": True})).json()["run_id"]
            assert await elsewhere.runs.get(LOCAL, run_id) is not None


async def test_who_waits_for_a_run_of_another_server_reads_it_only_when_it_has_ended(
    rest: Rest, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs, read = rest.services.store.runs, []
    is_read, get, is_running = asyncio.Semaphore(0), runs.get, runs.is_running

    async def look_and_tell(principal: str, run_id: str) -> bool:
        found = await is_running(principal, run_id)
        is_read.release()
        return found

    async def get_and_note(principal: Any, run_id: str) -> Any:  # a run may have made calls with megabytes
        found = await get(principal, run_id)
        read.append(None if found is None else found.verdict)
        return found

    async with Store(rest.services.store.path) as elsewhere, asyncio.timeout(30):
        await elsewhere.runs.begin(NewRun("r_elsewhere", LOCAL, "1", "python"))
        await elsewhere.writer.flush()
        monkeypatch.setattr(runs, "is_running", look_and_tell)
        monkeypatch.setattr(runs, "get", get_and_note)
        waiting = asyncio.create_task(rest.http.get("/runs/r_elsewhere", params={"wait_seconds": 60}))
        for _ in range(2):
            await is_read.acquire()
        error = RunError("Cancelled", "by a test")
        result = unfinished_result(RunContext("r_elsewhere"), "python", Verdict.CANCELLED, error)
        await elsewhere.runs.finish("r_elsewhere", result)
        assert (await waiting).json()["verdict"] == "cancelled"
    assert read == ["cancelled"]


async def test_a_run_that_goes_on_shows_its_output_and_can_be_cancelled(rest: Rest) -> None:
    run_id = (await rest.http.post("/runs", json={"code": FOREVER, "detach": True})).json()["run_id"]
    while not (run := (await rest.http.get(f"/runs/{run_id}")).json()).get("stdout"):
        await asyncio.sleep(0.05)
    assert (run["verdict"], run["stdout"], run["result"]) == ("running", "begun\n", None)
    ended = (await rest.http.post(f"/runs/{run_id}/cancel")).json()
    assert (ended["verdict"], ended["result"]["stdout"]) == ("cancelled", "begun\n")


async def test_a_client_that_disconnects_cancels_its_run(rest: Rest) -> None:
    async with rest.http.stream("POST", "/runs", json={"code": FOREVER}, headers={"Accept": "text/event-stream"}) as it:
        async for line in it.aiter_lines():
            if "begun" in line:
                break
    running = dict(rest.services.runs)
    await asyncio.gather(*(run.has_ended.wait() for run in running.values()))
    newest = (await rest.services.store.runs.list(EVERYONE, limit=1))[0]
    assert newest.verdict == "cancelled"


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/runs", {"code": "await held({})"}),
        ("/definitions/run_code/try", {"arguments": {"code": "await held({})"}}),
        ("/tools/held/call", {"arguments": {}}),
    ],
)
async def test_a_client_that_disconnects_while_it_waits_ends_what_it_asked_for(path: str, body: dict[str, Any]) -> None:
    called, cancelled = asyncio.Event(), asyncio.Event()

    async def held() -> None:
        called.set()
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()

    async with serve_rest(tools=[held]) as rest:
        waiting = asyncio.create_task(rest.http.post(path, json=body))
        await called.wait()
        waiting.cancel()
        await asyncio.wait([waiting])
        await cancelled.wait()
        await asyncio.gather(*(run.has_ended.wait() for run in rest.services.runs.values()))
        runs = await rest.services.store.runs.list(EVERYONE)
        assert [each.verdict for each in runs] == ([] if "tools" in path else ["cancelled"])


async def test_a_form_has_the_request_and_files(rest: Rest) -> None:
    code = "[[f['file_name'], f['file_type'], open(f['path'], 'rb').read().decode()] for f in files]"
    files: list[Any] = [
        ("request", (None, json.dumps({"code": code, "engine": "cpython"}), "application/json")),
        ("file", ("a.csv", b"1,2", "text/csv")),
        ("other", ("b", "ä".encode(), "application/octet-stream")),
    ]
    result = (await rest.http.post("/runs", files=files)).json()
    assert result["output"] == [["a.csv", "text/csv", "1,2"], ["b", "", "ä"]]
    as_file = [("request", ("request.json", json.dumps({"code": "1"}), "application/json"))]
    assert (await rest.http.post("/runs", files=as_file)).json()["output"] == 1


@pytest.mark.parametrize(
    ("parts", "status", "detail"),
    [
        ([("file", ("a", b"1"))], 422, "one part 'request'"),
        ([("request", (None, "{}"))], 422, "code: Field required"),
        ([("request", (None, "{"))], 400, "not JSON"),
        ([("request", (None, '{"code": "1"}')), ("x", (None, "1"))], 422, "must be a file"),
        ([("request", (None, '{"code": "1"}'))] * 2, 422, "one part 'request'"),
    ],
)
async def test_a_wrong_form_is_a_problem(rest: Rest, parts: list[Any], status: int, detail: str) -> None:
    response = await rest.http.post("/runs", files=parts)
    assert (response.status_code, response.headers["content-type"]) == (status, "application/problem+json")
    assert detail in response.json()["detail"]


async def test_a_quiet_stream_has_the_beginning_and_the_end_only(rest: Rest) -> None:
    headers = {"Accept": "text/event-stream"}
    response = await rest.http.post("/runs", params={"quiet": True}, json={"code": "print(1)"}, headers=headers)
    names = [line for line in response.text.splitlines() if line.startswith("event:")]
    assert names == ["event: started", "event: done"]


async def test_a_repeated_key_starts_nothing_new(rest: Rest) -> None:
    headers, body = {"Idempotency-Key": "order 7"}, {"code": "import random\nrandom.random()"}
    first, second = [(await rest.http.post("/runs", json=body, headers=headers)).json() for _ in range(2)]
    assert first == second
    other = await rest.http.post("/runs", json={"code": "2"}, headers=headers)
    assert (other.status_code, "another request" in other.json()["detail"]) == (422, True)


async def test_a_run_that_never_began_gives_its_key_back() -> None:
    entered, is_open = asyncio.Event(), asyncio.Event()

    async def wait() -> None:
        entered.set()
        await is_open.wait()

    config = Config(engine="monty", server=ServerConfig(max_runs=1, wait_seconds=0.05))
    async with serve_rest(config, tools=[wait]) as rest:
        first = asyncio.create_task(rest.run("await wait({})"))
        await entered.wait()
        headers = {"Idempotency-Key": "order 8"}
        refused = await rest.http.post("/runs", json={"code": "1 + 1"}, headers=headers)
        assert (refused.status_code, refused.headers["retry-after"]) == (429, "1")
        is_open.set()
        await first
        again = [(await rest.http.post("/runs", json={"code": "1 + 1"}, headers=headers)).json() for _ in range(2)]
        assert ([each["output"] for each in again], again[0]["run_id"]) == ([2, 2], again[1]["run_id"])
        listed = (await rest.http.get("/runs")).json()["runs"]
        assert [each["verdict"] for each in listed] == ["ok", "rejected", "ok"]


async def test_a_run_that_waits_when_the_server_is_shut_down_is_told_that_it_has_not_begun() -> None:
    entered = asyncio.Event()

    async def wait() -> None:
        entered.set()
        await asyncio.Event().wait()

    async with serve_rest(Config(engine="monty", server=ServerConfig(max_runs=1)), tools=[wait]) as rest:
        begun = asyncio.create_task(rest.run("await wait({})"))
        await entered.wait()
        waits = (await rest.http.post("/runs", json={"code": "1", "detach": True})).json()
        assert waits["verdict"] == "queued"
        await rest.services.end_runs()
        told = [(await begun)["error"]["message"]]
        stored = (await rest.http.get(f"/runs/{waits['run_id']}")).json()["result"]
        told.append(stored["error"]["message"])
        assert told == [SHUT_DOWN, SHUT_DOWN_EARLY]


async def test_a_check_that_waits_for_its_turn_holds_no_files() -> None:
    entered = asyncio.Event()

    async def wait() -> None:
        entered.set()
        await asyncio.Event().wait()

    few = ServerConfig(max_runs=1, wait_seconds=0.05)
    async with serve_rest(Config(engine="monty", server=few), tools=[wait]) as rest:
        begun = asyncio.create_task(rest.run("await wait({})"))
        await entered.wait()
        body = {"code": "1", "files": [{"artifact": "a_there_is_none_of_it"}]}
        assert (await rest.http.post("/check", json=body)).status_code == 429  # and not that the file is missing
        await rest.services.end_runs()
        await begun


async def test_the_files_of_one_callers_detached_runs_are_read_one_after_another(
    rest: Rest, monkeypatch: pytest.MonkeyPatch
) -> None:
    reading, most = 0, 0

    async def counted(*arguments: Any) -> Any:
        nonlocal reading, most
        reading, most = reading + 1, max(most, reading + 1)
        try:
            return await artifacts.add_files(*arguments)
        finally:
            reading -= 1

    made = (await rest.http.post("/artifacts", files={"file": ("a.txt", b"a")})).json()
    monkeypatch.setattr(server_runs, "add_files", counted)
    monkeypatch.setattr(server_runs.Run, "detach", lambda run: run._slot.leave())  # so that nothing else reads
    body = {"code": "1", "files": [{"artifact": made["id"]}], "detach": True}
    answers = await asyncio.gather(*(rest.http.post("/runs", json=body) for _ in range(8)))
    assert ({each.status_code for each in answers}, most) == ({202}, 1)


async def test_a_run_has_its_slot_until_its_result_is_stored(rest: Rest) -> None:
    stored, turn = rest.services.store.runs, asyncio.Lock()
    stored._encoding["local"] = turn
    async with turn:
        body = {"code": f"print('x' * {2 * LARGE_BYTES})", "detach": True}
        run_id = (await rest.http.post("/runs", json=body)).json()["run_id"]
        async with asyncio.timeout(60):
            while run_id in stored._running:
                await asyncio.sleep(0.001)
        assert rest.services.queue.running == 1
    await rest.services.runs[run_id].has_ended.wait()
    assert rest.services.queue.running == 0
    assert (await rest.http.get(f"/runs/{run_id}")).json()["verdict"] == "ok"


async def test_runs_are_listed_in_pages_with_filters(rest: Rest) -> None:
    made = [(await rest.run(code))["run_id"] for code in ("1", "1 / 0", "3")]
    page = (await rest.http.get("/runs", params={"limit": 2})).json()
    assert ([each["run_id"] for each in page["runs"]], page["next"]) == ([made[2], made[1]], made[1])
    after = (await rest.http.get("/runs", params={"limit": 1, "before": page["next"]})).json()
    assert after["runs"][0]["run_id"] == made[0]
    raised = (await rest.http.get("/runs", params={"verdict": "raised"})).json()["runs"]
    assert {each["verdict"] for each in raised} == {"raised"}
    first = await rest.services.store.runs.get(EVERYONE, made[0])
    script = (await rest.run("1", language="javascript"))["run_id"]
    assert first is not None
    cases: list[tuple[dict[str, Any], list[str]]] = [
        ({"language": "javascript", "started_after": first.started_at}, [script]),
        ({"engine": "quickjs", "started_after": first.started_at}, [script]),
        ({"engine": "monty", "started_after": first.started_at}, []),
        ({"started_after": first.started_at}, [script, made[2], made[1]]),
        ({"started_before": 0}, []),
        ({"connection": "s_none"}, []),
    ]
    for filters, wanted in cases:
        listed = (await rest.http.get("/runs", params=filters)).json()["runs"]
        assert [each["run_id"] for each in listed] == wanted


async def test_a_script_is_checked_and_linted_without_running(rest: Rest) -> None:
    assert (await rest.http.post("/check", json={"code": "1"})).json() == {"error": None}
    error = (await rest.http.post("/check", json={"code": "x = ("})).json()["error"]
    assert (error["type"], error["line"]) == ("SyntaxError", 1)
    findings = (await rest.http.post("/lint", json={"code": "import os\n1"})).json()
    assert [each["code"] for each in findings] == ["F401"]


async def test_nothing_of_another_principal_exists() -> None:
    async with serve_rest(REQUIRED) as rest:
        tokens = [(await rest.services.store.tokens.add(name))[1] for name in ("ann", "bob")]
        ann, bob = [{"Authorization": f"Bearer {token}"} for token in tokens]
        run_id = (await rest.http.post("/runs", json={"code": "1"}, headers=ann)).json()["run_id"]
        upload = {"file": ("a.txt", b"secret", "text/plain")}
        artifact = (await rest.http.post("/artifacts", files=upload, headers=ann)).json()["id"]
        spec = {"description": "one", "code": "1"}
        assert (await rest.http.put("/definitions/mine", json=spec, headers=ann)).status_code == 200
        paths = [f"/runs/{run_id}", f"/artifacts/{artifact}", f"/artifacts/{artifact}/content", "/definitions/mine"]
        for path in paths:
            statuses = [(await rest.http.get(path, headers=who)).status_code for who in (ann, bob, {})]
            assert (path, statuses) == (path, [200, 404, 401])
        for path in (f"/artifacts/{artifact}", "/definitions/mine"):
            assert (await rest.http.delete(path, headers=bob)).status_code == 404
        assert (await rest.http.post(f"/runs/{run_id}/cancel", headers=bob)).status_code == 404
        files = [{"artifact": artifact}]
        stolen = await rest.http.post("/runs", json={"code": "1", "files": files}, headers=bob)
        assert (stolen.status_code, stolen.json()["error"]) == (422, "BadFile")
        for path in ("/runs", "/artifacts", "/definitions"):
            found = (await rest.http.get(path, headers=bob)).json()
            assert not [each for each in (run_id, artifact, "mine") if each in str(found)]
