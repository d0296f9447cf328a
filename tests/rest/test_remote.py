"""`Paddock(url=…)` does what a local Paddock does, and raises the same errors."""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import AsyncIterator
from contextlib import aclosing, suppress
from typing import Any

import pytest
import pytest_asyncio

from paddock import File, Limits, Paddock, PaddockError, RequestError, Unreachable
from paddock.errors import HostError, Overloaded
from paddock.model.events import Output
from paddock.server.connections import answer as whole_answer
from paddock.store.runs import EVERYONE
from tests.rest.conftest import REQUIRED, Rest, price, serve_rest

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def remote(rest: Rest) -> AsyncIterator[Paddock]:
    async with Paddock(url=rest.url) as made:
        yield made


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def local() -> AsyncIterator[Paddock]:
    async with Paddock(tools=[price]) as made:
        yield made


WRONG: list[dict[str, Any]] = [
    {"code": 5},
    {"code": b"1"},
    {"code": "#" * 2_000_000},
    {"language": "ruby"},
    {"language": None},
    {"engine": "v8"},
    {"engine": "quickjs"},
    {"language": "typescript", "engine": "quickjs"},
    {"inputs": {"a b": 1}},
    {"inputs": [1]},
    {"inputs": {"a": {1}}},
    {"inputs": {"a": float("nan")}},
    {"inputs": {"a": "\ud800"}},
    {"inputs": {"price": 1}},
    {"inputs": {"files": 1}, "files": [File("a", b"")]},
    {"files": File("a", b"")},
    {"files": [("a", b"")]},
    {"files": [File("\ud800", b"")]},
    {"files": [File("a", "text")]},  # type: ignore[arg-type]
    {"tools": "price"},
    {"tools": ["nothing"]},
    {"limits": {"wall": 1}},
    {"limits": {"wall_seconds": -1}},
    {"limits": {"wall_seconds": "1"}},
    {"limits": {"wall_seconds": 901}},
    {"limits": [1]},
    {"type_check": "yes"},
    {"mode": "program"},
    {"argv": ["a"]},
    {"mode": "script", "argv": "a"},
    {"refused_modules": "os"},
    {"refused_modules": ["a b"]},
    {"globals": "closed"},
    {"nothing": 1},
]


@pytest.mark.parametrize("options", WRONG, ids=lambda options: ascii(options)[:60])
@pytest.mark.parametrize("method", ["run", "validate", "check"])
async def test_a_wrong_request_raises_the_same_error(
    remote: Paddock, local: Paddock, method: str, options: dict[str, Any]
) -> None:
    raised = []
    for paddock in (local, remote):
        with pytest.raises(PaddockError) as caught:
            await getattr(paddock, method)(**{"code": "1", **options})
        raised.append((type(caught.value), str(caught.value)))
    assert raised[0] == raised[1]


@pytest.mark.parametrize(
    ("code", "options"),
    [
        ("sum(prices)", {"inputs": {"prices": [1, 2]}, "limits": Limits(wall_seconds=5)}),
        ("'\\ud800'", {}),
        ("\ud800", {}),
        ("raise ValueError('\\ud800')", {}),
        ("print('\\x0b\\x0c\\x1c\\x85\\u2028\\r\\n', end='')", {}),  # one write, which is one event
        ("x = []\nfor i in range(500):\n    x = [x]\nx", {}),
        ("'ä' * 400_000", {"limits": {"output_bytes": 10_000_000}}),
        ("[open(f['path']).read() + f['element_id'] for f in files]", {"files": [File("", b"a", "", "id 1")] * 3}),
        ("await price({'item': 'lamp'})", {"tools": ["price"], "type_check": True}),
        ("await price({'item': [[[1]]]})", {}),
        ("x = 1 / 0", {}),
        ("x = (", {}),
        ("process.version.length > 1", {"language": "node"}),
        ("let x: number = 1; x", {"language": "ts"}),
        ("import sys\nprint(sys.argv[1:])\nsys.exit(3)", {"mode": "script", "argv": ["ä"]}),
        ("import json", {"refused_modules": ["json"]}),
    ],
)
async def test_a_run_has_the_same_result_and_events(
    remote: Paddock, local: Paddock, code: str, options: dict[str, Any]
) -> None:
    results, events = [], []
    for paddock in (local, remote):
        async with aclosing(paddock.stream(code, **options)) as stream:
            *seen, done = [event async for event in stream]
        result = (await paddock.run(code, **options)).to_dict()
        for each in (result, done.result.to_dict()):  # type: ignore[union-attr]
            for call in each["calls"]:
                del call["milliseconds"]
            results.append(
                {name: value for name, value in each.items() if name not in ("run_id", "connection", "usage")}
            )
        events.append([(type(each).__name__, getattr(each, "text", None), getattr(each, "id", None)) for each in seen])
    assert results == [results[0]] * 4
    assert events[0] == events[1]


