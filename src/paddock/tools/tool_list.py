"""Lists the usable tools of a server, and explains why others are left out."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from typing import TYPE_CHECKING, Any, cast
from unicodedata import category

from mcp_types import ListToolsRequest, ListToolsResult, PaginatedRequestParams, ToolAnnotations
from mcp_types import Tool as ListedTool
from mcp_types.methods import validate_server_result
from pydantic import TypeAdapter, ValidationError

from paddock.model.tools import Hints, Tool
from paddock.tools.schema import SCHEMA_BYTES
from paddock.tools.size import is_larger
from paddock.tools.upstream import CODE_TOOL

if TYPE_CHECKING:
    from mcp.client import ClientSession

    from paddock.tools.mcp_config import Server

MAX_PAGES = 200
MAX_TOOLS = 5000
NAME_CHARACTERS = 128
TITLE_CHARACTERS = 256
DESCRIPTION_CHARACTERS = 16 * 1024
LIST_BYTES = 16 * 1024 * 1024
"""Limit for the schemas and descriptions of all tools of a server, which stay in the host's memory."""
MAX_WARNINGS = 20
LISTED = "paddock/tools"
"""Where a list of tools is hidden from the SDK."""
_raw_result = TypeAdapter(dict[str, Any])
TOO_LARGE = f"its schema is larger than {SCHEMA_BYTES >> 10} KB, or not JSON"


def drop_invalid_tools(result: dict[str, Any], version: str) -> list[str]:
    """Remove the tools for which the SDK would refuse the whole list. Returns a warning for each.

    The others are moved to LISTED: the SDK would take seconds of the event loop for thousands of them. Nothing that is
    large reaches its validation here, which takes 0.5 KB and 4 µs for each error that it finds.
    """
    listed = result.get("tools")
    if not isinstance(listed, list):
        return []
    kept: list[Any] = []
    warnings: list[str] = []
    for entry in listed[: MAX_TOOLS + 1]:
        tool = {**entry, "icons": None} if isinstance(entry, dict) else {}
        problem = _invalid(tool, result, version)
        if problem:
            warnings.append(f"the tool {str(tool.get('name'))[:NAME_CHARACTERS]!a} is left out: {problem}")
        else:
            kept.append(tool)
    result |= {"tools": [], LISTED: kept}
    return warnings[:MAX_WARNINGS]


def _invalid(tool: dict[str, Any], result: dict[str, Any], version: str) -> str:
    """Why the SDK would refuse a list with this tool; empty if it would not."""
    if is_larger([tool.get("inputSchema"), tool.get("outputSchema")], 2 * SCHEMA_BYTES):
        return TOO_LARGE
    try:
        validate_server_result("tools/list", version, {**result, "tools": [tool]})
    except ValidationError as problem:
        place, message = first_error(problem)
        return f"{'.'.join(place[2:])}: {message}" if place[0] == "tools" else ""
    except (LookupError, ValueError, RecursionError):
        return ""  # the SDK itself reports it
    return ""


def first_error(problem: ValidationError) -> tuple[list[str], str]:
    """Where the first error of a validation is, and what it is. Does not show the value."""
    error = problem.errors(include_url=False, include_input=False, include_context=False)[0]
    return [str(part) for part in error["loc"]], error["msg"]


async def list_tools(
    server: Server, session: ClientSession, warnings: list[str]
) -> tuple[tuple[Tool, ...], tuple[str, ...]]:
    """The usable tools of all pages, and warnings about the others: `warnings` and more."""
    listing = _Listing(server, warnings)
    async for page in _pages(session, listing.warnings):
        if not await asyncio.to_thread(listing.add, page):  # pages may hold megabytes of schemas
            break
    return tuple(listing.tools.values()), tuple(listing.warnings[:MAX_WARNINGS])


async def _pages(session: ClientSession, warnings: list[str]) -> AsyncIterator[list[ListedTool]]:
    cursors: set[str] = set()
    cursor: str | None = None
    for _ in range(MAX_PAGES):
        request = ListToolsRequest(params=PaginatedRequestParams(cursor=cursor) if cursor else None)
        page = await session.send_request(request, cast("Any", _raw_result))
        yield await asyncio.to_thread(_absorb, session, page.get(LISTED, []), is_first=cursor is None)
        cursor = page.get("nextCursor")
        if not cursor or cursor in cursors:
            return
        cursors.add(cursor)
    warnings.append(f"its list has more than {MAX_PAGES} pages; the others are left out")


def _absorb(session: ClientSession, tools: list[Any], *, is_first: bool) -> list[ListedTool]:
    """The tools of a page, which the session needs for the headers of calls. With the first, it forgets all others."""
    page = ListToolsResult.model_construct(tools=[ListedTool.model_validate(each, by_name=False) for each in tools])
    return session._absorb_tool_listing(page, complete=is_first).tools  # noqa: SLF001  `list_tools` blocks the loop


