"""Paddock as an MCP server: each definition is a tool, and a call of it is a run.

Invalid arguments and failed scripts are answered with results, which the model reads. A protocol error would reach only
the client. If a call is cancelled or its client disconnects, its run ends.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import AsyncIterator, Awaitable, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

from mcp import MCPError
from mcp.server.lowlevel import Server
from mcp.server.lowlevel.server import NotificationOptions
from mcp.server.subscriptions import (
    InMemorySubscriptionBus,
    ListenHandler,
    PromptsListChanged,
    ResourcesListChanged,
    ToolsListChanged,
)
from mcp_types import (
    INVALID_PARAMS,
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
    SubscriptionsListenRequestParams,
    SubscriptionsListenResult,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from paddock import __version__
from paddock.definitions.definition import SHIPPED, Definition, shipped
from paddock.definitions.faces.inputs import STUBS_URL
from paddock.errors import PaddockError, RequestError
from paddock.model import envelope
from paddock.model.request import LOCAL
from paddock.model.spelling import nearest
from paddock.server import artifact_tools, builtin_tools, logs, prompts, session_tools
from paddock.server.code_tools import SavedNames, SavedTools, make_code_tool
from paddock.server.http import received
from paddock.server.images import with_images
from paddock.server.request_memory import SMALL_BYTES
from paddock.server.sessions import CONNECTION, Caller
from paddock.server.tool import EVENT_BYTES, ServerTool, envelope_result, truncate_response, with_notes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcp.server.context import ServerRequestContext
    from mcp.server.models import InitializationOptions
    from mcp.server.session import ServerSession

    from paddock.model.tools import Tool
    from paddock.server.services import Services

    Context = ServerRequestContext[Any]

NAME = "paddock"
"""The server's name. Another Paddock recognises it and does not let its scripts call this server."""
LEAST_PROGRESS = 0.001
"""In MCP, each report of progress must be more than the one before. One that is not is raised by this much."""
MAX_SUBSCRIBERS = 10_000
"""How many connections are notified of changes. Beyond this, the one that asked longest ago is dropped."""
MAX_SUBSCRIPTIONS = 900
"""How many streams of one principal are open. Fewer than `stdio.MAX_UNANSWERED`: beyond that, stdin is not read."""
NAME_CHARACTERS = 600
"""Longer than any tool's full name."""
_PROGRAMS = ("markdown", "terminal")
"""Faces whose programs cannot call tools."""
NOTIFY_SECONDS = 5.0
"""How long to wait for a client that does not read its notifications."""
NOTIFIED_PER_SECOND = 1000
"""How many clients are notified in a second. It takes 0.3 ms for each, and others must not wait for thousands."""
log = logging.getLogger(__name__)


def make_server(
    services: Services,
    definitions: Sequence[Definition] | None = None,
    *,
    saved: SavedNames = (),
    more: Sequence[ServerTool] = (),
) -> Server[Any]:
    """Return a server that runs code with `services`. It starts nothing by itself, and offers `run_code` by default.

    `saved` names the definitions in the store that are offered too, in their current versions. `more` are additional
    tools of the program that embeds the server.
    """
    chosen = [shipped(SHIPPED[0])] if definitions is None else definitions
    handlers = _Handlers(services, chosen, saved, more)
    return _Server(
        NAME,
        version=__version__,
        title="Paddock",
        instructions=_instructions(services, [each.name for each in chosen]),
        lifespan=handlers.lifespan,
        get_tool_input_schema=handlers.header_schema,
        on_list_tools=handlers.list_tools,
        on_call_tool=handlers.call_tool,
        on_list_resources=handlers.list_resources,
        on_list_resource_templates=handlers.list_resource_templates,
        on_read_resource=handlers.read_resource,
        on_list_prompts=handlers.list_prompts,
        on_get_prompt=handlers.get_prompt,
        on_subscriptions_listen=handlers.listen,
    )


class _Server(Server[Any]):
    def create_initialization_options(
        self,
        notification_options: NotificationOptions | None = None,
        experimental_capabilities: dict[str, dict[str, Any]] | None = None,
        extensions: dict[str, dict[str, Any]] | None = None,
    ) -> InitializationOptions:
        """Declare to clients of older protocol versions that the lists may change."""
        changing = NotificationOptions(prompts_changed=True, resources_changed=True, tools_changed=True)
        return super().create_initialization_options(
            notification_options or changing, experimental_capabilities, extensions
        )


class _Streams(ListenHandler):
    """The open streams of one principal's subscriptions. The SDK limits how many there are."""

    def __init__(self) -> None:
        self.bus = InMemorySubscriptionBus()
        super().__init__(self.bus, max_subscriptions=MAX_SUBSCRIPTIONS)


