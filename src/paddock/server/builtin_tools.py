"""Built-in tools of the server: detached runs, the session's context, and the tools that scripts can call."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import TYPE_CHECKING, Any

from mcp_types import CallToolResult

from paddock.definitions.faces import FaceResponse, object_schema
from paddock.model import envelope
from paddock.model.tools import Hints
from paddock.server import runs
from paddock.server.session_tools import SessionTool, list_session_tools
from paddock.server.sessions import Caller
from paddock.server.tool import READS, Call, ServerTool, builtin_tool, envelope_result, json_result, to_result
from paddock.tools import describe
from paddock.tools.catalogue import Catalogue
from paddock.tools.sanitize import inline, one_line
from paddock.tools.toolbox import name_list

if TYPE_CHECKING:
    from paddock.model import tools
    from paddock.server.services import Services

    RunFunction = Callable[[Services, Caller, str], Awaitable[dict[str, Any] | None]]

DEFAULT_RESULTS, MAX_RESULTS = 10, 50
MAX_NAMES, MAX_QUERY_CHARACTERS = 20, 1000
FEW_TOOLS = 20
"""Up to so many tools are named if a search finds none."""
_DETAILS = ("brief", "detailed", "full")
_NAMES = {"type": "array", "items": {"type": "string"}, "maxItems": MAX_NAMES}


def run_tools(services: Services) -> list[ServerTool]:
    """`get_run` and `cancel_run`, for runs that were started with `detach`."""

    def tool(name: str, title: str, description: str, function: RunFunction, hints: Hints) -> ServerTool:
        async def call(caller: Caller, arguments: dict[str, Any]) -> CallToolResult:
            run_id = arguments["run_id"]
            run = await function(services, caller, run_id)
            if run is not None:
                return json_result(run)
            summary = f"There is no run '{run_id[:100]}'."
            hints = ["Pass the run_id that a call with detach returned. Results are kept for a limited time."]
            return envelope_result(envelope.invalid_arguments(name, summary, hints=hints))

        schema = object_schema({"run_id": {"type": "string"}}, ["run_id"])
        return builtin_tool(name, title, description, schema, call, hints=hints)

    get = "Get a detached run's result, or its output and progress. Poll rarely."
    cancel = "End a detached run; its output is kept."
    return [
        tool("get_run", "Get a run", get, runs.get_run, READS),
        # A tool counts as destructive unless its hint says otherwise.
        tool("cancel_run", "Cancel a run", cancel, runs.cancel_run, Hints(idempotent=True)),
    ]


def discovery_tools(services: Services, language: str) -> list[ServerTool]:
    """`search`, `get_schema` and `tags`, which find tools so that not all of them need to be in the model's context.

    Stubs are in `language`.
    """

    async def search(caller: Caller, arguments: dict[str, Any]) -> CallToolResult:
        all_tools = await services.paddock.tools()
        # A model cannot know what is a tag and what is a server.
        known = await services.paddock.upstreams()
        chosen = set(arguments.get("tags", ()))
        servers = chosen & known.keys()
        matches = await services.paddock.search_tools(
            arguments["query"],
            tags=chosen - servers,
            servers=servers,
            limit=arguments.get("limit", DEFAULT_RESULTS),
        )
        text = await _describe(matches, all_tools, arguments.get("detail", "brief"), language)
        if len(all_tools) <= FEW_TOOLS:
            no_match = f"None matches. The tools are: {_quote([tool.full_name for tool in all_tools])}."
        else:
            no_match = f"None of {len(all_tools)} tools matches. Try other words; `tags` gives an overview."
        return await _text(
            services, text or (no_match if all_tools else "There are no tools that scripts can call here.")
        )

    async def get_schema(caller: Caller, arguments: dict[str, Any]) -> CallToolResult:
        all_tools = await services.paddock.tools()
        catalogue = Catalogue(all_tools, servers=await services.paddock.upstreams())
        matches = {name: catalogue.find(name) for name in name_list(arguments["tools"])}
        missing = [name for name, tool in matches.items() if tool is None]
        if len(missing) == len(matches):
            hints = [hint for name in missing for hint in catalogue.hints(name)]
            summary = f"There is no tool {_quote(missing)}."
            return envelope_result(envelope.tool_not_found(missing[0], summary, hints=hints))
        present = [tool for tool in matches.values() if tool is not None]
        text = await _describe(present, all_tools, arguments.get("detail", "detailed"), language)
        for name in missing:
            text += "\n\n" + " ".join([f"There is no tool {_quote([name])}.", *catalogue.hints(name)[:1]])
        return await _text(services, text)

    async def tags(caller: Caller, arguments: dict[str, Any]) -> CallToolResult:
        all_tools = await services.paddock.tools()
        with_names = arguments.get("detail") == "full"
        return await _text(services, await asyncio.to_thread(describe.overview, all_tools, with_names=with_names))

    def in_turn(act: Callable[[Caller, dict[str, Any]], Coroutine[Any, Any, CallToolResult]]) -> Call:
        return lambda caller, arguments: services.in_turn(caller, lambda: act(caller, arguments))

    detail = {
        "enum": list(_DETAILS),
        "default": "brief",
        "description": "A line each; typed stubs; stubs and JSON Schemas.",
    }
    limit = {"type": "integer", "minimum": 1, "maximum": MAX_RESULTS, "default": DEFAULT_RESULTS}
    names = {**_NAMES, "minItems": 1}
    return [
        builtin_tool(
            "search",
            "Search tools",
            "Find tools that scripts can call, by what they do. An empty query matches all.",
            object_schema(
                {
                    "query": {"type": "string", "maxLength": MAX_QUERY_CHARACTERS},
                    "tags": {**_NAMES, "description": "Tags or servers."},
                    "detail": detail,
                    "limit": limit,
                },
                ["query"],
            ),
            in_turn(search),
        ),
        builtin_tool(
            "get_schema",
            "Get schemas",
            "Get the typed stubs of tools: arguments and results.",
            object_schema({"tools": names, "detail": {"enum": list(_DETAILS), "default": "detailed"}}, ["tools"]),
            in_turn(get_schema),
        ),
        builtin_tool(
            "tags",
            "List tags",
            "Count the tools by server and tag; `full` names them.",
            object_schema({"detail": {"enum": ["brief", "full"], "default": "brief"}}),
            in_turn(tags),
        ),
    ]


def context_tools(services: Services) -> list[ServerTool]:
    """The session tools as clients call them."""

    def tool(session_tool: SessionTool) -> ServerTool:
        spec = session_tool.tool

        async def call(caller: Caller, arguments: dict[str, Any]) -> CallToolResult:
            if session_tool.is_setter and caller.session is None:
                return envelope_result(envelope.session_required(spec.name))
            return json_result(session_tool.act(caller.context, caller.session, arguments))

        return builtin_tool(
            spec.name,
            spec.title,
            spec.description,
            spec.input_schema,
            call,
            output_schema=spec.output_schema,
            hints=spec.hints,
            is_compact=False,
        )

    return [tool(each) for each in list_session_tools(services.paddock.injection)]


def contract_tool() -> ServerTool:
    """`get_envelope_contract`, which describes error envelopes."""

    async def get_envelope_contract(caller: Caller, arguments: dict[str, Any]) -> CallToolResult:
        return json_result(envelope.contract())

    return builtin_tool(
        "get_envelope_contract",
        "Get the envelope's contract",
        "Describe the error envelope of a failed call: its fields and every code.",
        object_schema({}),
        get_envelope_contract,
        is_compact=False,
    )


async def _describe(matches: Sequence[tools.Tool], all_tools: Sequence[tools.Tool], detail: str, language: str) -> str:
    if detail == "brief":
        return describe.brief(matches)
    write = describe.detailed if detail == "detailed" else describe.full
    # Rendering many schemas takes a while, so it happens in a thread.
    return await asyncio.to_thread(write, matches, language, among=all_tools) if matches else ""


async def _text(services: Services, text: str) -> CallToolResult:
    """Return `text`, followed by the servers that are not connected: their tools are missing from it."""
    absent = [name for name, health in (await services.paddock.upstreams()).items() if health.state != "ready"]
    return to_result(FaceResponse(f"{text}\n\nNot connected now: {', '.join(absent)}." if absent else text))


def _quote(names: Sequence[str]) -> str:
    return ", ".join(f"'{inline(one_line(name, describe.NAME_CHARACTERS))}'" for name in names)
