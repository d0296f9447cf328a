"""One upstream over each transport: connected when needed, and its calls answered."""

from __future__ import annotations

import asyncio
import gc
import os
import re
import signal
import subprocess
from pathlib import Path
from uuid import uuid4

import pytest

from paddock.model.tools import Hints
from paddock.tools.answers import Result
from paddock.tools.stdio import Trace, stdio
from paddock.tools.upstream import MAX_BACKOFF_SECONDS, Backoff
from paddock.tools.upstream_errors import CallFailed
from tests.forks import fork
from tests.tools.upstreams import Connect, Serve, plain, state, until


def texts(result: Result) -> list[str]:
    return [str(block.get("text")) for block in result.content]


TRANSPORTS = ("stdio", "http", "json", "sse", "unsaid")


def over(transport: str, serve: Serve, *, is_shared: bool = True) -> dict[str, object]:
    """Our own server over each transport; `unsaid` is the older one at an address of which nothing is said."""
    match transport:
        case "stdio":
            return plain()
        case "sse":
            return {"type": "sse", "url": serve("sse", is_shared=is_shared)}
        case "unsaid":
            return {"url": serve("sse", is_shared=is_shared)}
        case "json":
            url = serve("http", "json", is_shared=is_shared)
            return {"type": "http", "url": url, "description": "answers with json bodies"}
    return {"type": "http", "url": serve("http", is_shared=is_shared)}


@pytest.fixture(params=TRANSPORTS)
def settings(request: pytest.FixtureRequest, serve: Serve) -> dict[str, object]:
    return over(request.param, serve)


async def test_every_transport_lists_and_calls_tools(connect: Connect, settings: dict[str, object]) -> None:
    upstream = connect(**settings)
    assert state(upstream) == "idle"
    tools = {tool.name: tool for tool in await upstream.tools()}
    assert tools["echo"].full_name == "it.echo"
    assert tools["echo"].description == "Say it again."
    assert tools["echo"].hints == Hints(read_only=True, idempotent=True)
    assert tools["echo"].input_schema["required"] == ["text"]
    assert tools["echo"].output_schema is None
    assert tools["add"].output_schema is not None
    result = await upstream.call("add", {"a": 2, "b": 3})
    assert (result.structured, result.is_error) == ({"sum": 5}, False)
    health = upstream.health
    assert (health.state, health.error, health.tools) == ("ready", "", len(tools))
    assert (health.server_name, health.server_version, health.is_paddock) == ("plain", "1.2.3", False)


async def test_whoever_asks_between_the_handshake_and_the_list_waits_for_the_list(connect: Connect) -> None:
    upstream = connect(**plain())
    upstream.begin()
    while upstream._connection is None:
        await asyncio.sleep(0)
    assert not upstream.is_known
    assert "echo" in {tool.name for tool in await upstream.tools(wait_seconds=30)}


async def test_progress_arrives_over_every_transport(connect: Connect, settings: dict[str, object]) -> None:
    heard: list[tuple[float, float | None, str]] = []
    result = await connect(**settings).call("count", {"upto": 3}, progress=lambda *step: heard.append(step))
    assert texts(result) == ["counted"]
    steps = [(1.0, 3.0, "step 1"), (2.0, 3.0, "step 2"), (3.0, 3.0, "step 3")]
    assert heard == ([] if "json" in str(settings) else steps)  # one JSON body has no room for it


async def test_a_cancelled_call_is_cancelled_at_the_server(
    connect: Connect, settings: dict[str, object], tmp_path: Path
) -> None:
    upstream = connect(**settings)
    started, cancelled = tmp_path / "started", tmp_path / "cancelled"
    call = asyncio.create_task(upstream.call("wait", {"started": str(started), "cancelled": str(cancelled)}))
    await until(started.exists)
    call.cancel()
    if "json" not in str(settings):  # which learns that nobody waits when it has its answer
        await until(cancelled.exists)
    assert texts(await upstream.call("echo", {"text": "still here"})) == ["still here"]


async def test_a_call_that_takes_too_long_fails_alone(
    connect: Connect, settings: dict[str, object], tmp_path: Path
) -> None:
    upstream = connect(**settings)
    await upstream.tools()
    paths = {"started": str(tmp_path / "started"), "cancelled": str(tmp_path / "cancelled")}
    with pytest.raises(CallFailed) as caught:
        await upstream.call("wait", paths, timeout_seconds=0.5)
    assert (caught.value.code, caught.value.retryable) == ("UPSTREAM_TIMEOUT", True)
    assert texts(await upstream.call("echo", {"text": "still here"})) == ["still here"]