class _Subscribers:
    """Clients that are notified when the definitions of their principal, and so the lists, change.

    Over HTTP all share one of these, over stdio each has its own. In older protocol versions, every client that has
    requested a list is notified; in newer ones, a client subscribes.
    """

    def __init__(self) -> None:
        self._sessions: dict[str, tuple[str, ServerSession]] = {}  # each with its principal
        self._streams: WeakValueDictionary[str, _Streams] = WeakValueDictionary()  # by principal, while one is open

    def add(self, context: Context) -> None:
        """Remember that this client asked for a list."""
        name = _session_name(context)
        if context.protocol_version in MODERN_PROTOCOL_VERSIONS or name is None:
            return
        self._sessions.pop(name, None)
        self._sessions[name] = _principal(context), context.session
        if len(self._sessions) > MAX_SUBSCRIBERS:
            self._sessions.pop(next(iter(self._sessions)))

    async def listen(self, context: Context, params: SubscriptionsListenRequestParams) -> SubscriptionsListenResult:
        streams = self._streams.setdefault(_principal(context), _Streams())
        return await streams(context, params)

    async def notify(self, principals: set[str]) -> None:
        """Notify every client of these principals that the lists have changed."""
        sessions = [session for principal, session in self._sessions.values() if principal in principals]
        await asyncio.gather(*(self._notify(*each) for each in enumerate(sessions)))
        for streams in [self._streams.get(each) for each in principals]:
            for event in (ToolsListChanged(), PromptsListChanged(), ResourcesListChanged()):
                if streams is not None:
                    await streams.bus.publish(event)

    async def _notify(self, position: int, session: ServerSession) -> None:
        await asyncio.sleep(position / NOTIFIED_PER_SECOND)
        with suppress(TimeoutError):
            async with asyncio.timeout(NOTIFY_SECONDS):
                await session.send_tool_list_changed()
                await session.send_prompt_list_changed()
                await session.send_resource_list_changed()


