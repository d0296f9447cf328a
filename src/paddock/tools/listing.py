"""The tools that a server lists, as far as they can be used. Whatever is left out is said why."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from mcp_types import PaginatedRequestParams
from mcp_types import Tool as Listed

from paddock.model.tools import Hints, Tool
from paddock.tools.health import CODE_TOOL

if TYPE_CHECKING:
    from mcp.client import ClientSession

    from paddock.tools.server import Server

MOST_PAGES = 200
MOST_TOOLS = 5000
NAME_CHARACTERS = 128
TITLE_CHARACTERS = 256
DESCRIPTION_CHARACTERS = 16 * 1024
SCHEMA_BYTES = 256 * 1024
MOST_WARNINGS = 20


async def listed(server: Server, session: ClientSession) -> tuple[tuple[Tool, ...], tuple[str, ...]]:
    """Every tool of every page, and what was wrong with the others."""
    tools: dict[str, Tool] = {}
    warnings: list[str] = []
    async for tool in _pages(session, warnings):
        if len(tools) == MOST_TOOLS:
            warnings.append(f"it lists more than {MOST_TOOLS} tools; the others are left out")
            break
        wrong = _problem(server, tool, tools)
        if wrong is None:
            tools[tool.name] = _tool(server, tool)
        elif wrong:
            warnings.append(wrong)
    return tuple(tools.values()), tuple(warnings[:MOST_WARNINGS])


async def _pages(session: ClientSession, warnings: list[str]) -> Any:
    cursors: set[str] = set()
    cursor: str | None = None
    for _ in range(MOST_PAGES):
        page = await session.list_tools(params=PaginatedRequestParams(cursor=cursor) if cursor else None)
        for tool in page.tools:
            yield tool
        cursor = page.next_cursor
        if not cursor or cursor in cursors:
            return
        cursors.add(cursor)
    warnings.append(f"its list has more than {MOST_PAGES} pages; the others are left out")


def _problem(server: Server, tool: Listed, known: dict[str, Tool]) -> str | None:
    """Why `tool` is left out; empty where its user asked for that, None where it is not."""
    name = tool.name
    if not name or len(name) > NAME_CHARACTERS or not name.isprintable() or name != name.strip():
        return f"a tool is left out: its name {name[:NAME_CHARACTERS]!a} is not 1 to {NAME_CHARACTERS} characters"
    if name in server.exclude_tools or (server.include_tools is not None and name not in server.include_tools):
        return ""
    if name in known:
        return f"the tool {name!r} is listed twice; the first one counts"
    for schema in (tool.input_schema, tool.output_schema):
        if schema is not None and _size(schema) > SCHEMA_BYTES:
            return f"the tool {name!r} is left out: its schema is larger than {SCHEMA_BYTES // 1024} KB, or not JSON"
    return None


def _size(schema: dict[str, Any]) -> float:
    try:
        return len(json.dumps(schema, allow_nan=False))
    except (ValueError, RecursionError):
        return float("inf")


def _tool(server: Server, tool: Listed) -> Tool:
    said = tool.annotations
    hints = Hints() if said is None else Hints(*_flags(said))
    description = tool.description or ""
    if len(description) > DESCRIPTION_CHARACTERS:
        description = f"{description[:DESCRIPTION_CHARACTERS]} …"
    title = tool.title or (said.title if said is not None else None) or ""
    return Tool(
        server=server.name,
        name=tool.name,
        description=_text(description),
        input_schema=tool.input_schema,
        output_schema=tool.output_schema,
        hints=hints,
        tags=_tags(tool.meta or {}),
        title=_text(title)[:TITLE_CHARACTERS],
    )


def _flags(said: Any) -> Iterator[bool | None]:
    return iter((said.read_only_hint, said.destructive_hint, said.idempotent_hint, said.open_world_hint))


def _tags(meta: dict[str, Any]) -> tuple[str, ...]:
    """Those of FastMCP's convention, and our own mark."""
    fastmcp = meta.get("fastmcp") or meta.get("_fastmcp")
    tags = fastmcp.get("tags", []) if isinstance(fastmcp, dict) else []
    kept = [tag for tag in tags if isinstance(tag, str) and tag.isprintable()] if isinstance(tags, list) else []
    return (*(tag[:64] for tag in kept[:16]), *((CODE_TOOL,) if meta.get(CODE_TOOL) else ()))


def _text(text: str) -> str:
    """Without the control characters that would move a terminal's cursor, and without lone surrogates."""
    clean = text.encode(errors="replace").decode()
    return "".join(mark for mark in clean if mark >= " " or mark in "\n\t")