async def test_the_timeout_of_a_server_takes_precedence_over_that_of_a_call(connect: Connect, tmp_path: Path) -> None:
    upstream = connect(**plain(timeout=0.5))
    paths = {"started": str(tmp_path / "started"), "cancelled": str(tmp_path / "cancelled")}
    with pytest.raises(CallFailed, match=r"did not answer within 0\.5 s"):
        await upstream.call("wait", paths, timeout_seconds=3600)


@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_a_call_whose_server_is_killed_fails_and_is_not_repeated(
    connect: Connect, serve: Serve, transport: str, tmp_path: Path
) -> None:
    upstream = connect(**over(transport, serve, is_shared=False))
    pid = int(texts(await upstream.call("process", {}))[0].split()[0])
    started = tmp_path / "started"
    call = asyncio.create_task(upstream.call("wait", {"started": str(started), "cancelled": str(tmp_path / "x")}))
    await until(started.exists)
    os.kill(pid, signal.SIGKILL)
    with pytest.raises(CallFailed) as caught:
        await call
    assert (caught.value.code, caught.value.retryable) == ("UPSTREAM_NETWORK", True)


async def test_a_changed_list_of_tools_is_followed(connect: Connect, settings: dict[str, object]) -> None:
    upstream = connect(**settings)
    before = {tool.name for tool in await upstream.tools()}
    name = f"echo_{uuid4().hex}"  # other tests add tools to the same server
    await upstream.call("learn", {"name": name})
    await until(lambda: upstream.health.tools > len(before))
    assert {tool.name for tool in await upstream.tools()} == before | {name}


async def test_an_answer_of_several_megabytes_arrives_and_one_over_the_limit_fails_alone(
    connect: Connect, settings: dict[str, object]
) -> None:
    upstream = connect(**settings, answer_bytes=4 * 2**20)
    assert len(texts(await upstream.call("large", {"megabytes": 3}))[0]) == 3 * 2**20
    with pytest.raises(CallFailed) as caught:
        await upstream.call("large", {"megabytes": 9})
    assert re.search(r"(larger|more) than 4 MB", caught.value.summary)
    assert texts(await upstream.call("echo", {"text": "still here"})) == ["still here"]


async def test_calls_overlap_up_to_the_cap(connect: Connect, settings: dict[str, object], tmp_path: Path) -> None:
    upstream = connect(**settings)
    call = {"here": str(tmp_path), "others": 10}
    results = await asyncio.gather(*(upstream.call("meet", call) for _ in range(10)))
    assert [texts(result) for result in results] == [["met"]] * 10


async def test_no_more_calls_than_the_cap_are_under_way(connect: Connect, tmp_path: Path) -> None:
    upstream = connect(**plain(concurrency=2))
    call = {"here": str(tmp_path), "others": 3}
    three = [asyncio.create_task(upstream.call("meet", call)) for _ in range(3)]
    await until(lambda: len(list(tmp_path.iterdir())) == 2)
    assert not any(task.done() for task in three)
    (tmp_path / "the third").touch()
    assert [texts(await task) for task in three] == [["met"]] * 3


async def test_a_caller_with_many_calls_does_not_keep_another_from_a_server(connect: Connect, tmp_path: Path) -> None:
    upstream = connect(**plain(concurrency=2))
    call = {"here": str(tmp_path), "others": 9}
    many = [asyncio.create_task(upstream.call("meet", call, caller="ann")) for _ in range(4)]
    await until(lambda: len(list(tmp_path.iterdir())) == 1)
    async with asyncio.timeout(20):
        assert texts(await upstream.call("echo", {"text": "mine"}, caller="bob")) == ["mine"]
    for task in many[1:3]:
        task.cancel()
    for number in range(8):
        (tmp_path / f"another {number}").touch()
    assert [texts(await task) for task in (many[0], many[3])] == [["met"]] * 2
    await asyncio.gather(*(upstream.call("echo", {"text": "x"}, caller=each) for each in ("ann", "bob", "local") * 2))