class _Handlers:
    """Answers each request of the protocol."""

    def __init__(
        self, services: Services, definitions: Sequence[Definition], saved: SavedNames, more: Sequence[ServerTool]
    ) -> None:
        self._services = services
        self._definitions = tuple(definitions)
        self._saved = SavedTools(services, saved)
        is_javascript = bool(definitions) and all(each.language == "javascript" for each in definitions)
        self._discovery = builtin_tools.discovery_tools(services, "javascript" if is_javascript else "python")
        self._contract = builtin_tools.contract_tool()
        self._session = builtin_tools.context_tools(services)
        self._files = artifact_tools.list_file_tools(services)
        fixed = [
            *(make_code_tool(services, each) for each in definitions),
            *(builtin_tools.run_tools(services) if any(each.face == "native" for each in definitions) else ()),
            *artifact_tools.list_artifact_tools(services, definitions),
            *self._companions(definitions),
            *more,
        ]
        self._tools = {each.tool.name: each for each in fixed}
        self._header_schemas = {each.tool.name: each.tool.input_schema for each in more}

    def header_schema(self, name: str) -> Mapping[str, Any] | None:
        """The schema of a tool that may have parameters which clients also send as headers. Paddock's own have none.

        Without this, the SDK lists all tools before each call to find out.
        """
        return self._header_schemas.get(name)

    @asynccontextmanager
    async def lifespan(self, _: Server[Any]) -> AsyncIterator[_Subscribers]:
        """Watch the saved definitions, and tell subscribers when they change, until the server ends."""
        subscribers = _Subscribers()
        known = await self._saved.versions()  # before a client can list the tools: later changes are announced
        watch = asyncio.create_task(self._saved.watch(known, subscribers.notify))
        try:
            yield subscribers
        finally:
            watch.cancel()
            await asyncio.wait([watch])

    async def _current(self, context: Context) -> tuple[list[Definition], dict[str, ServerTool]]:
        """The definitions and tools that are offered to this caller now."""
        saved = await self._saved.current(_principal(context))
        definitions = [*self._definitions, *(definition for definition, _ in saved)]
        extra = [*(tool for _, tool in saved), *self._companions(definitions)]
        return definitions, {
            **self._tools,
            **{each.tool.name: each for each in extra if each.tool.name not in self._tools},
        }

    def _companions(self, definitions: Sequence[Definition]) -> list[ServerTool]:
        """The companion tools of these definitions. Session tools are also offered if there is context to set."""
        groups = {group for each in definitions for group in each.companions}
        tools: list[ServerTool] = []
        if "discovery" in groups or ("discovery_if_tools" in groups and self._services.has_tools):
            tools += self._discovery
        if "discovery" in groups:
            tools.append(self._contract)
        if session_tools.is_offered(self._services, groups):
            tools += self._session
        if any(each.face == "inputs" and each.includes_files for each in definitions):
            tools += self._files
        return tools

    async def listen(self, context: Context, params: SubscriptionsListenRequestParams) -> SubscriptionsListenResult:
        subscribers: _Subscribers = context.lifespan_context
        return await subscribers.listen(context, params)

    async def list_tools(self, context: Context, params: PaginatedRequestParams | None) -> ListToolsResult:
        _, tools = await self._current(context)
        context.lifespan_context.add(context)
        self._services.start_maintenance()
        return ListToolsResult(tools=[each.listing for each in tools.values()])

    async def call_tool(self, context: Context, params: CallToolRequestParams) -> CallToolResult:
        http = received(context.request)
        taken = None if http is None else http.arguments
        arguments = dict(params.arguments or {}) if taken is None else taken
        tool = self._tools.get(params.name)
        if tool is None:
            _, tools = await self._current(context)
            tool = tools.get(params.name)
            if tool is None:
                return envelope_result(await self._unknown_tool(params.name, tools))
        arguments = tool.normalize(arguments)
        # The check of large arguments may take a second, so it happens in a thread.
        if http is not None and http.body_bytes > SMALL_BYTES:
            async with http.memory.turn:
                arguments, notes, problem = await asyncio.to_thread(tool.check, arguments)
        else:
            arguments, notes, problem = tool.check(arguments)
        if problem is not None:
            return tool.refuse(problem)
        caller = self._caller(context)
        logs.principal.set(caller.principal)
        await self._services.check_session(caller)
        try:
            work = tool.call(caller, arguments)
            result = await _until_disconnect(None if http is None else http.disconnected, work)
            await self._services.record_session(caller)
            result = await truncate_response(self._services, caller, tool.tool, result)
            return with_notes(await with_images(self._services, caller, result), notes)
        except RequestError as refusal:
            return tool.refuse(envelope.invalid_arguments(params.name, str(refusal)))
        except PaddockError as fault:
            self._services.log_fault(type(fault).__name__, fault)
            message = self._services.without_host_paths(f"{type(fault).__name__}: {fault}")
            return envelope_result(envelope.internal_error(params.name, message))
        finally:
            self._services.start_maintenance()

    async def _unknown_tool(self, name: str, tools: Mapping[str, ServerTool]) -> dict[str, Any]:
        """The envelope for a tool that this server does not offer. Models call those of upstreams as if it did."""
        upstream = _find_upstream_tool(name, await self._services.paddock.tools())
        if upstream is not None:
            hints = [_how_to_call(upstream, self._definitions)]
            summary = f"'{name[:100]}' is a tool that scripts call, not a tool of this server."
            return envelope.tool_not_found(name[:100], summary, hints=hints)
        near = nearest(name, tools)
        summary = f"There is no tool '{name[:100]}'. Tools here: {', '.join(tools)}."
        return envelope.tool_not_found(name[:100], summary, hints=[f"Did you mean '{near}'?"] if near else [])

    async def list_resources(self, context: Context, params: PaginatedRequestParams | None) -> ListResourcesResult:
        cursor = None if params is None else params.cursor
        with _protocol_errors(self._services):
            artifacts, next_cursor = await artifact_tools.list_resources(self._services, self._caller(context), cursor)
        definitions, _ = await self._current(context)
        context.lifespan_context.add(context)
        stubs = prompts.list_stubs(definitions) if cursor is None else []
        return ListResourcesResult(resources=[*stubs, *artifacts], next_cursor=next_cursor)

    async def list_resource_templates(
        self, context: Context, params: PaginatedRequestParams | None
    ) -> ListResourceTemplatesResult:
        return ListResourceTemplatesResult(resource_templates=[artifact_tools.resource_template(self._services)])

    async def read_resource(self, context: Context, params: ReadResourceRequestParams) -> ReadResourceResult:
        uri = str(params.uri)
        definitions, _ = await self._current(context)
        caller, read = self._caller(context), partial(prompts.read_stubs, self._services, definitions, uri)
        with _protocol_errors(self._services):
            stubs = await self._services.in_turn(caller, read) if uri.startswith(STUBS_URL) else None
            found = stubs or await artifact_tools.read_resource(self._services, caller, uri)
        if found is None:
            raise MCPError(INVALID_PARAMS, f"there is no resource {uri[:200]!r}", {"uri": uri[:2000]})
        return ReadResourceResult(contents=[found])

    async def list_prompts(self, context: Context, params: PaginatedRequestParams | None) -> ListPromptsResult:
        definitions, _ = await self._current(context)
        context.lifespan_context.add(context)
        return ListPromptsResult(prompts=prompts.list_prompts(definitions))

    async def get_prompt(self, context: Context, params: GetPromptRequestParams) -> GetPromptResult:
        definitions, _ = await self._current(context)
        if params.name not in [each.name for each in prompts.list_prompts(definitions)]:
            raise MCPError(INVALID_PARAMS, f"there is no prompt {params.name[:200]!r}")
        caller = self._caller(context)
        make = partial(prompts.get_prompt, self._services, caller, definitions, params.arguments or {})
        with _protocol_errors(self._services):
            return await self._services.in_turn(caller, make)

    def _caller(self, context: Context) -> Caller:
        last = -1.0

        async def report(done: float, total: float | None, message: str) -> None:
            nonlocal last
            last = done if done > last else last + LEAST_PROGRESS
            await context.session.report_progress(last, total, message or None)

        name = _session_name(context)
        http = received(context.request)
        token = "" if context.request is None else ", ".join(context.request.headers.getlist("authorization"))
        principal = _principal(context)
        session = None if name is None else self._services.sessions.get(name, principal, token)
        if http is None:
            return Caller(principal, session, report)
        # Any result may be sent as an event: the SDK starts a stream after 15 s, or at the first report.
        return Caller(principal, session, report, EVENT_BYTES, http.caller, http.identity.role, memory=http.memory)


