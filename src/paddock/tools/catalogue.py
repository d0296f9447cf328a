"""An immutable list of tools: finds them by name, by search, and by their function names in scripts."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from functools import cached_property
from typing import TYPE_CHECKING

from paddock.errors import UnknownTool
from paddock.model.spelling import most_similar
from paddock.model.tools import Tool
from paddock.tools import identifiers

if TYPE_CHECKING:
    from paddock.tools.search import Index

_WORD = re.compile(r"\w+")
MAX_HINTS = 3


class Catalogue:
    """An immutable list of tools. If two have the same full name, the first counts.

    `servers` are all configured servers. A bare name that begins with the name of one of them and a dot finds no tool.
    Otherwise a server could impersonate another that is down.
    """

    def __init__(self, tools: Iterable[Tool] = (), *, servers: Iterable[str] = ()) -> None:
        self._servers = tuple(servers)
        self._by_full_name: dict[str, Tool] = {}
        for tool in tools:
            self._by_full_name.setdefault(tool.full_name, tool)
        counts = Counter(tool.name for tool in self)
        self._by_name = {tool.name: tool for tool in self if counts[tool.name] == 1 and not self._is_full(tool.name)}
        self._links: dict[str, Mapping[str, Tool]] = {}

    def __iter__(self) -> Iterator[Tool]:
        return iter(self._by_full_name.values())

    def __len__(self) -> int:
        return len(self._by_full_name)

    def find(self, name: str) -> Tool | None:
        """The tool of this full name, or of this bare name if only one server has it."""
        return self._by_full_name.get(name) or self._by_name.get(name) or self._find_prefixed(name)

    def subset(self, names: Iterable[str]) -> Catalogue:
        """The tools of these names and patterns, in that order. Raises UnknownTool for a name that does not exist."""
        return Catalogue((tool for name in names for tool in self._select(name)), servers=self._servers)

    def linked(self, code: str | None = None, language: str = "python") -> Mapping[str, Tool]:
        """The tools by their function names in a script. With `code`, only the tools that `code` mentions."""
        family = "python" if language == "python" else "javascript"
        if family not in self._links:
            self._links[family] = identifiers.linked(self, family)
        links = self._links[family]
        if code is None:
            return links
        mentioned = set(_WORD.findall(code))
        return {name: tool for name, tool in links.items() if name in mentioned}

    def search(self, query: str, *, tags: Collection[str] = (), limit: int | None = 10) -> tuple[Tool, ...]:
        """The best matches, best first. The first search of thousands of tools takes a while: use a thread."""
        return tuple(self._index.search(query, tags=tags, limit=limit))

    @cached_property
    def _index(self) -> Index:
        from paddock.tools.search import Index

        return Index(self)

    def hints(self, name: str) -> list[str]:
        """Suggestions for the unknown tool name `name`."""
        same_name = [tool.full_name for tool in self if tool.name == name]
        if same_name:
            return [f"Several servers have a tool '{name}'; say which: {', '.join(same_name)}."]
        elsewhere = [tool.full_name for tool in self if tool.name == name.rpartition(".")[2]]
        suggestions = [*elsewhere[:MAX_HINTS], *most_similar(name, {**self._by_full_name, **self._by_name}, MAX_HINTS)]
        return [f"Did you mean '{one}'?" for one in list(dict.fromkeys(suggestions))[:MAX_HINTS]]

    def _find_prefixed(self, name: str) -> Tool | None:
        """Find `server.tool` for `server.server_tool`, a form that some hosts with many servers use."""
        for server in self._servers:
            start = f"{server}.{server}_"
            tool = self._by_full_name.get(f"{server}.{name[len(start) :]}") if name.startswith(start) else None
            # The name of another server may begin with this one and a dot.
            if tool is not None and tool.server == server:
                return tool
        return None

    def _is_full(self, name: str) -> bool:
        return "." in name and any(name.startswith(f"{server}.") for server in self._servers)

    def _select(self, name: object) -> Iterable[Tool]:
        if isinstance(name, str) and is_pattern(name):
            return [tool for tool in self if fnmatchcase(tool.full_name, name)]
        tool = self.find(name) if isinstance(name, str) else None
        if tool is None:
            known = "there are no tools here" if not self else " ".join(self.hints(str(name)))
            raise UnknownTool(f"unknown tool {name!r}; {known or 'search lists all tools'}")
        return [tool]


def is_pattern(name: object) -> bool:
    """Whether a name in a list of tools is a pattern."""
    return isinstance(name, str) and any(character in name for character in "*?[")


def may_match(pattern: str, server: str) -> bool:
    """Whether a pattern of full names may match a tool of this server."""
    fixed = re.split(r"[*?\[]", pattern, maxsplit=1)[0]
    return f"{server}.".startswith(fixed) or fixed.startswith(f"{server}.")


def servers_of(names: Iterable[str], known: Iterable[str]) -> tuple[str, ...]:
    """The servers of these full names; empty if any of the names begins with no known server."""
    servers = list(known)
    matches = [[server for server in servers if name.startswith(f"{server}.")] for name in names]
    return tuple(dict.fromkeys(server for match in matches for server in match)) if all(matches) else ()
