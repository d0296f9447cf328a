"""Paddock as an MCP server: each definition is a tool, and a call of it is a run.

What is wrong with a call's arguments, and how a script failed, is a result that a model can read; an error of the
protocol would reach only its client. A call that is cancelled ends its run.
"""

from __future__ import annotations

import json
import logging
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from mcp.server.lowlevel import Server
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    Tool,
    ToolAnnotations,
)

from paddock import __version__
from paddock.config import Config
from paddock.definitions.definition import SHIPPED, Definition, shipped
from paddock.definitions.faces import native
from paddock.engines import registry
from paddock.model import envelope
from paddock.model.errors import PaddockError, RequestError
from paddock.model.events import Done, Event, Progress
from paddock.model.result import RunResult, Verdict
from paddock.tools.health import CODE_TOOL
from paddock.tools.schema import compiled

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext

    from paddock.run import Paddock

NAME = "paddock"
"""By which another Paddock knows this one, and does not let its scripts call it."""
log = logging.getLogger(__name__)


def server(paddock: Paddock, config: Config) -> Server[Any]:
    """The server that runs code in `paddock`. Starts nothing by itself."""
    tools = _Tools(paddock, config)
    return Server(NAME, version=__version__, title="Paddock", on_list_tools=tools.list, on_call_tool=tools.call)


class _Tools:
    def __init__(self, paddock: Paddock, config: Config) -> None:
        self._paddock = paddock
        definitions = [shipped(name) for name in SHIPPED]
        self._tools = {each.name: _tool(each, config) for each in definitions}
        self._checks = {name: compiled(tool.input_schema) for name, tool in self._tools.items()}

    async def list(self, context: ServerRequestContext[Any], asked: PaginatedRequestParams | None) -> ListToolsResult:
        return ListToolsResult(tools=list(self._tools.values()))

    async def call(self, context: ServerRequestContext[Any], asked: CallToolRequestParams) -> CallToolResult:
        arguments = asked.arguments or {}
        if asked.name not in self._tools:
            return _failed(envelope.envelope("tool_not_found", asked.name, _unknown(asked.name), "TOOL_NOT_FOUND"))
        problem = self._checks[asked.name].problems(arguments, asked.name)
        if problem is not None:
            return _failed(problem)
        try:
            return _answer(await self._run(context, arguments))
        except RequestError as refused:
            return _failed(
                envelope.envelope("mcp_input_validation", asked.name, str(refused), "INPUT_VALIDATION_FAILED")
            )
        except PaddockError as fault:
            log.warning("%s: %s", type(fault).__name__, fault)
            return _failed(envelope.internal_error(asked.name, f"{type(fault).__name__}: {fault}"))

    async def _run(self, context: ServerRequestContext[Any], arguments: dict[str, Any]) -> RunResult:
        """Follow the run to its end, telling the client how far it is."""
        stream = self._paddock.stream(arguments["code"], **native.options(arguments))
        async with aclosing(stream) as events:  # type: ignore[type-var]
            event: Event
            async for event in events:
                if isinstance(event, Progress):
                    await context.session.report_progress(event.done, event.total, event.message or None)
                elif isinstance(event, Done):
                    return event.result
        raise AssertionError("a stream of events ended without Done")


def _tool(definition: Definition, config: Config) -> Tool:
    engines = registry.available()
    return Tool(
        name=definition.name,
        title=definition.title,
        description=native.description(definition.description, config, engines),
        input_schema=native.input_schema(config, engines),
        output_schema=native.output_schema(),
        # Code that calls other tools may change and reach whatever they do.
        annotations=ToolAnnotations(read_only_hint=False, destructive_hint=True, open_world_hint=True),
        _meta={CODE_TOOL: True},
    )


def _unknown(name: str) -> str:
    return f"There is no tool '{name}'; there is: {', '.join(SHIPPED)}."


def _answer(result: RunResult) -> CallToolResult:
    shown = native.shown(result)
    # Both say the same: older clients show a model the text, newer ones the object.
    text = TextContent(text=json.dumps(shown, ensure_ascii=False))
    return CallToolResult(content=[text], structured_content=shown, is_error=result.verdict is not Verdict.OK)


def _failed(said: dict[str, Any]) -> CallToolResult:
    return CallToolResult(content=[TextContent(text=json.dumps(said, ensure_ascii=False))], is_error=True)