async def test_a_check_has_the_same_error(remote: Paddock, local: Paddock) -> None:
    for code, options in (("1", {}), ("x = (", {}), ("n + 'a'", {"inputs": {"n": 1}, "type_check": True})):
        found = [await each.check(code, **options) for each in (local, remote)]  # type: ignore[arg-type]
        assert found[0] == found[1]


async def test_tools_are_the_same(remote: Paddock, local: Paddock) -> None:
    for method, arguments in (
        ("tools", ()),
        ("search_tools", ("the price of an item",)),
        ("tool_stubs", ()),
        ("tool_stubs", (["price"],)),
        ("call_tool", ("price", {"item": "desk"})),
    ):
        found = [await getattr(each, method)(*arguments) for each in (local, remote)]
        assert found[0] == found[1]
    failed = [(await each.call_tool("a/b c", {})).value for each in (local, remote)]
    assert failed[0]["summary"] == failed[1]["summary"]
    partial = [await each.tool_stubs(["price"], whole=False) for each in (local, remote)]
    assert partial[0] == partial[1]
    for each in (local, remote):
        with pytest.raises(PaddockError, match="unknown tool 'nothing'"):
            await each.tool_stubs(["nothing"])
        with pytest.raises(PaddockError, match="must be a mapping"):
            await each.call_tool("price", [1])  # type: ignore[arg-type]
        assert await each.engine_problem("cpython") is None
    assert dict(await remote.upstreams()) == await local.upstreams() == {}


async def test_an_artifact_is_read_by_id_url_and_name_even_an_odd_one(remote: Paddock, local: Paddock) -> None:
    for paddock in (local, remote):
        for name in ("report.csv", "a_report", "a*b?/../ä.txt"):
            made = (await paddock.run("await create_artifact(name, name)", inputs={"name": name})).artifacts[0]
            read = [await paddock.read_artifact(ref) for ref in (made.id, made.url, name)]
            assert read == [name.encode()] * 3
        with pytest.raises(RequestError, match="there is no artifact 'none'"):
            await paddock.read_artifact("none")


async def test_run_sync_works_outside_of_an_event_loop(rest: Rest) -> None:
    def work() -> list[object]:
        with Paddock(url=rest.url) as paddock:
            return [paddock.run_sync("n * 2", inputs={"n": n}).output for n in range(3)]

    assert await asyncio.to_thread(work) == [0, 2, 4]


async def test_a_cancelled_run_has_ended_when_the_cancellation_returns(rest: Rest, remote: Paddock) -> None:
    code, started = "import time\nprint('begun', flush=True)\ntime.sleep(60)", asyncio.Event()
    async with aclosing(remote.stream(code)) as events:
        async for event in events:
            if event == Output("stdout", "begun\n"):
                break
    assert rest.services.runs == {}
    task = asyncio.create_task(remote.follow(code, lambda event: started.set()))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert rest.services.runs == {}
    assert [each.verdict for each in await rest.services.store.runs.list(EVERYONE, limit=2)] == ["cancelled"] * 2


async def test_errors_of_the_server_and_the_way_to_it_are_errors_of_the_library(rest: Rest) -> None:
    async with Paddock(url="http://127.0.0.1:1") as nobody:
        with pytest.raises(Unreachable, match="is `paddock serve` running there"):
            await nobody.run("1")
    async with Paddock(url=f"{rest.url}/nothing") as elsewhere:
        with pytest.raises(RequestError):
            await elsewhere.run("1")
    async with serve_rest(REQUIRED) as guarded:
        token = (await guarded.services.store.tokens.add("ann"))[1]
        async with Paddock(url=guarded.url, token=token) as ann:
            assert (await ann.run("1 + 1")).output == 2
        for wrong in (None, "pdk_wrong"):
            async with Paddock(url=guarded.url, token=wrong) as stranger:
                with pytest.raises(RequestError, match="Unauthorized"):
                    await stranger.run("1")
        await guarded.services.end_runs()
        async with Paddock(url=guarded.url, token=token) as late:
            with pytest.raises(Overloaded) as refused:
                await late.run("1")
        assert refused.value.retry_after_seconds > 0


async def test_what_belongs_to_the_server_cannot_be_given_or_asked_for(remote: Paddock) -> None:
    with pytest.raises(RequestError, match="tools cannot be used with url"):
        Paddock(url="http://localhost", tools=[price])
    with pytest.raises(RequestError, match="pass url as well"):
        Paddock(token="pdk_x")  # noqa: S106  not a real one
    with pytest.raises(RequestError, match="injection cannot be used with url"):
        assert remote.injection
    for method in (remote.redact, remote.redact_json):
        with pytest.raises(RequestError, match="cannot be used with url"):
            method("x")


def stream(*events: tuple[str, str]) -> bytes:
    body = "".join(f"event: {name}\ndata: {data}\n\n" for name, data in events).encode()
    return b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n" + body


