"""Runs that go on without their caller: begun with `detach`, asked for, cancelled, and repeated by their key."""

from __future__ import annotations

import asyncio
import json
from secrets import token_hex
from typing import Any

import pytest

from paddock.model.principals import LOCAL
from paddock.server.services import Services
from paddock.store.database import Store
from tests.server.conftest import Connect
from tests.server.kept import Kept, opened

pytestmark = pytest.mark.asyncio(loop_scope="module")

TELLS = "print('begun')\nawait meet()\nprint('met')\n42"


class Meeting:
    """What a script and its test tell each other."""

    def __init__(self) -> None:
        self.here, self.may_go, self.gone = asyncio.Event(), asyncio.Event(), asyncio.Event()
        self.times = 0


meetings: list[Meeting] = []


@pytest.fixture
def meeting() -> Meeting:
    meetings.append(Meeting())
    return meetings[-1]


async def meet() -> None:
    meeting = meetings[-1]
    meeting.times += 1
    meeting.here.set()
    try:
        await meeting.may_go.wait()
    finally:
        meeting.gone.set()


async def ended(client: Any, run_id: str) -> dict[str, Any]:
    async with asyncio.timeout(60):
        while True:
            shown: dict[str, Any] = (await client.call_tool("get_run", {"run_id": run_id})).structured_content
            if shown["verdict"] != "running":
                return shown
            await asyncio.sleep(0.01)


async def begun(client: Any, code: str, **arguments: Any) -> str:
    answer = await client.call_tool("run_code", {"code": code, "detach": True, **arguments})
    assert (answer.is_error, answer.structured_content["verdict"]) == (False, "running")
    return str(answer.structured_content["run_id"])


async def test_a_detached_run_is_told_of_with_what_it_printed_so_far_and_then_as_any_run(
    kept: Kept, meeting: Meeting, connect: Connect
) -> None:
    async with connect(await kept.of(tools=(meet,))) as client:
        run_id = await begun(client, TELLS)
        await asyncio.wait_for(meeting.here.wait(), 60)
        going = (await client.call_tool("get_run", {"run_id": run_id})).structured_content
        meeting.may_go.set()
        after = await ended(client, run_id)
        attached = (await client.call_tool("run_code", {"code": TELLS})).structured_content
    assert going == {"run_id": run_id, "verdict": "running", "stdout": "begun\n", "stderr": ""}
    assert after == {**attached, "run_id": run_id}
    assert (after["output"], after["stdout"]) == (42, "begun\nmet\n")


async def test_a_run_that_is_cancelled_ends_and_keeps_what_it_printed(
    kept: Kept, meeting: Meeting, connect: Connect
) -> None:
    services = await kept.of(tools=(meet,))
    async with connect(services) as client:
        run_id = await begun(client, TELLS, timeout=600)
        await asyncio.wait_for(meeting.here.wait(), 60)
        shown = (await client.call_tool("cancel_run", {"run_id": run_id})).structured_content
        assert (shown["verdict"], meeting.gone.is_set(), services.detached) == ("cancelled", True, {})
        again = (await client.call_tool("cancel_run", {"run_id": run_id})).structured_content
    assert again == shown


@pytest.mark.parametrize("tool", ["get_run", "cancel_run"])
async def test_a_run_that_is_not_ones_own_is_not_there_and_goes_on(
    services: Services, connect: Connect, tool: str
) -> None:
    async with connect(services) as client:
        run_id = await begun(client, "1")
        await ended(client, run_id)
        assert await services.store.runs.get(LOCAL, run_id) is not None
        assert await services.store.runs.get("somebody else", run_id) is None
        for asked in (f"{run_id}x", run_id[:-1], "", "../x", "r" * 100_000):
            answer = await client.call_tool(tool, {"run_id": asked})
            envelope = json.loads(answer.content[0].text)
            assert (answer.is_error, envelope["error_code"]) == (True, "INPUT_VALIDATION_FAILED")
            assert len(answer.content[0].text) < 1000


async def test_many_who_come_at_once_with_one_key_get_one_run(kept: Kept, meeting: Meeting, connect: Connect) -> None:
    meeting.may_go.set()
    async with connect(await kept.of(tools=(meet,))) as client:
        asked = {"code": "await meet()\n1", "idempotency_key": token_hex(), "detach": True}
        answers = await asyncio.gather(*(client.call_tool("run_code", asked) for _ in range(20)))
        ids = {answer.structured_content["run_id"] for answer in answers}
        await ended(client, *ids)
    assert (len(ids), meeting.times) == (1, 1)


@pytest.mark.parametrize(("code", "is_error"), [("6 * 7", False), ("1 / 0", True)])
async def test_a_retry_with_its_key_is_answered_as_the_first_time(
    services: Services, connect: Connect, code: str, is_error: bool
) -> None:
    asked = {"code": code, "idempotency_key": token_hex()}
    async with connect(services) as client:
        first = await client.call_tool("run_code", asked)
        again = await client.call_tool("run_code", asked)
        other = await client.call_tool("run_code", {**asked, "code": "2"})
    assert (again.is_error, again.structured_content) == (is_error, first.structured_content)
    assert "was used for another request" in other.content[0].text


async def test_a_large_value_of_a_detached_run_is_one_artifact_with_a_preview(
    services: Services, connect: Connect
) -> None:
    async with connect(services) as client:
        run_id = await begun(client, "'x' * 200_000")
        output = (await ended(client, run_id))["output"]
        again = (await ended(client, run_id))["output"]
        content = await client.call_tool("read_artifact", {"ref": output["artifact"]["id"], "limit": 10})
    assert (output, output["preview"]) == (again, '"' + "x" * 199)
    assert content.structured_content["content"].startswith('"xxx')


async def test_a_server_that_is_closed_ends_detached_runs_and_says_so_of_them(
    meeting: Meeting, connect: Connect
) -> None:
    async with opened(tools=[meet]) as services:
        async with connect(services) as client:
            run_id = await begun(client, TELLS, timeout=600)
            await asyncio.wait_for(meeting.here.wait(), 60)
        await services.aclose()
        async with Store(services.store.path) as store:
            run = await store.runs.get(LOCAL, run_id)
    assert run is not None
    assert (run.verdict, meeting.gone.is_set()) == ("cancelled", True)
