"""Shared by the tests of `execute`: a server with working and failing tools, and functions that read results."""

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from typing import Any

import pytest_asyncio
from mcp import Client

from paddock import Config
from paddock.config import ToolsConfig
from paddock.definitions.definition import Definition, shipped
from paddock.server.mcp import make_server
from paddock.server.services import Services
from tests.envelopes import problems
from tests.server.shared_services import open_services
from tests.tools.upstreams import shop

EXECUTE = shipped("execute")
SHOP = shop()
DEAD = {"command": sys.executable, "args": ["-c", "raise SystemExit('gone for good')"]}
POLICY = ({"match": "shop.refund", "action": "ask"}, {"match": "shop.inventory", "action": "deny"})


async def fail(message: str) -> None:
    raise LookupError(message)


async def wait_for_ever() -> None:
    await asyncio.Event().wait()


async def echo(value: Any) -> dict[str, Any]:
    return {"echo": value}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def services() -> AsyncIterator[Services]:
    """Services with a working and a dead upstream, a policy, and functions that fail."""
    tools = ToolsConfig(policy=POLICY, call_seconds=1.0)
    config = Config(upstreams={"shop": SHOP, "dead": DEAD}, tools=tools)
    async with open_services(config, tools=[fail, wait_for_ever, echo]) as made:
        yield made


def limited(**limits: float) -> Definition:
    return replace(EXECUTE, limits={**EXECUTE.limits, **limits})


def connected(services: Services, definition: Definition = EXECUTE) -> AbstractAsyncContextManager[Any]:
    """A client of a server that offers this definition."""
    return Client(make_server(services, [definition]))


async def execute(services: Services, code: str, definition: Definition = EXECUTE) -> Any:
    async with connected(services, definition) as client:
        return await client.call_tool("execute", {"code": code})


def failure(result: Any, *effects: str) -> dict[str, Any]:
    """The error envelope of a failed call, checked to be its only content.

    Beside it are the line of a tool's failed call, and `effects`: what other calls may have changed.
    """
    assert (result.is_error, result.structured_content) == (True, None)
    shown, *notes = [block.text for block in result.content]
    said: dict[str, Any] = json.loads(shown)
    assert problems(said) == []
    is_own = said["tool"] == "execute" and said["error_kind"] != "tool_not_found"
    told = [*([] if is_own else ["the call on line N failed."]), *effects]
    assert [re.sub(r"\d+", "N", line) for note in notes for line in note.splitlines()] == [
        f"Warning: {each}" for each in told
    ]
    return said


def kind(said: dict[str, Any]) -> tuple[str, str, bool]:
    return said["error_kind"], said["error_code"], said["retryable"]


def of_script(said: dict[str, Any]) -> tuple[str, str, str, str]:
    """The code, the summary, and the exception's type and place in the envelope of a failed script."""
    assert (said["error_kind"], said["tool"], said["retryable"]) == ("sandbox_runtime", "execute", False)
    (detail,) = said["details"]
    return said["error_code"], said["summary"], detail["received_type"], detail["path"]
