"""Our server and its HTTP application, with what the conformance suite expects to find beside what Paddock offers."""

from __future__ import annotations

from typing import Any

from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity
from mcp.server.subscriptions import (
    InMemorySubscriptionBus,
    ListenHandler,
    PromptsListChanged,
    ServerEvent,
    ToolsListChanged,
)
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    CompleteRequestParams,
    CompleteResult,
    Completion,
    EmptyResult,
    GetPromptRequestParams,
    GetPromptResult,
    InputRequiredResult,
    ListPromptsResult,
    ListResourcesResult,
    ListResourceTemplatesResult,
    ListToolsResult,
    PaginatedRequestParams,
    ReadResourceRequestParams,
    ReadResourceResult,
    RequestParams,
    SetLevelRequestParams,
    SubscribeRequestParams,
    SubscriptionsListenRequestParams,
    Tool,
    UnsubscribeRequestParams,
)
from starlette.applications import Starlette

from paddock.server.http import make_app
from paddock.server.mcp import make_server
from paddock.server.services import Services
from tests.conformance import asking_tools, plain_tools, prompts_and_resources
from tests.conformance.plain_tools import EMPTY, text

Context = ServerRequestContext[Any]
CHANGES: dict[str, ServerEvent] = {
    "test_trigger_tool_change": ToolsListChanged(),
    "test_trigger_prompt_change": PromptsListChanged(),
}


def application(services: Services) -> Starlette:
    made = make_server(services, more=plain_tools.offers())
    # What a client hands back of an unfinished request may be anything: the SDK seals it, where it is told to.
    made.middleware.append(RequestStateBoundary(RequestStateSecurity.ephemeral(), default_audience=made.name))
    _Beside(made).register()
    return make_app(made, services)


class _Beside:
    """Answers what the suite has, and leaves the rest to the server that was there before."""

    def __init__(self, made: Server[Any]) -> None:
        self._made = made
        self._before = {method: made.get_request_handler(method) for method in METHODS}
        self._bus = InMemorySubscriptionBus()

    def register(self) -> None:
        for method, (params, name) in METHODS.items():
            self._made.add_request_handler(method, params, getattr(self, name))
        listen = ListenHandler(self._bus)
        self._made.add_request_handler("subscriptions/listen", SubscriptionsListenRequestParams, listen)

    async def _ours(self, context: Context, asked: Any) -> Any:
        before = self._before[context.method]
        return None if before is None else await before.handler(context, asked)

    async def list_tools(self, context: Context, asked: PaginatedRequestParams) -> ListToolsResult:
        ours = await self._ours(context, asked)
        changing = [
            Tool(name=name, description="Says that a list has changed.", input_schema=EMPTY) for name in CHANGES
        ]
        return ListToolsResult(tools=[*ours.tools, *asking_tools.TOOLS, *changing])

    async def call(self, context: Context, asked: CallToolRequestParams) -> CallToolResult | InputRequiredResult:
        if asked.name in CHANGES:
            await self._bus.publish(CHANGES[asked.name])
            return text("It has changed.")
        if asked.name in asking_tools.ASKING:
            return await asking_tools.ASKING[asked.name](context, asked)
        answered: CallToolResult = await self._ours(context, asked)
        return answered

    async def list_resources(self, context: Context, asked: PaginatedRequestParams) -> ListResourcesResult:
        ours = await self._ours(context, asked)
        return ListResourcesResult(
            resources=[*prompts_and_resources.RESOURCES, *ours.resources], next_cursor=ours.next_cursor
        )

    async def list_templates(self, context: Context, asked: PaginatedRequestParams) -> ListResourceTemplatesResult:
        ours = await self._ours(context, asked)
        templates = [] if ours is None else ours.resource_templates
        return ListResourceTemplatesResult(resource_templates=[*templates, *prompts_and_resources.TEMPLATES])

    async def read_resource(self, context: Context, asked: ReadResourceRequestParams) -> ReadResourceResult:
        found = prompts_and_resources.contents(str(asked.uri))
        if found is not None:
            return ReadResourceResult(contents=[found])
        read: ReadResourceResult = await self._ours(context, asked)
        return read

    async def list_prompts(self, context: Context, asked: PaginatedRequestParams) -> ListPromptsResult:
        ours = await self._ours(context, asked)
        return ListPromptsResult(prompts=[*([] if ours is None else ours.prompts), *prompts_and_resources.PROMPTS])

    async def get_prompt(
        self, context: Context, asked: GetPromptRequestParams
    ) -> GetPromptResult | InputRequiredResult:
        if asked.name.startswith("test_") or self._before[context.method] is None:
            return prompts_and_resources.prompt(asked)
        got: GetPromptResult = await self._ours(context, asked)
        return got

    async def complete(self, context: Context, asked: CompleteRequestParams) -> CompleteResult:
        return CompleteResult(completion=Completion(values=[], total=0, has_more=False))

    async def accept(self, context: Context, asked: RequestParams) -> EmptyResult:
        return EmptyResult()


METHODS: dict[str, tuple[type[RequestParams], str]] = {
    "tools/list": (PaginatedRequestParams, "list_tools"),
    "tools/call": (CallToolRequestParams, "call"),
    "resources/list": (PaginatedRequestParams, "list_resources"),
    "resources/templates/list": (PaginatedRequestParams, "list_templates"),
    "resources/read": (ReadResourceRequestParams, "read_resource"),
    "resources/subscribe": (SubscribeRequestParams, "accept"),
    "resources/unsubscribe": (UnsubscribeRequestParams, "accept"),
    "prompts/list": (PaginatedRequestParams, "list_prompts"),
    "prompts/get": (GetPromptRequestParams, "get_prompt"),
    "completion/complete": (CompleteRequestParams, "complete"),
    "logging/setLevel": (SetLevelRequestParams, "accept"),
}
