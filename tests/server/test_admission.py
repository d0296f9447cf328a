"""Admission: which runs start, which wait, and which are refused at once."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, ClassVar

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from paddock import Config, linter
from paddock.config import ServerConfig
from paddock.definitions.definition import shipped
from paddock.linter import Finding
from paddock.model.request import LOCAL
from paddock.server.http import make_app
from paddock.server.mcp import make_server
from paddock.server.services import Services
from paddock.server.sessions import Caller
from paddock.server.tool import ServerTool, builtin_tool, json_result
from paddock.store.runs import EVERYONE
from tests.server.conftest import at_a_port, served
from tests.server.shared_services import open_services


class Gate:
    """A tool that answers when the test says so."""

    def __init__(self) -> None:
        self.entered, self.is_open = asyncio.Event(), asyncio.Event()

    async def wait(self) -> int:
        self.entered.set()
        await self.is_open.wait()
        return 42


@asynccontextmanager
async def as_caller(address: str, token: str, peer: str = "127.0.0.1") -> AsyncIterator[Any]:
    transport = httpx2.AsyncHTTPTransport(local_address=peer)
    async with (
        httpx2.AsyncClient(headers={"authorization": f"Bearer {token}"}, timeout=60, transport=transport) as http,
        Client(streamable_http_client(address, http_client=http)) as client,
    ):
        yield client


def config(**settings: float) -> Config:
    return Config(engine="monty", server=ServerConfig(**settings))  # type: ignore[arg-type]


def connected(services: Services, *definitions: str) -> Any:
    return Client(make_server(services, [shipped(each) for each in definitions or ["run_code"]]))


async def start(client: Any, code: str = "await wait()", **arguments: Any) -> dict[str, Any]:
    """The answer to a detached call."""
    answer = await client.call_tool("run_code", {"code": code, "detach": True, "timeout": 600, **arguments})
    return json.loads(answer.content[0].text)  # type: ignore[no-any-return]


async def until_ended(client: Any, run_id: str) -> dict[str, Any]:
    async with asyncio.timeout(60):
        while True:
            shown: dict[str, Any] = (await client.call_tool("get_run", {"run_id": run_id})).structured_content
            if shown["verdict"] not in ("queued", "running"):
                return shown
            await asyncio.sleep(0.01)


async def test_one_callers_long_runs_do_not_keep_another_waiting_and_runs_beyond_the_queue_are_refused() -> None:
    gate = Gate()
    async with (
        open_services(config(max_runs=4, max_waiting=8), tools=[gate.wait]) as services,
        served(services) as address,
        as_caller(address, "greedy") as greedy,
        as_caller(address, "made up") as same_caller,
        as_caller(address, "modest", "127.0.0.2") as modest,
    ):
        clients = [greedy, same_caller] * 5
        answers = [await start(client) for client in clients]
        states = [(each.get("verdict"), each.get("position")) for each in answers]
        assert states == [
            *[("running", None)] * 3,
            *[("queued", position) for position in range(1, 7)],
            (None, None),
        ]
        refusal = answers[-1]
        assert (refusal["error_kind"], refusal["error_code"], refusal["retryable"]) == (
            "rate_limited",
            "RATE_LIMITED",
            True,
        )
        assert refusal["_meta"]["retry_after_seconds"] >= 1
        assert len(await services.store.runs.list(EVERYONE)) == 9  # the refused one is not stored
        quick = await modest.call_tool("run_code", {"code": "1 + 1"})
        assert quick.structured_content["output"] == 2
        third, last = answers[5], answers[8]
        assert (await same_caller.call_tool("get_run", {"run_id": third["run_id"]})).structured_content == third
        ended = (await greedy.call_tool("cancel_run", {"run_id": last["run_id"]})).structured_content
        assert (ended["verdict"], ended["error"]["message"]) == ("cancelled", "cancel_run ended the run")
        gate.is_open.set()
        results = [await until_ended(*each) for each in zip(clients, [a["run_id"] for a in answers[:8]], strict=False)]
        assert [each["output"] for each in results] == [{"result": 42}] * 8


async def test_a_call_that_waits_reports_its_position_and_gives_up_after_a_while() -> None:
    gate = Gate()
    reports: list[str | None] = []

    async def report(done: float, total: float | None, message: str | None) -> None:
        reports.append(message)

    async with (
        open_services(config(max_runs=1, max_waiting=8, wait_seconds=0.2), tools=[gate.wait]) as services,
        connected(services) as client,
    ):
        await start(client)
        detached = await start(client)
        waiting = await client.call_tool("run_code", {"code": "1"}, progress_callback=report)
        assert json.loads(waiting.content[0].text)["error_code"] == "RATE_LIMITED"
        assert reports == ["queued, position 2"]
        refused = await until_ended(client, detached["run_id"])
        assert (refused["verdict"], refused["error"]["type"]) == ("rejected", "Overloaded")
        assert refused["error"]["message"].startswith("the run has waited 0.2 s for its turn; try again in")
        envelope = refused["error"]["envelope"]
        assert (envelope["error_code"], envelope["_meta"]["retry_after_seconds"] >= 1) == ("RATE_LIMITED", True)
        gate.is_open.set()


async def test_a_call_that_is_cancelled_while_it_waits_gives_its_slot_back() -> None:
    gate = Gate()
    async with (
        open_services(config(max_runs=1, max_waiting=2), tools=[gate.wait]) as services,
        connected(services) as client,
    ):
        await start(client)
        for _ in range(5):
            queued = asyncio.Event()

            async def report(done: float, total: float | None, message: str | None, queued: Any = queued) -> None:
                queued.set()

            waiting = asyncio.create_task(client.call_tool("run_code", {"code": "1"}, progress_callback=report))
            await asyncio.wait_for(queued.wait(), 60)
            waiting.cancel()
            await asyncio.wait([waiting])
        gate.is_open.set()
        assert (await client.call_tool("run_code", {"code": "1"})).structured_content["output"] == 1


async def test_a_face_shows_a_refusal_in_its_own_form() -> None:
    gate = Gate()
    settings = config(max_runs=1, max_waiting=1)
    async with (
        open_services(settings, tools=[gate.wait]) as services,
        connected(services, "run_code", "code_execution") as client,
    ):
        await start(client)
        await start(client)
        answer = await client.call_tool("code_execution", {"code": "1"})
        gate.is_open.set()
    error = answer.structured_content["error"]
    assert (answer.is_error, error["type"]) == (True, "RuntimeError")
    assert error["message"].startswith("too many runs are waiting already; try again in")


@pytest.mark.parametrize(
    "arguments",
    [
        {"code": "1", "inputs": {"": 1}},
        {"code": "1", "inputs": {"call_tool": 1}},
        {"code": "#" * 200_000},
        {"code": "1", "inputs": {"files": 1}, "files": [{"file_name": "a.txt", "content": ""}]},
    ],
    ids=["empty-name", "hidden-function", "long-code", "hidden-files"],
)
async def test_a_wrong_request_is_refused_at_once_whether_detached_or_not(arguments: dict[str, Any]) -> None:
    async with open_services(config()) as services, connected(services) as client:
        attached = await client.call_tool("run_code", arguments)
        stored = await services.store.runs.list(LOCAL)
        detached = await client.call_tool("run_code", {**arguments, "detach": True})
        assert (detached.is_error, detached.content) == (True, attached.content)
        assert json.loads(detached.content[0].text)["error_code"] == "INPUT_VALIDATION_FAILED"
        assert await services.store.runs.list(LOCAL) == stored
        assert [each.verdict for each in stored] == ["rejected"]
        assert services.runs == {}


class SlowlyChecked(ServerTool):
    """A tool whose arguments take as long to check as the test wants. It notes whose are being checked."""

    checked: ClassVar[list[str]] = []
    may_end: ClassVar[threading.Event] = threading.Event()

    def check(self, arguments: dict[str, Any]) -> Any:
        self.checked.append(arguments["who"])
        if arguments["who"] != "modest":
            assert self.may_end.wait(60)
        return super().check(arguments)


async def test_one_callers_large_arguments_are_checked_one_at_a_time() -> None:
    async def answer(caller: Caller, arguments: dict[str, Any]) -> Any:
        return json_result({"who": arguments["who"]})

    made = builtin_tool("large", "Large", "", {"type": "object"}, answer)
    tool, text = SlowlyChecked(made.tool, made.call), "x" * 600_000
    async with open_services(config()) as services:
        server = make_server(services, more=[tool])
        async with (
            at_a_port(make_app(server, services)) as address,
            as_caller(address, "greedy") as greedy,
            as_caller(address, "modest", "127.0.0.2") as modest,
        ):
            flood = [
                asyncio.create_task(greedy.call_tool("large", {"who": f"greedy {number}", "text": text}))
                for number in range(8)
            ]
            while not tool.checked:
                await asyncio.sleep(0.01)
            for _ in range(20):
                own = await modest.call_tool("large", {"who": "modest", "text": text})
                assert own.structured_content == {"who": "modest"}
            assert len([who for who in tool.checked if who != "modest"]) == 1
            tool.may_end.set()
            answers = [(await each).structured_content["who"] for each in flood]
            assert answers == [f"greedy {number}" for number in range(8)]


async def test_one_caller_lints_one_source_at_a_time_even_if_it_gives_up(monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[str] = []
    may_end = asyncio.Event()

    async def slow(code: str, **_: Any) -> list[Finding]:
        begun.append(code)
        if code.startswith("greedy"):
            await may_end.wait()
        return []

    async def silent(done: float, total: float | None, message: str | None) -> None: ...

    monkeypatch.setattr(linter, "alint", slow)
    greedy, modest = (Caller(name, None, silent, key=name) for name in ("greedy", "modest"))
    async with open_services(config()) as services:
        flood = [asyncio.create_task(services.lint(greedy, f"greedy {number}")) for number in range(3)]
        while not begun:
            await asyncio.sleep(0)
        flood[0].cancel()
        await asyncio.wait(flood[:1])
        assert await services.lint(modest, "modest") == []
        assert begun == ["greedy 0", "modest"]
        may_end.set()
        assert await asyncio.gather(*flood[1:]) == [[], []]
    assert begun == ["greedy 0", "modest", "greedy 1", "greedy 2"]
