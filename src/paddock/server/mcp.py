"""Paddock as an MCP server: each definition is a tool, and a call of it is a run.

What is wrong with a call's arguments, and how a script failed, is a result that a model can read; an error of the
protocol would reach only its client. A call that is cancelled ends its run.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Sequence
from typing import TYPE_CHECKING, Any

from mcp import MCPError
from mcp.server.lowlevel import Server
from mcp_types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    ListResourcesResult,
    ListToolsResult,
    PaginatedRequestParams,
    ReadResourceRequestParams,
    ReadResourceResult,
)

from paddock import __version__
from paddock.definitions.definition import SHIPPED, Definition, shipped
from paddock.model import envelope
from paddock.model.errors import PaddockError, RequestError, surface
from paddock.model.words import nearest
from paddock.server import artifacts, code, runs
from paddock.server.app import gone
from paddock.server.caller import LOCAL, Caller
from paddock.server.offer import Offer, failed

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext

    from paddock.server.serving import Serving

NAME = "paddock"
"""By which another Paddock knows this one, and does not let its scripts call it."""
log = logging.getLogger(__name__)
Context = Any


def server(
    serving: Serving, definitions: Sequence[Definition] | None = None, *, more: Sequence[Offer] = ()
) -> Server[Any]:
    """The server that runs code in `serving`; by default it offers the native definition. Starts nothing by itself.

    `more` is offered beside what Paddock has, by a program that has tools of its own.
    """
    offered = _Offered(serving, [shipped(SHIPPED[0])] if definitions is None else definitions, more)
    return Server(
        NAME,
        version=__version__,
        title="Paddock",
        on_list_tools=offered.list_tools,
        on_call_tool=offered.call,
        on_list_resources=offered.list_resources,
        on_read_resource=offered.read_resource,
    )


class _Offered:
    def __init__(self, serving: Serving, definitions: Sequence[Definition], more: Sequence[Offer] = ()) -> None:
        self._serving = serving
        every = [
            *(code.offer(serving, each) for each in definitions),
            *runs.offers(serving),
            *artifacts.offers(serving),
            *more,
        ]
        self._offers: dict[str, Offer] = {each.tool.name: each for each in every}

    async def list_tools(
        self, context: ServerRequestContext[Any], asked: PaginatedRequestParams | None
    ) -> ListToolsResult:
        self._serving.tidy()
        return ListToolsResult(tools=[each.tool for each in self._offers.values()])

    async def call(self, context: ServerRequestContext[Any], asked: CallToolRequestParams) -> CallToolResult:
        arguments = dict(asked.arguments or {})
        offer = self._offers.get(asked.name)
        if offer is None:
            return failed(self._unknown(asked.name))
        problem = offer.check.problems(arguments, asked.name)
        if problem is not None:
            return failed(problem)
        try:
            return await _while_there(gone(context.request), offer.call(self._caller(context), arguments))
        except RequestError as refused:
            return failed(
                envelope.envelope("mcp_input_validation", asked.name, str(refused), "INPUT_VALIDATION_FAILED")
            )
        except PaddockError as fault:
            log.warning("%s: %s", type(fault).__name__, fault)
            return failed(envelope.internal_error(asked.name, f"{type(fault).__name__}: {fault}"))
        finally:
            self._serving.tidy()

    async def list_resources(
        self, context: ServerRequestContext[Any], asked: PaginatedRequestParams | None
    ) -> ListResourcesResult:
        cursor = None if asked is None else asked.cursor
        try:
            found, after = await artifacts.resources(self._serving, self._caller(context), cursor)
        except PaddockError as problem:
            raise MCPError(surface(problem).mcp_code, str(problem)) from None
        return ListResourcesResult(resources=found, next_cursor=after)

    async def read_resource(
        self, context: ServerRequestContext[Any], asked: ReadResourceRequestParams
    ) -> ReadResourceResult:
        try:
            found = await artifacts.contents(self._serving, self._caller(context), str(asked.uri))
        except PaddockError as problem:
            raise MCPError(surface(problem).mcp_code, str(problem)) from None
        if found is None:
            raise MCPError(INVALID_PARAMS, f"there is no resource {str(asked.uri)[:200]!r}", {"uri": str(asked.uri)})
        return ReadResourceResult(contents=[found])

    def _caller(self, context: ServerRequestContext[Any]) -> Caller:
        async def report(done: float, total: float | None, message: str) -> None:
            await context.session.report_progress(done, total, message or None)

        name = _session_name(context)
        return Caller(LOCAL, None if name is None else self._serving.sessions.of(name), report)

    def _unknown(self, name: str) -> dict[str, Any]:
        near = nearest(name, self._offers)
        hints = [f"Did you mean '{near}'?"] if near else []
        summary = f"There is no tool '{name[:100]}'; there are: {', '.join(self._offers)}."
        return envelope.envelope("tool_not_found", name, summary, "TOOL_NOT_FOUND", hints=hints)


async def _while_there(left: asyncio.Event | None, work: Awaitable[CallToolResult]) -> CallToolResult:
    """What `work` comes to. A client that goes away meanwhile ends it, as one that cancels does."""
    if left is None:
        return await work
    working, leaving = asyncio.ensure_future(work), asyncio.ensure_future(left.wait())
    try:
        await asyncio.wait([working, leaving], return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise asyncio.CancelledError
        return working.result()
    finally:
        leaving.cancel()
        if not working.done():
            working.cancel()
            await asyncio.wait([working])


def _session_name(context: ServerRequestContext[Any]) -> str | None:
    """What tells this client's calls from another's: its session over HTTP; a connection of any other kind is one."""
    if context.request is None:
        return "connection"
    name: str | None = context.request.headers.get("mcp-session-id")
    return name
