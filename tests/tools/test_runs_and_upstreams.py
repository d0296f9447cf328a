"""Which upstreams a run connects to, and what a misbehaving one costs."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import pytest

from paddock import Config, Paddock, UnknownTool, Verdict
from paddock.config import ToolsConfig
from paddock.model.request import Request
from tests.forks import fork
from tests.tools.upstreams import PLAIN, Connect, HostileHttp, bare_config, hostile, plain

ENGINES = ["monty", "cpython"]
LATE, BROKEN, LOST = "UPSTREAM_TIMEOUT", "INTERNAL_ERROR", "UPSTREAM_NETWORK"
MISBEHAVING = (
    (4.0, {"hang": LATE, "hang_mid": LATE, "endless_notices": LATE}),
    (60.0, {"close_mid": LOST} | dict.fromkeys(["huge", "bomb", "malformed", "html", "other_id"], BROKEN)),
)
"""How long a call may take, and what calls come to that have so long."""


def double(n: int) -> int:
    """Twice as much."""
    return 2 * n


def config(upstreams: dict[str, Any], **tools: Any) -> Config:
    return bare_config(upstreams, tools=ToolsConfig(**tools))


async def states(paddock: Paddock) -> dict[str, str]:
    return {name: health.state for name, health in (await paddock.upstreams()).items()}


@pytest.mark.parametrize(("call_seconds", "expected"), MISBEHAVING)
@pytest.mark.parametrize("engine", ENGINES)
async def test_a_healthy_upstream_answers_while_another_misbehaves_in_every_way(
    hostile_http: HostileHttp, engine: str, call_seconds: float, expected: dict[str, str]
) -> None:
    code = f"""
import asyncio, json

async def tried(name):
    try:
        return (name, (await call_tool(name, {{}}))["result"])
    except RuntimeError as problem:
        return (name, json.loads(str(problem))["error_code"])

async def counted():
    return [(await call_tool("good.add", {{"a": n, "b": n}}))["sum"] for n in range(20)]

