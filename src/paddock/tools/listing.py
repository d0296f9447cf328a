"""The tools that a server lists, as far as they can be used. Whatever is left out is said why."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from typing import TYPE_CHECKING, Any

from mcp_types import PaginatedRequestParams
from mcp_types import Tool as Listed

from paddock.model.tools import Hints, Tool
from paddock.tools.health import CODE_TOOL
from paddock.tools.large import is_large

if TYPE_CHECKING:
    from mcp.client import ClientSession

    from paddock.tools.server import Server

MOST_PAGES = 200
MOST_TOOLS = 5000
NAME_CHARACTERS = 128
TITLE_CHARACTERS = 256
DESCRIPTION_CHARACTERS = 16 * 1024
SCHEMA_BYTES = 256 * 1024
LIST_BYTES = 16 * 1024 * 1024
"""Of the schemas of all tools of a server: they stay in the host's memory."""
MOST_WARNINGS = 20


async def listed(server: Server, session: ClientSession) -> tuple[tuple[Tool, ...], tuple[str, ...]]:
    """Every tool of every page, and what was wrong with the others."""
    chosen = _Chosen(server)
    async for page in _pages(session, chosen.warnings):
        if not await asyncio.to_thread(chosen.take, page):  # megabytes of schemas
            break
    return tuple(chosen.tools.values()), tuple(chosen.warnings[:MOST_WARNINGS])


async def _pages(session: ClientSession, warnings: list[str]) -> AsyncIterator[list[Listed]]:
    cursors: set[str] = set()
    cursor: str | None = None
    for _ in range(MOST_PAGES):
        page = await session.list_tools(params=PaginatedRequestParams(cursor=cursor) if cursor else None)
        yield page.tools
        cursor = page.next_cursor
        if not cursor or cursor in cursors:
            return
        cursors.add(cursor)
    warnings.append(f"its list has more than {MOST_PAGES} pages; the others are left out")


class _Chosen:
    """The tools of one list that can be used, within what one server may take of the host's memory."""

    def __init__(self, server: Server) -> None:
        self.tools: dict[str, Tool] = {}
        self.warnings: list[str] = []
        self._server = server
        self._bytes_left = LIST_BYTES

    def take(self, page: list[Listed]) -> bool:
        """Whether there is room for another page."""
        for tool in page:
            if len(self.tools) == MOST_TOOLS:
                self.warnings.append(f"it lists more than {MOST_TOOLS} tools; the others are left out")
                return False
            wrong = self._problem(tool)
            if wrong:
                self.warnings.append(wrong)
            if wrong is not None:
                continue
            self._bytes_left -= _size(tool.input_schema) + _size(tool.output_schema)
            if self._bytes_left < 0:
                self.warnings.append(f"its schemas are larger than {LIST_BYTES >> 20} MB; the other tools are left out")
                return False
            self.tools[tool.name] = _tool(self._server, tool)
        return True

    def _problem(self, tool: Listed) -> str | None:
        """Why `tool` is left out; empty where its user asked for that, None where it is not."""
        name, server = tool.name, self._server
        if not name or len(name) > NAME_CHARACTERS or not name.isprintable() or name != name.strip():
            return f"a tool is left out: its name {name[:NAME_CHARACTERS]!a} is not 1 to {NAME_CHARACTERS} characters"
        if name in server.exclude_tools or (server.include_tools is not None and name not in server.include_tools):
            return ""
        if name in self.tools:
            return f"the tool {name!r} is listed twice; the first one counts"
        if max(_size(tool.input_schema), _size(tool.output_schema)) > SCHEMA_BYTES:
            return f"the tool {name!r} is left out: its schema is larger than {SCHEMA_BYTES >> 10} KB, or not JSON"
        return None


def _size(schema: dict[str, Any] | None) -> int:
    """Of the schema as JSON; more than is allowed where it is none, or so large that nobody should write it."""
    if schema is None:
        return 0
    try:
        return SCHEMA_BYTES + 1 if is_large(schema) and _is_huge(schema) else len(json.dumps(schema, allow_nan=False))
    except (ValueError, RecursionError):
        return SCHEMA_BYTES + 1


def _is_huge(schema: Any) -> bool:
    """Whether its texts alone are too large: to write megabytes in one call would hold up every thread."""
    left, waiting = SCHEMA_BYTES, [schema]
    while waiting and left >= 0:
        inner = waiting.pop()
        left -= len(inner) if isinstance(inner, str | list | dict) else 1
        if isinstance(inner, dict):
            left -= sum(map(len, inner))
            waiting.extend(inner.values())
        elif isinstance(inner, list):
            waiting.extend(inner)
    return left < 0


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
