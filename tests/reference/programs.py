"""Shared by the tests of the reference tools that run programs."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from typing import Any

from mcp import Client

from paddock import Config
from paddock.definitions.definition import shipped
from paddock.model.limits import CAPS, Limits
from paddock.server.mcp import make_server
from paddock.server.services import Services
from tests.server.conftest import ERAS, over_stdio, served

CHILDREN = (
    "import os, signal\nprint('so far', flush=True)\nfor _ in range(4):\n    if os.fork() == 0:\n"
    "        x = bytearray(40 << 20)\n        signal.pause()\nos.wait()"
)
"""A program whose children together use more than 100 MB."""
Reach = Callable[[Services, str], AbstractAsyncContextManager[Any]]


async def called(services: Services, name: str, arguments: dict[str, Any]) -> Any:
    """The result for a client that is connected in memory."""
    async with Client(make_server(services, [shipped(name)])) as client:
        return await client.call_tool(name, arguments)


def without_hint(text: str) -> str:
    """The text without its hint, of which there is at most one. The rest must be as the original tool writes it."""
    kept, hints = re.subn(r"^Hint: .+\n?", "", text, flags=re.MULTILINE)
    assert hints <= 1
    return kept


def within(**limits: Any) -> Config:
    """A configuration with these limits, also as caps."""
    return Config(limits=replace(Limits(), **limits), caps=replace(CAPS, **limits))


def _in_memory(era: str) -> Reach:
    return lambda services, name: Client(make_server(services, [shipped(name)]), mode=era)


def _over_http(era: str) -> Reach:
    @asynccontextmanager
    async def connected(services: Services, name: str) -> AsyncIterator[Any]:
        async with served(services, shipped(name)) as address, Client(address, mode=era) as client:
            yield client

    return connected


def _over_stdio(era: str) -> Reach:
    return lambda services, name: over_stdio(era, "--definitions", name)


REACHES = {f"{way.__name__[1:]}-{era}": way(era) for way in (_in_memory, _over_http, _over_stdio) for era in ERAS}
"""Every way to reach a tool, by its name."""
