"""All tools that there are, at one moment: by which names they are found, and which a script may call by which."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from difflib import get_close_matches
from functools import cached_property
from heapq import nsmallest
from typing import TYPE_CHECKING

from paddock.errors import UnknownTool
from paddock.model.tools import Tool
from paddock.tools import identifiers

if TYPE_CHECKING:
    from paddock.tools.search import Index

_WORD = re.compile(r"\w+")
NEAR = 3
COMPARED = 20
COMPARED_CHARACTERS = 100


class Catalogue:
    """A list of tools that does not change. Where two have one full name, the first counts.

    `servers` are those that there are, or should be: a tool is never found under a bare name that is a full name of
    one of them, else any server could answer in the place of another that is not there now.
    """

    def __init__(self, tools: Iterable[Tool] = (), *, servers: Iterable[str] = ()) -> None:
        self._servers = tuple(servers)
        self._by_full_name: dict[str, Tool] = {}
        for tool in tools:
            self._by_full_name.setdefault(tool.full_name, tool)
        counted = Counter(tool.name for tool in self)
        self._by_name = {tool.name: tool for tool in self if counted[tool.name] == 1 and not self._is_full(tool.name)}
        self._links: dict[str, Mapping[str, Tool]] = {}

    def __iter__(self) -> Iterator[Tool]:
        return iter(self._by_full_name.values())

    def __len__(self) -> int:
        return len(self._by_full_name)

    def find(self, name: str) -> Tool | None:
        """The tool of this full name, or of this name where no other server has one of it too."""
        return self._by_full_name.get(name) or self._by_name.get(name) or self._prefixed(name)

    def only(self, names: Iterable[str] | None) -> Catalogue:
        """Those that are named. `UnknownTool` says which are not there."""
        if names is None:
            return self
        if isinstance(names, str) or not isinstance(names, Iterable):
            raise UnknownTool(f"tools must be a list of names, not {names!r}")
        return Catalogue((self._named(name) for name in names), servers=self._servers)

    def linked(self, code: str | None = None, language: str = "python") -> Mapping[str, Tool]:
        """The names under which a script finds its tools as functions; of all there are, those that `code` mentions.

        A script of ten lines need not be given two thousand functions.
        """
        family = "python" if language == "python" else "javascript"
        if family not in self._links:
            self._links[family] = identifiers.linked(self, family)
        links = self._links[family]
        if code is None:
            return links
        mentioned = set(_WORD.findall(code))
        return {name: tool for name, tool in links.items() if name in mentioned}

    def search(self, query: str, *, tags: Collection[str] = (), limit: int | None = 10) -> tuple[Tool, ...]:
        """The best matches, best first. The first search takes a while: a catalogue of thousands is for a thread."""
        return tuple(found.tool for found in self._index.search(query, tags=tags, limit=limit))

    @cached_property
    def _index(self) -> Index:
        from paddock.tools.search import Index

        return Index(self)

    def hints(self, name: str) -> list[str]:
        """What somebody may have meant who asked for a tool that is not there."""
        sharing = [tool.full_name for tool in self if tool.name == name]
        if sharing:
            return [f"Several servers have a tool '{name}'; say which: {', '.join(sharing)}."]
        elsewhere = [tool.full_name for tool in self if tool.name == name.rpartition(".")[2]]
        near = [*elsewhere[:NEAR], *self._near(name)]
        return [f"Did you mean '{one}'?" for one in list(dict.fromkeys(near))[:NEAR]]

    def _near(self, name: str) -> list[str]:
        """Names that look like `name`. Closely compared are only a few: thousands of long ones take seconds."""
        asked = _pairs(name)
        shared = (
            (-2 * len(asked & pairs) / (len(asked) + len(pairs)), known) for known, pairs in self._written.items()
        )
        likely = [known for share, known in nsmallest(COMPARED, shared) if share < 0]
        return get_close_matches(name[:COMPARED_CHARACTERS], likely, NEAR)

    @cached_property
    def _written(self) -> dict[str, frozenset[str]]:
        """The pairs of letters in each name, full or bare, of a length that anybody would write."""
        known = dict.fromkeys([*self._by_full_name, *self._by_name])
        return {name: _pairs(name) for name in known if len(name) <= COMPARED_CHARACTERS}

    def _prefixed(self, name: str) -> Tool | None:
        """`server.tool` for `server.server_tool`, as hosts that show many servers' tools in one list call it."""
        for server in self._servers:
            start = f"{server}.{server}_"
            found = self._by_full_name.get(f"{server}.{name[len(start) :]}") if name.startswith(start) else None
            if found is not None and found.server == server:  # another's name may begin with this one's and a dot
                return found
        return None

    def _is_full(self, name: str) -> bool:
        return "." in name and any(name.startswith(f"{server}.") for server in self._servers)

    def _named(self, name: object) -> Tool:
        found = self.find(name) if isinstance(name, str) else None
        if found is None:
            known = "there are no tools here" if not self else " ".join(self.hints(str(name)))
            raise UnknownTool(f"unknown tool {name!r}; {known or 'search lists what there is'}")
        return found


def _pairs(name: str) -> frozenset[str]:
    text = f" {name[:COMPARED_CHARACTERS]} "
    return frozenset(text[place : place + 2] for place in range(len(text) - 1))


def servers_of(names: Iterable[str], known: Iterable[str]) -> tuple[str, ...]:
    """The servers that full names of tools begin with; none where one of the names does not say which."""
    servers = list(known)
    found = [[server for server in servers if name.startswith(f"{server}.")] for name in names]
    return tuple(dict.fromkeys(server for some in found for server in some)) if all(found) else ()
