"""Describes tools to models in Markdown: a line each, typed stubs, schemas, and an overview of servers and tags."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from paddock.model.json_depth import is_deeper
from paddock.model.tools import Tool
from paddock.tools.identifiers import unique_tools
from paddock.tools.sanitize import fenced, first_sentence, inline, one_line
from paddock.tools.stubs import stubs

SCHEMA_CHARACTERS = 20_000
SCHEMA_DEPTH = 100
NAME_CHARACTERS = 150
MAX_LISTED = 100
"""How many servers or tags an overview names. The others are only counted."""


def brief(tools: Iterable[Tool]) -> str:
    """A line for each tool: its name and the first sentence of its description."""
    return "\n".join(_line(tool) for tool in tools)


def detailed(tools: Iterable[Tool], language: str = "python", *, among: Iterable[Tool] | None = None) -> str:
    """Typed stubs of the tools in one code block. `among` are all tools that the script may call."""
    return _block(stubs(tools, language, among=among).values(), language)


def full(tools: Iterable[Tool], language: str = "python", *, among: Iterable[Tool] | None = None) -> str:
    """For each tool its typed stub and its JSON Schemas."""
    unique = unique_tools(tools)
    parts = []
    for tool, text in zip(unique, stubs(unique, language, among=among).values(), strict=True):
        parts.append(f"### {_name(tool)}\n\n{_block([text], language)}")
        parts.append(f"Input schema:\n\n{_schema(tool.input_schema)}")
        if tool.output_schema is not None:
            parts.append(f"Output schema:\n\n{_schema(tool.output_schema)}")
    return "\n\n".join(parts)


def overview(tools: Iterable[Tool], *, with_names: bool = False) -> str:
    """The number of tools of each server and each tag, optionally with the tools' names."""
    all_tools = list(tools)
    servers: dict[str, list[Tool]] = {}
    tags: dict[str, list[Tool]] = {}
    for tool in sorted(all_tools, key=lambda tool: tool.full_name):
        servers.setdefault(tool.server or "(functions)", []).append(tool)
        for tag in dict.fromkeys(tool.tags):
            tags.setdefault(tag, []).append(tool)
    parts = [f"{_count(len(all_tools), 'tool')} of {_count(len(servers), 'server')}"]
    parts += ["\n".join(["Servers:", *_groups(servers, with_names)])] if servers else []
    parts += ["\n".join(["Tags:", *_groups(tags, with_names)])] if tags else []
    return "\n\n".join(parts)


def _line(tool: Tool) -> str:
    summary = first_sentence(tool.description) or one_line(tool.title)
    return f"- {_name(tool)}: {inline(summary)}" if summary else f"- {_name(tool)}"


def _block(declarations: Iterable[str], language: str) -> str:
    text = "\n\n".join(declared.strip("\n") for declared in declarations)
    return fenced(text, "python" if language == "python" else "typescript") if text else ""


def _name(tool: Tool) -> str:
    return inline(one_line(tool.full_name, NAME_CHARACTERS))


def _groups(groups: Mapping[str, list[Tool]], with_names: bool) -> list[str]:
    """A line for each group, largest first, then by name."""
    order = sorted(groups, key=lambda name: (-len(groups[name]), name))
    lines = []
    for name in order[:MAX_LISTED]:
        names = f" ({', '.join(_name(tool) for tool in groups[name])})" if with_names else ""
        lines.append(f"- {inline(one_line(name, NAME_CHARACTERS))}: {len(groups[name])}{names}")
    return [*lines, f"- and {len(order) - MAX_LISTED} more"] if len(order) > MAX_LISTED else lines


def _count(number: int, word: str) -> str:
    return f"{number} {word}" if number == 1 else f"{number} {word}s"


def _schema(schema: Mapping[str, Any]) -> str:
    if is_deeper(schema, SCHEMA_DEPTH):
        return f"(nested more than {SCHEMA_DEPTH} levels deep; not shown)"
    text = json.dumps(dict(schema), ensure_ascii=False, separators=(",", ":"))
    if len(text) > SCHEMA_CHARACTERS:
        return f"({len(text)} characters; not shown)"
    return fenced("".join(letter if letter.isprintable() else json.dumps(letter)[1:-1] for letter in text), "json")
