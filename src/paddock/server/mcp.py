"""Paddock as an MCP server: each definition is a tool, and a call of it is a run.

What is wrong with a call's arguments, and how a script failed, is a result that a model can read; an error of the
protocol would reach only its client. A call that is cancelled ends its run.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from mcp import MCPError
from mcp.server.lowlevel import Server
from mcp.server.lowlevel.server import NotificationOptions
from mcp.server.models import InitializationOptions
from mcp_types import (
    INVALID_PARAMS,
    BlobResourceContents,
    CallToolRequestParams,
    CallToolResult,
    GetPromptRequestParams,
    GetPromptResult,
    ListPromptsResult,
    ListResourcesResult,
    ListResourceTemplatesResult,
    ListToolsResult,
    PaginatedRequestParams,
    ReadResourceRequestParams,
    ReadResourceResult,
    TextResourceContents,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from paddock import __version__
from paddock.definitions.definition import SHIPPED, Definition, shipped
from paddock.errors import PaddockError, RequestError, surface
from paddock.model import envelope
from paddock.model.principals import LOCAL
from paddock.model.words import nearest
from paddock.server import artifacts, code, context, discovery, files, prompts, runs
from paddock.server.app import gone
from paddock.server.caller import CONNECTION, Caller
from paddock.server.changes import Changes
from paddock.server.definitions import Names, Saved
from paddock.server.fitting import EVENT_BYTES, fitted
from paddock.server.offer import Offer, failed

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext

    from paddock.server.serving import Serving

NAME = "paddock"
"""By which another Paddock knows this one, and does not let its scripts call it."""
log = logging.getLogger(__name__)
Context = Any


def server(
    serving: Serving,
    definitions: Sequence[Definition] | None = None,
    *,
    saved: Names = (),
    more: Sequence[Offer] = (),
) -> Server[Any]:
    """The server that runs code in `serving`; by default it offers the native definition. Starts nothing by itself.

    `saved` names definitions of users that are offered too, as they are at the moment; `more` is what a program has
    beside all that.
    """
    offered = _Offered(serving, [shipped(SHIPPED[0])] if definitions is None else definitions, saved, more)
    return _Server(
        NAME,
        version=__version__,
        title="Paddock",
        lifespan=offered.lifespan,
        on_list_tools=offered.list_tools,
        on_call_tool=offered.call,
        on_list_resources=offered.list_resources,
        on_list_resource_templates=offered.list_templates,
        on_read_resource=offered.read_resource,
        on_list_prompts=offered.list_prompts,
        on_get_prompt=offered.get_prompt,
        on_subscriptions_listen=offered.changes.listen,
    )


class _Server(Server[Any]):
    def create_initialization_options(
        self,
        notification_options: NotificationOptions | None = None,
        experimental_capabilities: dict[str, dict[str, Any]] | None = None,
        extensions: dict[str, dict[str, Any]] | None = None,
    ) -> InitializationOptions:
        """Clients of the older era are told as well that what is offered may change."""
        changing = NotificationOptions(prompts_changed=True, resources_changed=True, tools_changed=True)
        return super().create_initialization_options(
            notification_options or changing, experimental_capabilities, extensions
        )


class _Offered:
    def __init__(
        self, serving: Serving, definitions: Sequence[Definition], saved: Names, more: Sequence[Offer]
    ) -> None:
        self._serving = serving
        self._definitions = tuple(definitions)
        self._saved = Saved(serving, saved)
        self.changes = Changes()
        self._connections = 0
        self._watching: asyncio.Task[None] | None = None
        self._beside: dict[frozenset[str], dict[str, Offer]] = {}  # by the groups that are wanted
        every = [
            *(code.offer(serving, each) for each in definitions),
            *runs.offers(serving),
            *artifacts.offers(serving),
            *self._companions(definitions).values(),
            *more,
        ]
        self._offers: dict[str, Offer] = {each.tool.name: each for each in every}
        self._file_offers = {each.tool.name: each for each in files.offers(serving)}

    @asynccontextmanager
    async def lifespan(self, _: Server[Any]) -> AsyncIterator[object]:
        """While anybody is connected, saved definitions are watched. Over HTTP everybody shares one lifespan."""
        self._connections += 1
        if self._watching is None and self._saved.is_any:
            self._watching = asyncio.create_task(self._saved.watch(self.changes.tell))
        connection = object()
        try:
            yield connection
        finally:
            self.changes.forget(connection)
            self._connections -= 1
            if not self._connections and self._watching is not None:
                watching, self._watching = self._watching, None
                watching.cancel()
                await asyncio.wait([watching])

    async def _current(self) -> tuple[list[Definition], dict[str, Offer]]:
        """What is offered now: by the definitions, then the tools that stand beside them."""
        made = await self._saved.offers() if self._saved.is_any else {}
        definitions = [*self._definitions, *(each for each, _ in made.values())]
        offers = {name: offer for name, (_, offer) in made.items()} | self._offers
        offers |= {name: offer for name, offer in self._companions(definitions).items() if name not in self._offers}
        if any(each.face == "inputs" and each.includes_files for each in definitions):
            offers |= self._file_offers
        return definitions, offers

    def _companions(self, definitions: Sequence[Definition]) -> dict[str, Offer]:
        """The tools that stand beside those definitions."""
        wanted = frozenset(group for each in definitions for group in each.companions)
        if wanted not in self._beside:
            self._beside[wanted] = {each.tool.name: each for each in _companions(self._serving, wanted)}
        return self._beside[wanted]

    async def list_tools(
        self, context: ServerRequestContext[Any], asked: PaginatedRequestParams | None
    ) -> ListToolsResult:
        _, offers = await self._current()
        self.changes.remember(context, _session_name(context))
        self._serving.tidy()
        return ListToolsResult(tools=[each.listed for each in offers.values()])

    async def call(self, context: ServerRequestContext[Any], asked: CallToolRequestParams) -> CallToolResult:
        arguments = dict(asked.arguments or {})
        offer = self._offers.get(asked.name)
        if offer is None:
            _, offers = await self._current()
            offer = offers.get(asked.name)
            if offer is None:
                return failed(_unknown(asked.name, offers))
        problem = offer.check.problems(arguments, asked.name)
        if problem is not None:
            return offer.refused(problem)
        caller = self._caller(context)
        try:
            given = await _while_there(gone(context.request), offer.call(caller, arguments))
            await self._serving.note(caller)
            return await fitted(self._serving, caller, offer.tool, given)
        except RequestError as refused:
            return offer.refused(envelope.invalid_arguments(asked.name, str(refused)))
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
        definitions, _ = await self._current()
        self.changes.remember(context, _session_name(context))
        return ListResourcesResult(
            resources=[*(prompts.resources(definitions) if cursor is None else ()), *found], next_cursor=after
        )

    async def list_templates(
        self, context: ServerRequestContext[Any], asked: PaginatedRequestParams | None
    ) -> ListResourceTemplatesResult:
        return ListResourceTemplatesResult(resource_templates=artifacts.templates(self._serving))

    async def read_resource(
        self, context: ServerRequestContext[Any], asked: ReadResourceRequestParams
    ) -> ReadResourceResult:
        uri = str(asked.uri)
        definitions, _ = await self._current()
        found: TextResourceContents | BlobResourceContents | None
        try:
            found = await prompts.contents(self._serving, definitions, uri)
            found = found or await artifacts.contents(self._serving, self._caller(context), uri)
        except PaddockError as problem:
            raise MCPError(surface(problem).mcp_code, str(problem)) from None
        if found is None:
            raise MCPError(INVALID_PARAMS, f"there is no resource {uri[:200]!r}", {"uri": uri[:2000]})
        return ReadResourceResult(contents=[found])

    async def list_prompts(
        self, context: ServerRequestContext[Any], asked: PaginatedRequestParams | None
    ) -> ListPromptsResult:
        definitions, _ = await self._current()
        self.changes.remember(context, _session_name(context))
        return ListPromptsResult(prompts=prompts.listed(definitions))

    async def get_prompt(self, context: ServerRequestContext[Any], asked: GetPromptRequestParams) -> GetPromptResult:
        definitions, _ = await self._current()
        if asked.name not in [each.name for each in prompts.listed(definitions)]:
            raise MCPError(INVALID_PARAMS, f"there is no prompt {asked.name[:200]!r}")
        try:
            return await prompts.got(self._serving, self._caller(context), definitions, asked.arguments or {})
        except PaddockError as problem:
            raise MCPError(surface(problem).mcp_code, str(problem)) from None

    def _caller(self, context: ServerRequestContext[Any]) -> Caller:
        async def report(done: float, total: float | None, message: str) -> None:
            await context.session.report_progress(done, total, message or None)

        name = _session_name(context)
        token = "" if context.request is None else context.request.headers.get("authorization", "")
        session = None if name is None else self._serving.sessions.of(name, token)
        return Caller(LOCAL, session, report, EVENT_BYTES if _is_streamed(context) else None)


def _unknown(name: str, offers: Mapping[str, Offer]) -> dict[str, Any]:
    near = nearest(name, offers)
    hints = [f"Did you mean '{near}'?"] if near else []
    summary = f"There is no tool '{name[:100]}'; there are: {', '.join(offers)}."
    return envelope.tool_not_found(name[:100], summary, hints=hints)


def _companions(serving: Serving, wanted: Collection[str]) -> list[Offer]:
    """The tools of those groups, as far as there is anything for them to do."""
    found = discovery.offers(serving) if _is_discovered(serving, wanted) else []
    if "discovery" in wanted:
        found.append(discovery.contract_offer())
    return [*found, *context.offers(serving)] if context.is_offered(serving, wanted) else found


def _is_discovered(serving: Serving, wanted: Collection[str]) -> bool:
    return "discovery" in wanted or ("discovery_if_tools" in wanted and serving.has_tools)


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


def _is_streamed(context: ServerRequestContext[Any]) -> bool:
    """Whether the answer may be an event of a stream: over HTTP it is, but in the newest era without progress."""
    is_newest = context.protocol_version in MODERN_PROTOCOL_VERSIONS
    return context.request is not None and not (is_newest and "progress_token" not in (context.meta or {}))


def _session_name(context: ServerRequestContext[Any]) -> str | None:
    """What tells this client's calls from another's: its session over HTTP; a connection of any other kind is one."""
    if context.request is None:
        return CONNECTION
    if context.protocol_version in MODERN_PROTOCOL_VERSIONS:
        return None  # it has no sessions; a header that looks like one is the client's own invention
    name: str | None = context.request.headers.get("mcp-session-id")
    return name