bad = asyncio.gather(*[tried("bad." + name) for name in {list(expected)}])
[await counted(), await bad, await tried("bad.ok")]
"""
    if engine == "monty":  # where gather begins when it is awaited
        code = code.replace("bad = asyncio", "both = await asyncio.gather(counted(), asyncio").replace(
            "])\n[await counted(), await bad, ", "]))\n[both[0], both[1], "
        )
    upstreams = {"good": plain(), "bad": hostile_http.at()}
    async with Paddock(config(upstreams, call_seconds=call_seconds, connect_seconds=60.0)) as paddock:
        result = await paddock.run(code, engine=engine)
    assert result.verdict is Verdict.OK, result.error
    sums, failed, ok = result.output
    assert sums == [2 * n for n in range(20)]
    assert dict(failed) == {f"bad.{name}": code for name, code in expected.items()}
    assert ok == ["bad.ok", "ok"]


@pytest.mark.parametrize("engine", ENGINES)
async def test_upstreams_that_never_connect_leave_the_healthy_one_alone(hostile_http: HostileHttp, engine: str) -> None:
    ways = ["hang", "endless_events", "header_bomb", "status/500", "hangs_at_list", "round_and_round"]
    bad = {f"bad{number}": hostile_http.at(f"/{way}") for number, way in enumerate(ways)}
    async with Paddock(config({"good": plain(), **bad}, connect_seconds=5.0)) as paddock:
        for _ in range(2):
            result = await paddock.run("(await add({'a': 1, 'b': 1}))['sum']", engine=engine)
            assert result.output == 2
        assert (await states(paddock))["good"] == "ready"
        assert "ready" not in [state for name, state in (await states(paddock)).items() if name != "good"]


async def test_a_run_without_tools_connects_to_none_and_finds_none() -> None:
    code = "import json\ntry:\n    x = await call_tool('good.add', {})\nexcept RuntimeError as e:\n    x = str(e)\nx"
    async with Paddock(config({"good": plain(), "dead": hostile("dies")}), tools=[double]) as paddock:
        result = await paddock.run(code, tools=())
        assert json.loads(result.output)["error_code"] == "TOOL_NOT_FOUND"
        assert await states(paddock) == {"good": "idle", "dead": "idle"}
        assert result.available_functions == ()


async def test_a_run_that_names_its_tools_connects_to_their_servers_alone() -> None:
    async with Paddock(config({"good": plain(), "dead": hostile("dies")}), tools=[double]) as paddock:
        doubled = await paddock.run("(await double({'n': 2}))['result']", tools=["double"])
        assert (doubled.output, await states(paddock)) == (4, {"good": "idle", "dead": "idle"})
        both = await paddock.run("[await double({'n': 2}), await add({'a': 1, 'b': 2})]", tools=["good.add", "double"])
        assert (both.output, set(both.available_functions)) == ([{"result": 4}, {"sum": 3}], {"add", "double"})
        assert await states(paddock) == {"good": "ready", "dead": "idle"}
        with pytest.raises(
            UnknownTool, match=r"'dead.x' cannot be linked: The server 'dead' is not available now: .*exit"
        ):
            await paddock.run("1", tools=["dead.x"])
        with pytest.raises(UnknownTool, match=r"Did you mean 'good\.add'"):
            await paddock.run("1", tools=["good.ad"])


async def test_only_the_first_run_waits_for_an_upstream_that_hangs(connect: Connect, hostile_http: HostileHttp) -> None:
    slow = connect(**hostile_http.at("/hang", connect_seconds=3600))
    assert await slow.tools(wait_seconds=0.01) == ()
    async with asyncio.timeout(20):
        assert await slow.tools(wait_seconds=3600) == ()
    assert slow.health.state == "connecting"


IN_PYTHON = (
    "import asyncio\nawait asyncio.sleep(0)\n2",
    "(await double({'n': 1}))['result']",
    "(await call_tool('good.add', {'a': 1, 'b': 1}))['sum']",
    "async def summed(a):\n    return (await call_tool('good.add', {'a': a, 'b': n}))['sum']\nawait summed(1)",
)
IN_JAVASCRIPT = (
    "await Promise.resolve(); 2",
    "(await double({n: 1})).result",
    "(await callTool('good', 'add', {a: 1, b: 1})).sum",
    "async function summed(a) { return (await callTool('good', 'add', {a, b: n})).sum }\nawait summed(1)",
)


@pytest.mark.parametrize(
    ("engine", "code"),
    [
        *(("monty", code) for code in IN_PYTHON),
        *(("quickjs", code) for code in IN_JAVASCRIPT),
        ("cpython", IN_PYTHON[-1]),  # what is waited for depends on the script and its language
        ("node", IN_JAVASCRIPT[-1]),
    ],
)
async def test_a_script_that_calls_other_tools_does_not_wait_for_a_server_that_hangs(
    hostile_http: HostileHttp, engine: str, code: str
) -> None:
    upstreams = {"slow": hostile_http.at("/hang", connect_seconds=3600), "good": plain()}
    language = "python" if engine in ENGINES else "javascript"
    async with Paddock(config(upstreams, connect_seconds=3600.0), tools=[double]) as paddock:
        async with asyncio.timeout(60):
            result = await paddock.run(code, language=language, engine=engine, inputs={"n": 1})
        assert (result.verdict, result.output) == (Verdict.OK, 2), result.error
        assert (await states(paddock))["slow"] == "connecting"


def waits_for(pipe: Path) -> dict[str, object]:
    """A server that starts once something was written to `pipe`."""
    os.mkfifo(pipe)
    command = ["-c", 'cat "$1"; shift; exec "$@"', "-", str(pipe), *fork.command(PLAIN, "stdio")]
    return plain(command="/bin/sh", args=command)


@pytest.mark.parametrize("language", ["python", "javascript"])
async def test_a_script_that_uses_functions_waits_for_every_server_that_may_have_them(
    tmp_path: Path, language: str
) -> None:
    late = waits_for(tmp_path / "go")
    async with Paddock(config({"late": late, "good": plain()})) as paddock:
        running = asyncio.create_task(paddock.run("await environment({})", language=language))
        while (await states(paddock))["good"] != "ready":
            await asyncio.sleep(0.01)
        (tmp_path / "go").write_text("")  # a reader of the pipe goes on once a writer has come and gone
        error = (await running).error
    assert error is not None
    assert "late.environment, good.environment" in error.message  # both have it, so it is called on neither


async def test_waiting_for_a_server_does_not_count_as_the_scripts_time(tmp_path: Path) -> None:
    late = waits_for(tmp_path / "go")
    async with Paddock(config({"late": late})) as paddock:
        assert (await paddock.run("1")).verdict is Verdict.OK
        limits = {"wall_seconds": 2.0}
        running = asyncio.create_task(paddock.run("await environment({})\n1", limits=limits))
        done, _ = await asyncio.wait([running], timeout=3.0)
        (tmp_path / "go").write_text("")
        assert (done, (await running).verdict) == (set(), Verdict.OK)


async def test_a_tool_of_a_server_that_connects_during_a_run_is_found_by_its_full_name(
    hostile_http: HostileHttp,
) -> None:
    async with Paddock(config({"late": hostile_http.at()})) as paddock:
        scope = await paddock._toolbox.scope(Request("no word of it"))
        assert (await scope.find("late.ok")) is not None
        scope._catalogue = (await scope.catalogue()).subset([])  # what it was before the server came
        found = await scope.find("late.ok")
        assert found is not None
        assert found.full_name == "late.ok"


@pytest.mark.parametrize("engine", ENGINES)
async def test_a_server_that_wants_credentials_says_what_to_set(hostile_http: HostileHttp, engine: str) -> None:
    code = """
import json
said = []
for name in ("it.anything", "late.status_401"):
    try:
        await call_tool(name, {})
    except RuntimeError as problem:
        said.append(json.loads(str(problem)))
said
"""
    upstreams = {"it": hostile_http.at("/status/401"), "late": hostile_http.at()}
    async with Paddock(config(upstreams)) as paddock:
        result = await paddock.run(code, engine=engine)
        health = (await paddock.upstreams())["it"]
    assert [(said["error_kind"], said["error_code"], said["retryable"]) for said in result.output] == [
        ("auth_error", "AUTH_AUTHENTICATION", False)
    ] * 2
    for summary in (health.error, *(said["summary"] for said in result.output)):
        assert "answered with HTTP 401: no: [redacted]" in summary
        assert """headers = { Authorization = "Bearer ${TOKEN}" }""" in summary
        assert "It offers OAuth: without that header, `paddock tools login" in summary
    assert health.state == "failed"