async def answering(answer: bytes) -> asyncio.Server:
    """A server that answers every request with these bytes."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        await reader.readexactly(int(head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0] or 0))
        writer.write(answer)
        await writer.drain()
        writer.close()

    return await asyncio.start_server(serve, "127.0.0.1", 0)


STARTED = ("started", '{"run_id": "r_1"}')


@pytest.mark.parametrize(
    "answer",
    [
        stream(("started", "{}")),
        stream(("started", "[1]")),
        stream(STARTED, ("output", '{"nope": 1}')),
        stream(STARTED, ("output", '{"stream": "stdout", "text": 5}')),
        stream(STARTED, ("output", "not JSON")),
        stream(STARTED, ("error", "[]")),
        stream(("done", "[]")),
        stream(("done", '{"output": 1, "run_id": "r_1"}')),
        stream(("done", "[" * 100_000)),
        b'HTTP/1.1 429 X\r\nconnection: close\r\n\r\n{"detail": "x", "error": "Overloaded", "envelope": [1]}',
        b"HTTP/1.1 429 X\r\nconnection: close\r\n\r\n"
        b'{"detail": "x", "error": "Overloaded", "envelope": {"_meta": {"retry_after_seconds": "x"}}}',
        b"HTTP/1.1 500 X\r\nconnection: close\r\n\r\n" + b"[" * 100_000,
        b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n5",
        b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\nconnection: close\r\n\r\n" + gzip.compress(b"[]"),
        stream(("started", '{"run_id": "\\ud800"}')),
        stream(STARTED).replace(b"event-stream", b"event-stream; charset=idna"),
    ],
)
async def test_an_answer_that_makes_no_sense_is_a_failure_of_the_host_that_sent_it(answer: bytes) -> None:
    async with await answering(answer) as listener:
        url = f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}"
        async with Paddock(url=url) as paddock:
            with pytest.raises(HostError):
                await paddock.run("1")
            for ask in (
                paddock.tools,
                paddock.upstreams,
                lambda: paddock.check("1"),
                lambda: paddock.engine_problem("cpython"),
            ):
                with pytest.raises(HostError):
                    await ask()


async def test_an_artifact_whose_id_is_no_text_is_not_asked_for() -> None:
    listed = b'{"artifacts": [{"id": "\\ud800"}]}'
    async with await answering(b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n" + listed) as listener:
        url = f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}"
        async with Paddock(url=url) as paddock:
            with pytest.raises(HostError):
                await paddock.read_artifact("report.csv")


@pytest.mark.parametrize(("status", "most"), [(200, 256), (500, 1)])
async def test_an_answer_without_an_end_is_not_kept(status: int, most: int) -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(f"HTTP/1.1 {status} X\r\n\r\n".encode())
        with suppress(ConnectionError):
            for _ in range(2 * most):
                writer.write(bytes(1 << 20))
                await writer.drain()
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as listener:
        url = f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}"
        async with Paddock(url=url) as paddock:
            with pytest.raises(HostError, match=f"an answer of more than {most} MB"):
                await paddock.tools()


@pytest.mark.parametrize("answer", [b"", stream(STARTED)], ids=["no answer", "no more events"])
async def test_a_server_that_sends_nothing_more_is_not_waited_for(
    answer: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("paddock.remote.SILENT_SECONDS", 0.2)
    monkeypatch.setattr("paddock.remote.CANCEL_SECONDS", 0.2)
    ended = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(answer)
        await reader.read()  # until the client gives up
        writer.close()
        ended.set()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as listener:
        url = f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}"
        async with Paddock(url=url) as paddock:
            with pytest.raises(Unreachable, match=r"has sent nothing for 0\.2 s"):
                await paddock.run("1 + 1")
            await ended.wait()


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (whole_answer(503, "Too many connections are open"), "Too many connections are open"),
        (b'HTTP/1.1 502 X\r\nconnection: close\r\n\r\n{"message": "x"}', "/v1 answered with status 502, and is not"),
    ],
)
async def test_a_refusal_by_the_server_or_a_proxy_before_rest_has_a_reason(answer: bytes, reason: str) -> None:
    async with await answering(answer) as listener:
        url = f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}"
        async with Paddock(url=url) as paddock:
            with pytest.raises(HostError, match=reason):
                await paddock.run("1")


@pytest.mark.parametrize(
    "url",
    [
        "",
        5,
        "ftp://x",
        "http://",
        "http://:80",
        "http://x:0",
        "http://x:99999",
        "http://[::1",
        "http://x y",
        "http://x?a",
    ],
)
async def test_what_is_no_address_of_a_server_is_refused(url: Any) -> None:
    with pytest.raises(RequestError, match="is not the address of a server"):
        Paddock(url=url)


async def test_a_password_in_an_address_is_refused_and_not_shown() -> None:
    with pytest.raises(RequestError) as refused:
        Paddock(url="http://ann:secret@127.0.0.1:8080")
    assert (str(refused.value).endswith("pass token="), "secret" in str(refused.value)) == (True, False)


@pytest.mark.parametrize("token", ["", "é", "a b", "a\nb", b"a"])
async def test_a_token_that_cannot_be_sent_is_refused_and_not_shown(token: Any) -> None:
    with pytest.raises(RequestError, match="token must be text of printable ASCII characters, without spaces"):
        Paddock(url="http://127.0.0.1:8080", token=token)
