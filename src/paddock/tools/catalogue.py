"""An immutable list of tools: finds them by name, by search, and by their function names in scripts."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cache, cached_property
from typing import TYPE_CHECKING

from paddock.errors import UnknownTool
from paddock.model.spelling import most_similar, within_edits
from paddock.model.tools import Tool, server_tool_advice
from paddock.tools import identifiers

if TYPE_CHECKING:
    from paddock.tools.search import Index

_WORD = re.compile(r"\w+")
_WITH_ID = re.compile(r"(.*)_([0-9a-f]{6}|[0-9a-f]{64})", re.DOTALL)
MAX_HINTS = 3
MAX_LISTED = 10
"""How many names a hint lists."""
CODE_TOOLS = ("execute", "run_code", "code_execution", "code_executor", "code-execution_execute", "python")
"""The shipped tools that run code. Scripts look for them, but cannot call them."""


class Catalogue:
    """An immutable list of tools. If two have the same full name, the first counts.

    `servers` are all configured servers. A bare name that begins with the name of one of them and a dot finds no tool,
    and neither does one that ends with the id of a tool. Otherwise a server could impersonate another.
    """

    def __init__(self, tools: Iterable[Tool] = (), *, servers: Iterable[str] = ()) -> None:
        self._servers = tuple(servers)
        self._by_full_name: dict[str, Tool] = {}
        for tool in tools:
            self._by_full_name.setdefault(tool.full_name, tool)
        counts = Counter(tool.name for tool in self)
        self._by_name = {tool.name: tool for tool in self if counts[tool.name] == 1 and not self._is_full(tool.name)}
        self._links = cache(lambda language: identifiers.linked(self, language))
        self._shared = cache(lambda language: identifiers.shared(self, language))

    def __iter__(self) -> Iterator[Tool]:
        return iter(self._by_full_name.values())

    def __len__(self) -> int:
        return len(self._by_full_name)

    def find(self, name: str) -> Tool | None:
        """The tool of this full name, or of this bare name if only one server has it."""
        bare = None if self._has_id(name) else self._by_name.get(name)
        return self._by_full_name.get(name) or bare or self._find_prefixed(name)

    def subset(self, names: Iterable[str]) -> Catalogue:
        """The tools of these names and patterns, in that order. Raises UnknownTool for a name that does not exist."""
        return Catalogue((tool for name in names for tool in self._select(name)), servers=self._servers)

    def find_names(self, language: str) -> None:
        """Find the function names of all tools. Those of thousands take a second: use a thread."""
        self._links(language)
        self._shared(language)

    def linked(self, code: str | None = None, language: str = "python") -> Mapping[str, Tool]:
        """The tools by their function names in a script. With `code`, only the tools that `code` mentions."""
        links = self._links(language)
        if code is None:
            return links
        mentioned = set(_WORD.findall(code))
        return {name: tool for name, tool in links.items() if name in mentioned}

    def sharing(self, name: str, language: str = "python") -> tuple[str, ...]:
        """The full names of the tools of several servers that share this name; empty if it means one tool at most."""
        return self._shared(language).get(name, ())

    def search(self, query: str, *, tags: Collection[str] = (), limit: int | None = 10) -> tuple[Tool, ...]:
        """The best matches, best first. The first search of thousands of tools takes a while: use a thread."""
        return tuple(self._index.search(query, tags=tags, limit=limit))

    @cached_property
    def _index(self) -> Index:
        from paddock.tools.search import Index

        return Index(self)

    def hints(self, name: str) -> list[str]:
        """Suggestions for the unknown tool name `name`: what it may mean. Empty if nothing is similar."""
        same_name = [tool.full_name for tool in self if tool.name == name]
        if same_name:
            return [ambiguity(name, same_name)]
        if (unknown_server := self._unknown_server(name)) is not None:
            return unknown_server
        elsewhere = [tool.full_name for tool in self if tool.name == name.rpartition(".")[2]]
        suggestions = [*elsewhere[:MAX_HINTS], *most_similar(name, {**self._by_full_name, **self._by_name}, MAX_HINTS)]
        return [f"Did you mean '{one}'?" for one in list(dict.fromkeys(suggestions))[:MAX_HINTS]]

    def advice(self, name: str, where_to_look: str, language: str = "python") -> list[str]:
        """Hints for a script that called the unknown tool `name`: what it may mean, else how to find a tool."""
        instead = server_tool_advice(name, language)
        if instead and not any(tool.name == name for tool in self):
            return [instead]
        is_code_tool = name.rpartition(".")[2] in CODE_TOOLS
        hints = [] if is_code_tool else self.hints(name)
        if not hints:
            cannot = f"Tools that run code ({', '.join(CODE_TOOLS[:2])}, …) cannot be called from a script"
            advice = [where_to_look] if self else ["This script can call no tools."]
            if servers := sorted({tool.server for tool in self if tool.server}):
                advice.append(f"Servers: {listed(servers)}.")
            hints = [f"{cannot}; write the code here.", *advice] if is_code_tool else [*advice, f"{cannot}."]
        return hints

    def _unknown_server(self, name: str) -> list[str] | None:
        """The hint for a name that begins with an unknown server; None for other names, or if there are no servers."""
        server, _, bare = name.rpartition(".")
        if not server or not self._servers or self._is_full(name):
            return None
        with_dots = most_similar(name, (other for other in self._by_name if "." in other), MAX_HINTS)
        if with_dots:
            return [f"Did you mean '{one}'?" for one in with_dots]
        near = within_edits(server, self._servers)[:1]
        meant = f" Did you mean the server '{near[0]}'?" if near else ""
        having = [tool.server for tool in self if tool.name == bare and tool.server]
        elsewhere = f" '{bare}' is a tool of {listed(having)}." if having else ""
        return [f"There is no server '{server[:100]}'.{meant} Servers: {listed(self._servers)}.{elsewhere}"]

    def _find_prefixed(self, name: str) -> Tool | None:
        """Find `server.tool` for `server.server_tool`, a form that some hosts with many servers use."""
        for server in self._servers:
            start = f"{server}.{server}_"
            tool = self._by_full_name.get(f"{server}.{name[len(start) :]}") if name.startswith(start) else None
            # The name of another server may begin with this one and a dot.
            if tool is not None and tool.server == server:
                return tool
        return None

    def _has_id(self, name: str) -> bool:
        """Whether this bare name ends with the id of a tool, or of one that a server has that is down."""
        if name not in self._by_name or (found := _WITH_ID.fullmatch(name)) is None:
            return False
        digests = (Tool(server, found[1]).digest for server in self._servers)
        return found[2] in self._ids or any(each.startswith(found[2]) for each in digests)

    @cached_property
    def _ids(self) -> frozenset[str]:
        return frozenset(part for tool in self if (each := tool.digest) for part in (each, each[:6]))

    def _is_full(self, name: str) -> bool:
        return "." in name and any(name.startswith(f"{server}.") for server in self._servers)

    def _select(self, name: object) -> Iterable[Tool]:
        if isinstance(name, str) and is_pattern(name):
            return [tool for tool in self if fnmatchcase(tool.full_name, name)]
        tool = self.find(name) if isinstance(name, str) else None
        if tool is None:
            known = "there are no tools here" if not self else " ".join(self.hints(str(name)))
            raise UnknownTool(f"unknown tool {name!r}; {known or '`search` lists all tools'}")
        return [tool]


def ambiguity(name: str, full_names: Sequence[str]) -> str:
    """The hint for a name that tools of several servers have."""
    return f"Several servers have a tool '{name}'; say which: {listed(full_names)}."


def listed(names: Sequence[str]) -> str:
    """The first names of a list, and how many more there are."""
    more = len(names) - MAX_LISTED
    return ", ".join(names[:MAX_LISTED]) + (f" and {more} more" if more > 0 else "")


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
