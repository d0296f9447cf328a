"""Sessions of live interpreters through a server: over MCP in both eras, over REST and through `Paddock(url=…)`."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import httpx2 as httpx
import pytest

from paddock import Config, NotFound, Paddock, Verdict
from paddock.config import SessionsConfig
from paddock.server.services import Services
from tests.server.conftest import Connect, served
from tests.server.shared_services import SharedServices

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def structured(client: Any, code: str, **arguments: Any) -> dict[str, Any]:
    result = await client.call_tool("run_code", {"code": code, **arguments})
    values: dict[str, Any] = result.structured_content
    return values


async def test_state_stays_across_calls_of_run_code(services: Services, connect: Connect) -> None:
    async with connect(services) as client:
        await structured(client, "x = 20\ndef f(n):\n    return x + n", session="a")
        answer = await structured(client, "f(1)", session="a")
        alone = await structured(client, "f(1)")
    assert (answer["output"], "session" in answer) == (21, False)
    assert alone["error"]["type"] == "NameError"


async def test_a_traceback_over_several_cells_is_shown(services: Services, connect: Connect) -> None:
    async with connect(services) as client:
        await structured(client, "def divide(x):\n    return 1 / x", session="t")
        answer = await structured(client, "divide(0)", session="t")
    first, second = answer["error"]["traceback"].splitlines()
    assert first.startswith('File "cell')
    assert second.startswith('File "cell')


async def test_an_answer_says_whether_a_timeout_has_kept_the_session(services: Services, connect: Connect) -> None:
    stubborn = "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True:\n    pass"
    async with connect(services) as client:
        kept = await structured(client, "while True:\n    pass", session="k", timeout=0.5)
        lost = await structured(client, stubborn, session="k", timeout=0.5)
        refused = await structured(client, "1", session="k")
    assert (kept["session"], lost["session"]["kept"]) == ({"kept": True, "reason": "the run was interrupted"}, False)
    assert (refused["verdict"], refused["error"]["type"]) == ("rejected", "SessionEnded")


async def test_connections_of_one_principal_share_sessions(services: Services, connect: Connect) -> None:
    async with connect(services) as first:
        await structured(first, "x = 5", session="shared")
    async with connect(services) as second:
        assert (await structured(second, "x", session="shared"))["output"] == 5


async def test_a_cancelled_run_says_what_became_of_its_session(services: Services) -> None:
    async with served(services) as address, httpx.AsyncClient(base_url=f"{address.removesuffix('/mcp')}/v1") as http:
        started = await http.post(
            "/runs", json={"code": "print('begun', flush=True)\nwhile True:\n    pass", "session": "c", "detach": True}
        )
        run_id = started.json()["run_id"]
        async with asyncio.timeout(30):
            while "begun" not in (await http.get(f"/runs/{run_id}")).text.partition('"stdout"')[2]:
                await asyncio.sleep(0.01)
        ended = (await http.post(f"/runs/{run_id}/cancel", timeout=30)).json()["result"]
    assert (ended["verdict"], ended["session"]) == ("cancelled", {"name": "c", "cell": 1, "kept": True, "reason": None})


async def test_sessions_over_rest_and_through_a_remote_paddock(services: Services) -> None:
    async with served(services) as address, Paddock(url=address.removesuffix("/mcp")) as paddock:
        await paddock.run("x = 1", session="r")
        result = await paddock.run("x + 1", session="r")
        assert (result.output, result.session and (result.session.name, result.session.cell)) == (2, ("r", 2))
        [info] = [each for each in await paddock.sessions() if each.name == "r"]
        assert (info.engine, info.cells) == ("cpython", 2)
        await paddock.reset_session("r")
        assert (await paddock.run("x", session="r")).verdict is Verdict.RAISED
        await paddock.delete_session("r")
        assert "r" not in [each.name for each in await paddock.sessions()]
        with pytest.raises(NotFound):
            await paddock.delete_session("r")


async def test_two_tokens_have_different_sessions_of_one_name(services: Services) -> None:
    async with served(services) as address:
        url = address.removesuffix("/mcp")
        async with Paddock(url=url, token="ann") as ann, Paddock(url=url, token="bob") as bob:  # noqa: S106
            await ann.run("secret = 1", session="own")
            assert (await bob.run("secret", session="own")).error.type == "NameError"  # type: ignore[union-attr]
            await bob.delete_session("own")
            assert (await ann.run("secret", session="own")).output == 1
            with pytest.raises(NotFound):
                await bob.reset_session("own")


async def test_a_caller_whose_sessions_are_all_in_use_is_told_when_to_try_again(shared: SharedServices) -> None:
    services = await shared.get(replace(Config(), sessions=SessionsConfig(principal_count=1)))
    async with (
        served(services) as address,
        httpx.AsyncClient(base_url=f"{address.removesuffix('/mcp')}/v1", timeout=60) as http,
    ):
        code = "print('be' + 'gun', flush=True)\nwhile True: pass"
        run = (await http.post("/runs", json={"code": code, "session": "a", "detach": True})).json()["run_id"]
        while "begun" not in (await http.get(f"/runs/{run}")).text:
            pass
        refused = await http.post("/runs", json={"code": "1", "session": "b"})
        assert (refused.status_code, refused.headers.get("retry-after")) == (429, "5"), refused.text
        assert refused.json()["envelope"]["_meta"] == {"retry_after_seconds": 5.0}
        await http.post(f"/runs/{run}/cancel")
