"""The tools of one Paddock: its Python functions and its upstreams, and what one run may call of them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from paddock.model.events import Answer, Progress
from paddock.model.tools import Tool
from paddock.tools.functions import FunctionTool

if TYPE_CHECKING:
    from paddock.model.journal import Journal
    from paddock.tools.answers import CreateArtifact
    from paddock.tools.catalogue import Catalogue
    from paddock.tools.schema import Validator
    from paddock.tools.upstream import Health, Upstream
    from paddock.tools.upstream_config import Server
    from paddock.tools.upstream_errors import CallFailed

CALLING = ("await", "callTool")
"""A script without these words calls nothing: no upstream need be asked what it has."""
LEARNT_FROM = 16
PATIENCE_SECONDS = 10.0
"""For upstreams to say what they have, before a run goes on without those that have not."""


class Toolbox:
    """Upstreams are connected when the first script comes that may call them, all at the same time."""

    def __init__(
        self,
        functions: Mapping[str, FunctionTool],
        servers: Iterable[Server] = (),
        *,
        patience_seconds: float = PATIENCE_SECONDS,
    ) -> None:
        self._functions = functions
        self._upstreams = _upstreams(servers)
        self._patience_seconds = patience_seconds
        self._validators: dict[str, tuple[Tool, Validator]] = {}
        self._lists: tuple[tuple[Tool, ...], ...] | None = None
        self._catalogue: Catalogue | None = None
        self.secrets = tuple(secret for upstream in self._upstreams.values() for secret in upstream.server.secrets)

    async def scope(self, names: Iterable[str] | None, code: object) -> Scope:
        """What one run may call: all that there is, or what is named."""
        functions = {name: name for name in self._functions}
        may_call = bool(self._upstreams) and isinstance(code, str) and any(word in code for word in CALLING)
        if names is None and not may_call:
            return Scope(self, functions, None)
        catalogue = (await self.catalogue()).only(names)
        linked = catalogue.linked(code if names is None and isinstance(code, str) else None)
        links = {name: tool.full_name for name, tool in linked.items()}
        return Scope(self, functions | links if names is None else links, catalogue)

    async def catalogue(self) -> Catalogue:
        """What there is now. An upstream that does not answer soon, or at all, is left out until it does."""
        lists = tuple(await asyncio.gather(*map(self._listed, self._upstreams.values())))
        if (
            self._catalogue is None
            or self._lists is None
            or any(new is not old for new, old in zip(lists, self._lists, strict=True))
        ):
            from paddock.tools.catalogue import Catalogue

            described = await asyncio.to_thread(lambda: [function.tool for function in self._functions.values()])
            self._catalogue = Catalogue([*described, *(tool for tools in lists for tool in tools)])
            self._lists = lists
        return self._catalogue

    def health(self) -> dict[str, Health]:
        """How each upstream is, by name."""
        return {name: upstream.health for name, upstream in self._upstreams.items()}

    def unreachable(self, name: str) -> CallFailed | None:
        """Why a tool of this name may not be found, where that is because its server is not there now."""
        upstream = self._upstreams.get(name.partition(".")[0])
        if upstream is None or upstream.health.state == "ready":
            return None
        from paddock.tools.upstream_errors import network

        why = upstream.health.error or "it has not answered yet"
        return network(f"The server '{upstream.name}' is not there now: {why}").without(upstream.server.secrets)

    async def validator(self, tool: Tool) -> Validator:
        """What checks the arguments of `tool`; made once for each description of it."""
        known = self._validators.get(tool.full_name)
        if known is not None and known[0] is tool:
            return known[1]
        from paddock.tools.schema import compiled

        made = await asyncio.to_thread(compiled, tool.input_schema)  # a hostile one takes half a second
        self._validators[tool.full_name] = (tool, made)
        return made

    async def call(
        self,
        tool: Tool,
        arguments: Mapping[str, Any],
        *,
        timeout_seconds: float,
        progress: Callable[[Progress], None],
        create_artifact: CreateArtifact,
    ) -> Answer:
        """What the tool gives. Raises what a function raises, and `CallFailed` for an upstream."""
        if not tool.server:
            return answered(await self._within(timeout_seconds, self._functions[tool.name].call(arguments)))
        from paddock.tools import answers

        def heard(done: float, total: float | None, message: str) -> None:
            progress(Progress(done, total, message))

        upstream = self._upstreams[tool.server]
        result = await upstream.call(tool.name, arguments, timeout_seconds=timeout_seconds, progress=heard)
        return await answers.answer(result, tool, create_artifact)

    async def close(self) -> None:
        """End every connection; what is used again is connected again."""
        upstreams, self._lists = list(self._upstreams.values()), None
        self._upstreams = _upstreams(upstream.server for upstream in upstreams)
        await asyncio.gather(*(upstream.close() for upstream in upstreams))

    async def _within(self, seconds: float, work: Awaitable[Any]) -> Any:
        try:
            async with asyncio.timeout(seconds) as waiting:
                return await work
        except TimeoutError:
            if not waiting.expired():
                raise  # the function's own
            from paddock.tools.upstream_errors import timed_out

            raise timed_out(f"The tool did not answer within {seconds:g} s.") from None

    async def _listed(self, upstream: Upstream) -> tuple[Tool, ...]:
        from paddock.tools.upstream import CODE_TOOL

        tools = await upstream.tools(wait_seconds=self._patience_seconds)
        # Code that runs code would escape the limits of its run.
        return () if upstream.health.is_paddock or any(CODE_TOOL in tool.tags for tool in tools) else tools


def _upstreams(servers: Iterable[Server]) -> dict[str, Upstream]:
    servers = tuple(servers)
    if not servers:
        return {}
    from paddock.tools.upstream import Upstream

    return {server.name: Upstream(server) for server in servers}


class Scope:
    """What one run may call, and by which names it finds it."""

    def __init__(self, toolbox: Toolbox, links: Mapping[str, str], catalogue: Catalogue | None) -> None:
        self.links = links  # full names of tools by the names of functions in the script
        self._toolbox = toolbox
        self._catalogue = catalogue

    async def catalogue(self) -> Catalogue:
        if self._catalogue is None:
            self._catalogue = await self._toolbox.catalogue()
        return self._catalogue

    async def find(self, name: str) -> Tool | None:
        return (await self.catalogue()).find(name)

    async def linked(self) -> list[Tool]:
        """The tools that the script finds as functions."""
        catalogue = await self.catalogue()
        found = (catalogue.find(name) for name in dict.fromkeys(self.links.values()))
        return [tool for tool in found if tool is not None]

    async def stubs(self, journal: Journal) -> Callable[[Collection[str]], str]:
        """Typed stubs of those, as text; of one that does not say what it gives, by what it gave before."""
        from paddock.tools.stubs import module

        tools = [await _learnt(tool, journal) for tool in await self.linked()]
        return lambda rebound: module(tools, rebound=rebound)


async def _learnt(tool: Tool, journal: Journal) -> Tool:
    if tool.output_schema is not None:
        return tool
    from paddock.tools.learning import learned

    seen = [json.loads(answer) for answer in await journal.answers(tool.full_name, LEARNT_FROM)]
    return replace(tool, output_schema=learned(seen)) if seen else tool


def answered(value: object) -> Answer:
    """A value as the script gets it: an object as itself, anything else under `result`."""
    given = value if isinstance(value, dict) else _plain(value)
    return Answer(json.dumps(given if isinstance(given, dict) else {"result": given}, allow_nan=False, default=_plain))


def _plain(value: object) -> Any:
    """What JSON has for a dataclass, a model of pydantic, a date."""
    if value is None or isinstance(value, str | int | float | list | tuple):
        return value
    from pydantic_core import to_jsonable_python

    return to_jsonable_python(value)