class _Listing:
    """The usable tools of one server, within its memory limit."""

    def __init__(self, server: Server, warnings: list[str]) -> None:
        self.tools: dict[str, Tool] = {}
        self.warnings = warnings
        self._server = server
        self._bytes_left = LIST_BYTES

    def add(self, page: list[ListedTool]) -> bool:
        """Add the tools of a page. Returns False when a limit is reached."""
        for tool in page:
            if len(self.tools) == MAX_TOOLS:
                self.warnings.append(f"it lists more than {MAX_TOOLS} tools; the others are left out")
                return False
            problem = self._problem(tool)
            if problem:
                self.warnings.append(problem)
            if problem is not None:
                continue
            kept = _tool(self._server, tool)
            self._bytes_left -= _size(kept.input_schema) + _size(kept.output_schema) + len(kept.description.encode())
            if self._bytes_left < 0:
                limit = f"{LIST_BYTES >> 20} MB"
                self.warnings.append(f"its schemas and descriptions exceed {limit}; the other tools are left out")
                return False
            self.tools[tool.name] = kept
        return True

    def _problem(self, tool: ListedTool) -> str | None:
        """Why `tool` is left out; empty if the configuration excludes it, None if it is usable."""
        name, server = tool.name, self._server
        if not name or len(name) > NAME_CHARACTERS or not name.isprintable() or name != name.strip():
            return f"a tool is left out: its name {name[:NAME_CHARACTERS]!a} is empty, too long or unprintable"
        if name in server.exclude_tools or (server.include_tools is not None and name not in server.include_tools):
            return ""
        if name in self.tools:
            return f"the tool {name!r} is listed twice; the first one counts"
        if max(_size(tool.input_schema), _size(tool.output_schema)) > SCHEMA_BYTES:
            return f"the tool {name!r} is left out: {TOO_LARGE}"
        return None


def _size(schema: Mapping[str, Any] | None) -> int:
    """The size of the schema as JSON. More than `SCHEMA_BYTES` if it is not JSON or much too large."""
    if schema is None:
        return 0
    try:
        return SCHEMA_BYTES + 1 if is_larger(schema, SCHEMA_BYTES) else len(json.dumps(schema, allow_nan=False))
    except (ValueError, RecursionError):
        return SCHEMA_BYTES + 1


def _tool(server: Server, tool: ListedTool) -> Tool:
    given = tool.annotations or ToolAnnotations()
    hints = Hints(given.read_only_hint, given.destructive_hint, given.idempotent_hint, given.open_world_hint)
    description = tool.description or ""
    if len(description) > DESCRIPTION_CHARACTERS:
        description = f"{description[:DESCRIPTION_CHARACTERS]} …"
    title = tool.title or given.title or ""
    return Tool(
        server=server.name,
        name=tool.name,
        description=_printable(description),
        input_schema=_printable_schema(tool.input_schema),
        output_schema=None if tool.output_schema is None else _printable_schema(tool.output_schema),
        hints=hints,
        tags=_tags(tool.meta or {}),
        title=_printable(title)[:TITLE_CHARACTERS],
    )


def _tags(meta: dict[str, Any]) -> tuple[str, ...]:
    """The tags in FastMCP's convention, and CODE_TOOL for tools that run code."""
    fastmcp = meta.get("fastmcp") or meta.get("_fastmcp")
    tags = fastmcp.get("tags", []) if isinstance(fastmcp, dict) else []
    valid = [tag for tag in tags if isinstance(tag, str) and tag.isprintable()] if isinstance(tags, list) else []
    return (*(tag[:64] for tag in valid[:16]), *((CODE_TOOL,) if meta.get(CODE_TOOL) else ()))


def _printable(text: str) -> str:
    """`text` without characters that are not shown, or change the direction of others. Keeps newlines, tabs, spaces."""
    clean = text.encode(errors="replace").decode()
    hidden = (mark for mark in set(clean) if not mark.isprintable() and mark not in "\n\t" and category(mark) != "Zs")
    return clean.translate(dict.fromkeys(map(ord, hidden)))


def _printable_schema(schema: dict[str, Any]) -> dict[str, Any]:
    """`schema` with printable titles and descriptions. Changes it in place; what is compared with values stays."""
    stack: list[Any] = [schema]
    while stack:
        node = stack.pop()
        if isinstance(node, list):
            stack += node
        elif isinstance(node, dict):
            for name, value in node.items():
                if isinstance(value, str):
                    node[name] = _printable(value) if name in ("title", "description") else value
                elif name != "enum" or not isinstance(value, list):
                    stack.append(value)
    return schema