@contextmanager
def _protocol_errors(services: Services) -> Iterator[None]:
    """Turn Paddock's errors into protocol errors, for requests whose result cannot contain an error."""
    try:
        yield
    except PaddockError as problem:
        raise MCPError(problem.mcp_code, services.without_host_paths(str(problem))) from None


def _instructions(services: Services, code_tools: Sequence[str]) -> str:
    """What a model should know about the server as a whole, in at most 150 tokens."""
    sentences = [
        f"Run code in a sandbox with {', '.join(code_tools) or 'the code tools'}: do the whole job in one script."
    ]
    if services.has_tools:
        sentences.append(
            "Scripts can call the tools of other servers: find these with `search`, read their types with `get_schema`."
        )
    sentences += [
        "Return only what you need. Long output is cut and stored in full as an artifact: search it or read it in "
        "pages with `read_artifact`.",
        "If a run fails, follow its hint before you run it again.",
    ]
    return " ".join(sentences)


def _find_upstream_tool(name: str, tools: Sequence[Tool]) -> Tool | None:
    """The tool that a client means by its full name, with any signs between its words, or by its bare name."""

    def words(text: str) -> str:
        return re.sub(r"\W+|_+", " ", text)

    if len(name) > NAME_CHARACTERS:
        return None
    wanted = words(name.removeprefix("mcp__").removeprefix(f"{NAME}__"))
    found = [tool for tool in tools if words(tool.full_name) == wanted] or [tool for tool in tools if tool.name == name]
    return found[0] if len(found) == 1 else None


def _how_to_call(tool: Tool, definitions: Sequence[Definition]) -> str:
    """How to call a tool of an upstream with one of these code tools."""
    code_tool = next((each for each in definitions if each.tools != () and each.face not in _PROGRAMS), None)
    if code_tool is None:
        return "No code tool here lets scripts call tools."
    call = f'call_tool("{tool.full_name}", {{...}})'
    if not code_tool.is_python:
        call = f'callTool("{tool.server}", "{tool.name}", {{...}})'
    return f"Call it in a script, with {code_tool.name}: `return await {call}`."


async def _until_disconnect(disconnected: asyncio.Event | None, work: Awaitable[CallToolResult]) -> CallToolResult:
    """Return the result of `work`. If the client disconnects first, cancel `work`."""
    if disconnected is None:
        return await work
    task, disconnect = asyncio.ensure_future(work), asyncio.ensure_future(disconnected.wait())
    try:
        await asyncio.wait([task, disconnect], return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            raise asyncio.CancelledError
        return task.result()
    finally:
        disconnect.cancel()
        if not task.done():
            task.cancel()
            await asyncio.wait([task])


def _principal(context: Context) -> str:
    http = received(context.request)
    return LOCAL if http is None else http.identity.principal


def _session_name(context: Context) -> str | None:
    """The name of the client's session: the header `Mcp-Session-Id` over HTTP, CONNECTION over stdio; else None."""
    if context.request is None:
        return CONNECTION
    if context.protocol_version in MODERN_PROTOCOL_VERSIONS:
        return None  # these versions have no sessions, so the header has no meaning
    name: str | None = context.request.headers.get("mcp-session-id")
    return name
