"""A server whose tools change while it runs: scripts and whoever lists tools see it, over every transport."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest

from paddock import Config, Paddock, Verdict
from paddock.config import GuestsConfig
from paddock.model.environments import EnvironmentConfig
from paddock.planning.plan import ENGINE_LANGUAGE
from tests.tools.upstreams import Serve, plain

ENGINES = ["monty", "cpython", "quickjs"]
CALLED = {
    "python": """
import json
try:
    x = await call_tool('it.shout', {'text': 'hey'})
except RuntimeError as error:
    x = json.loads(str(error))
x
""",
    "javascript": "await callTool('it', 'shout', { text: 'hey' }).catch((error) => error.envelope)",
}


def config(server: dict[str, Any]) -> Config:
    environments = {**Config().environments, "bare": EnvironmentConfig()}
    return Config(
        environments=environments,
        cpython=GuestsConfig(environment="bare", min_waiting=1, max_waiting=1),
        upstreams={"it": server},
    )


async def names(paddock: Paddock) -> set[str]:
    return {tool.name for tool in await paddock.tools()}


async def seen(paddock: Paddock, is_so: Callable[[set[str]], bool]) -> None:
    """Return once the names of the tools are so."""
    async with asyncio.timeout(60):
        while not is_so(await names(paddock)):
            await asyncio.sleep(0.01)


@pytest.mark.parametrize("engine", ENGINES)
async def test_a_script_calls_what_came_and_not_what_went(engine: str) -> None:
    language = ENGINE_LANGUAGE[engine]

    async def ran(code: str) -> Any:
        result = await paddock.run(code, language=language, engine=engine)
        assert result.verdict is Verdict.OK, result.error
        return result.output

    async with Paddock(config(plain())) as paddock:
        assert (await ran(CALLED[language]))["error_code"] == "TOOL_NOT_FOUND"
        await ran("await learn({'name': 'shout'})")
        await seen(paddock, lambda known: "shout" in known)
        assert await ran(CALLED[language]) == {"result": "hey"}
        assert await ran("await shout({'text': 'linked'})") == {"result": "linked"}
        await ran("await forget({'name': 'shout'})")
        await seen(paddock, lambda known: "shout" not in known)
        assert (await ran(CALLED[language]))["error_code"] == "TOOL_NOT_FOUND"
        assert "echo" in await names(paddock)


@pytest.mark.parametrize("engine", ENGINES)
async def test_one_script_makes_a_server_offer_a_tool_and_calls_it(engine: str) -> None:
    code = "await learn({'name': 'shout'})" + CALLED[ENGINE_LANGUAGE[engine]]
    if ENGINE_LANGUAGE[engine] == "javascript":
        code = code.replace(")await", ");\nawait")
    async with Paddock(config(plain())) as paddock:
        result = await paddock.run(code, language=ENGINE_LANGUAGE[engine], engine=engine)
    assert result.output == {"result": "hey"}


@pytest.mark.parametrize("kind", ["http", "sse"])
async def test_changes_are_followed_over_http_as_well(serve: Serve, kind: str) -> None:
    async with Paddock(config({"type": kind, "url": serve(kind)})) as paddock:
        await paddock.run("await learn({'name': 'shout'})")
        await seen(paddock, lambda known: "shout" in known)
        assert (await paddock.run(CALLED["python"])).output == {"result": "hey"}
        await paddock.run("await forget({'name': 'shout'})")
        await seen(paddock, lambda known: "shout" not in known)
        assert (await paddock.run(CALLED["python"])).output["error_code"] == "TOOL_NOT_FOUND"


async def test_a_call_of_what_went_before_anybody_was_told_is_not_found() -> None:
    code = """
import json
await forget({'name': 'echo'})
try:
    x = await call_tool('it.echo', {'text': 'hey'})
except RuntimeError as error:
    x = str(error)
x
"""
    async with Paddock(config(plain())) as paddock:
        result = await paddock.run(code)
    assert json.loads(result.output)["error_code"] == "TOOL_NOT_FOUND"
