"""The tools of one Paddock: its Python functions and its upstreams, and what one run may call of them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from paddock.model.events import Answer, Progress
from paddock.model.tools import Tool
from paddock.tools.catalogue import Catalogue
from paddock.tools.functions import FunctionTool

if TYPE_CHECKING:
    from paddock.tools.upstream import Upstream

Keep = Callable[[str, str, bytes], Awaitable[Mapping[str, Any]]]
"""Keeps bytes that a tool gave, by file name and type, and gives what the script sees in their place."""
CALLING = ("await", "callTool")
"""A script without these words calls nothing: no upstream need be asked what it has."""


class Toolbox:
    """Upstreams are connected when the first script comes that may call them."""

    def __init__(
        self, functions: Mapping[str, FunctionTool], upstreams: Iterable[Upstream] = (), *, patience_seconds: float = 5.0
    ) -> None:
        self._functions = functions
        self._upstreams = {upstream.name: upstream for upstream in upstreams}
        self._patience_seconds = patience_seconds
        self._known: tuple[object, Catalogue] | None = None

    async def scope(self, names: Iterable[str] | None, code: str) -> Scope:
        """What one run may call: all that there is, or what is named."""
        may_call = bool(self._upstreams) and any(word in code for word in CALLING)
        if names is None and not may_call:
            return Scope(self, {name: name for name in self._functions}, None)
        catalogue = (await self.catalogue()).only(names)
        linked = catalogue.linked(code if names is None else None)
        everywhere = {name: name for name in self._functions} if names is None else {}
        return Scope(self, everywhere | {name: tool.full_name for name, tool in linked.items()}, catalogue)

    async def catalogue(self) -> Catalogue:
        """What there is now. An upstream that does not answer soon, or at all, is left out until it does."""
        lists = await asyncio.gather(*map(self._listed, self._upstreams.values()))
        version = tuple(map(id, lists))
        if self._known is None or self._known[0] != version:
            described = await asyncio.to_thread(lambda: [function.tool for function in self._functions.values()])
            self._known = (version, Catalogue([*described, *(tool for tools in lists for tool in tools)]))
            self._lists = lists  # as long as they are compared by identity
        return self._known[1]

    async def call(
        self,
        tool: Tool,
        arguments: Mapping[str, Any],
        *,
        timeout_seconds: float,
        progress: Callable[[Progress], None],
        keep: Keep,
    ) -> Answer:
        """What the tool gives. Raises what a function raises, and `CallFailed` for an upstream."""
        if not tool.server:
            async with asyncio.timeout(timeout_seconds):
                return answered(await self._functions[tool.name].call(arguments))
        from paddock.tools import answers

        upstream = self._upstreams[tool.server]
        result = await upstream.call(tool.name, arguments, timeout_seconds=timeout_seconds, progress=progress)
        return await answers.answer(result, tool, keep)

    async def close(self) -> None:
        await asyncio.gather(*(upstream.close() for upstream in self._upstreams.values()))

    async def _listed(self, upstream: Upstream) -> tuple[Tool, ...]:
        return await upstream.tools(within_seconds=self._patience_seconds)


class Scope:
    """What one run may call, and by which names it finds it."""

    def __init__(self, toolbox: Toolbox, links: Mapping[str, str], catalogue: Catalogue | None) -> None:
        self.links = links  # full names of tools by the names of functions in the script
        self._toolbox = toolbox
        self._catalogue = catalogue

    async def find(self, name: str) -> Tool | None:
        catalogue = await self._all()
        return catalogue.find(self.links.get(name, name))

    async def hints(self, name: str) -> list[str]:
        return (await self._all()).hints(name)

    async def _all(self) -> Catalogue:
        if self._catalogue is None:
            self._catalogue = await self._toolbox.catalogue()
        return self._catalogue


def answered(value: object) -> Answer:
    """A value as the script gets it: an object as itself, anything else under `result`."""
    given = value if isinstance(value, dict) else _plain(value)
    return Answer(
        json.dumps(given if isinstance(given, dict) else {"result": given}, allow_nan=False, default=_plain)
    )


def _plain(value: object) -> Any:
    """What JSON has for a dataclass, a model of pydantic, a date."""
    if value is None or isinstance(value, str | int | float | list):
        return value
    from pydantic_core import to_jsonable_python

    return to_jsonable_python(value)