async def test_a_child_has_no_environment_but_its_own(
    connect: Connect, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOMEBODYS_KEY", "sk-000000000000")
    upstream = connect(**plain(env={"MINE": "1"}, cwd=str(tmp_path)))
    names = set(texts(await upstream.call("environment", {}))[0].split())
    assert "SOMEBODYS_KEY" not in names
    assert {"MINE", "PATH"} <= names
    assert texts(await upstream.call("process", {}))[0].endswith(f" {tmp_path}")


async def test_closing_ends_the_child(connect: Connect) -> None:
    upstream = connect(**plain())
    pid = int(texts(await upstream.call("process", {}))[0].split()[0])
    await upstream.close()
    assert not is_running(pid)
    assert state(upstream) == "closed"
    with pytest.raises(CallFailed):
        await upstream.call("echo", {"text": "x"})


async def test_closing_fails_the_calls_that_are_under_way(connect: Connect, tmp_path: Path) -> None:
    upstream = connect(**plain())
    started = tmp_path / "started"
    call = asyncio.create_task(upstream.call("wait", {"started": str(started), "cancelled": str(tmp_path / "x")}))
    await until(started.exists)
    await upstream.close()
    with pytest.raises(CallFailed) as caught:
        await call
    assert caught.value.code == "UPSTREAM_NETWORK"


async def test_closing_ends_what_is_still_connecting(connect: Connect) -> None:
    upstream = connect(**plain())
    tools = asyncio.create_task(upstream.tools())
    await until(lambda: state(upstream) == "connecting")
    await upstream.close()
    with pytest.raises(CallFailed):
        await tools


HOST = """
import asyncio, sys
from paddock.tools.upstream import Upstream
from paddock.tools.mcp_config import parse

async def main():
    upstream = Upstream(parse({"mcpServers": {"it": {"command": sys.executable, "args": sys.argv[1:]}}})[0])
    print((await upstream.call("process", {})).content[0]["text"], flush=True)
    await asyncio.Event().wait()

asyncio.run(main())
"""


async def test_a_child_ends_with_a_host_that_is_killed(tmp_path: Path) -> None:
    (tmp_path / "host.py").write_text(HOST)
    arguments = [str(argument) for argument in plain()["args"]]  # type: ignore[attr-defined]
    command = fork.command(str(tmp_path / "host.py"), *arguments)
    host = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert host.stdout is not None
    pid = int((await asyncio.to_thread(host.stdout.readline)).split()[0])
    assert is_running(pid)
    host.kill()
    host.communicate()
    await until(lambda: not is_running(pid))


async def test_a_server_that_was_killed_is_started_again_for_the_next_call(
    connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("paddock.tools.stdio.GRACE_SECONDS", 30)  # or a busy machine would not say how it ended
    upstream = connect(**plain())
    pid = int(texts(await upstream.call("process", {}))[0].split()[0])
    os.kill(pid, signal.SIGKILL)
    await until(lambda: "signal 9" in upstream.health.error)
    assert state(upstream) == "failed"
    again = int(texts(await upstream.call("process", {}))[0].split()[0])
    assert again != pid
    assert state(upstream) == "ready"


async def test_a_caller_that_waits_a_limited_time_gets_the_known_tools(connect: Connect) -> None:
    upstream = connect(**plain())
    assert await upstream.tools(wait_seconds=0) == ()
    assert state(upstream) in ("idle", "connecting")
    assert len(await upstream.tools()) > 5
    assert len(await upstream.tools(wait_seconds=0)) > 5


async def test_an_address_where_nobody_listens_fails_with_that_reason(connect: Connect) -> None:
    upstream = connect(url="http://127.0.0.1:9/mcp")
    with pytest.raises(CallFailed) as caught:
        await upstream.tools()
    assert (caught.value.code, caught.value.retryable) == ("UPSTREAM_NETWORK", True)
    assert state(upstream) == "failed"


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


@pytest.mark.parametrize("turns", [1, 4, 9])
@pytest.mark.parametrize("is_started", [False, True])
async def test_a_child_cancelled_twice_while_it_starts_or_ends_leaves_nothing(
    connect: Connect, turns: int, is_started: bool
) -> None:
    started = asyncio.Event()

    async def talk() -> None:
        async with stdio(connect(**plain()).server, Trace()):
            started.set()
            await asyncio.Event().wait()

    talking = asyncio.ensure_future(talk())
    if is_started:
        await started.wait()
    for _ in range(2):
        for _ in range(turns):
            await asyncio.sleep(0)
        talking.cancel()
    await asyncio.wait([talking])
    assert talking.cancelled()
    gc.collect()  # what was not closed is told when it is collected, and fails the test


def test_each_backoff_is_at_least_half_of_its_maximum_up_to_a_minute() -> None:
    backoff = Backoff()
    assert backoff.left_seconds() <= 0
    waits = []
    for _ in range(20):
        backoff.attempted()
        waits.append(backoff.left_seconds())
    expected = [min(0.5 * 2**number, MAX_BACKOFF_SECONDS) for number in range(20)]
    assert all(most * 0.45 < wait <= most for wait, most in zip(waits, expected, strict=True))


def test_a_server_that_worked_is_reconnected_at_once() -> None:
    backoff = Backoff()
    for _ in range(5):
        backoff.attempted()
    assert backoff.left_seconds() > 0
    backoff.reset()
    assert backoff.left_seconds() <= 0
