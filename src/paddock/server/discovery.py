"""Tools by which a model finds out what its scripts can call, however many there are, at little cost."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from mcp_types import CallToolResult, Tool, ToolAnnotations

from paddock.model import envelope
from paddock.model.envelope import contract
from paddock.server.caller import Caller
from paddock.server.offer import Offer, answer, failed, told
from paddock.tools import describe
from paddock.tools.catalogue import Catalogue
from paddock.tools.sanitize import inline, one_line

if TYPE_CHECKING:
    from paddock.model import tools
    from paddock.server.serving import Serving

FOUND, MOST_FOUND = 10, 50
MOST_SCHEMAS = 20
_READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)
_DETAILS = ("brief", "detailed", "full")
_TAGS = {"type": "array", "items": {"type": "string"}}
_NAMES = {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": MOST_SCHEMAS}


def offers(serving: Serving) -> list[Offer]:
    discovery = _Discovery(serving)
    described: dict[str, tuple[str, dict[str, Any], list[str]]] = {
        "search": (
            "Find tools for scripts by what they do, best first; an empty query lists them.",
            {
                "query": {"type": "string"},
                "tags": _TAGS,
                "detail": {
                    "enum": list(_DETAILS),
                    "default": "brief",
                    "description": "A line each, typed stubs, or those and JSON Schemas.",
                },
                "limit": {"type": "integer", "minimum": 1, "maximum": MOST_FOUND, "default": FOUND},
            },
            ["query"],
        ),
        "get_schema": (
            "Typed stubs by name; with `full` also JSON Schemas.",
            {"tools": _NAMES, "detail": {"enum": list(_DETAILS), "default": "detailed"}},
            ["tools"],
        ),
        "tags": (
            "How many tools each server and tag has; with `full` their names.",
            {"detail": {"enum": ["brief", "full"], "default": "brief"}},
            [],
        ),
    }
    titles = ("Search tools", "Get schemas", "List tags")
    calls = (discovery.search, discovery.get_schema, discovery.tags)
    return [
        Offer(_tool(name, title, *described[name]), call, is_short=True)
        for name, title, call in zip(described, titles, calls, strict=True)
    ]


def contract_offer() -> Offer:
    """What the envelope of a failed call means; its hints say what to do without."""
    described = "What the envelope of a failed call has in it: its fields, every code."
    return Offer(_tool("get_envelope_contract", "Get the envelope's contract", described, {}, []), _contract)


class _Discovery:
    def __init__(self, serving: Serving) -> None:
        self._serving = serving

    async def search(self, caller: Caller, arguments: dict[str, Any]) -> CallToolResult:
        every = await self._serving.paddock.tools()
        asked = {"tags": arguments.get("tags", ()), "limit": arguments.get("limit", FOUND)}
        found = await self._serving.paddock.search_tools(arguments["query"], **asked)
        text = await _described(found, every, arguments.get("detail", "brief"))
        return answer(self._with_absent(text or f"None of {len(every)} tools fits. `tags` shows what there is."))

    async def get_schema(self, caller: Caller, arguments: dict[str, Any]) -> CallToolResult:
        every = await self._serving.paddock.tools()
        catalogue = Catalogue(every, servers=self._serving.paddock.upstreams())
        found = {name: catalogue.find(name) for name in arguments["tools"]}
        missing = [name for name, tool in found.items() if tool is None]
        if len(missing) == len(found):
            hints = [hint for name in missing for hint in catalogue.hints(name)]
            summary = f"There is no tool {_listed(missing)}."
            return failed(envelope.tool_not_found(missing[0], summary, hints=hints))
        there = [tool for tool in found.values() if tool is not None]
        text = await _described(there, every, arguments.get("detail", "detailed"))
        for name in missing:
            text += "\n\n" + " ".join([f"There is no tool {_listed([name])}.", *catalogue.hints(name)[:1]])
        return answer(self._with_absent(text))

    async def tags(self, caller: Caller, arguments: dict[str, Any]) -> CallToolResult:
        every = await self._serving.paddock.tools()
        is_full = arguments.get("detail") == "full"
        return answer(self._with_absent(await asyncio.to_thread(describe.overview, every, with_names=is_full)))

    def _with_absent(self, text: str) -> str:
        """What is told, and which servers are missing from it."""
        upstreams = self._serving.paddock.upstreams()
        absent = [name for name, health in upstreams.items() if health.state != "ready"]
        return f"{text}\n\nNot there now: {', '.join(absent)}." if absent else text


async def _contract(caller: Caller, arguments: dict[str, Any]) -> CallToolResult:
    return told(contract())


async def _described(found: Sequence[tools.Tool], every: Sequence[tools.Tool], detail: str) -> str:
    """In a thread: the schemas of many servers take a while to read."""
    if detail == "brief":
        return describe.brief(found)
    write = describe.detailed if detail == "detailed" else describe.full
    return await asyncio.to_thread(write, found, among=every) if found else ""


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f"'{inline(one_line(name, describe.NAME_CHARACTERS))}'" for name in names)


def _tool(name: str, title: str, description: str, properties: dict[str, Any], required: list[str]) -> Tool:
    schema = {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
    return Tool(name=name, title=title, description=description, input_schema=schema, annotations=_READS)
