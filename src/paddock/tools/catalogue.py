"""All tools that there are, at one moment: by which names they are found, and which a script may call by which."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from difflib import get_close_matches
from functools import cached_property
from typing import TYPE_CHECKING

from paddock.model.errors import UnknownTool
from paddock.model.tools import Tool
from paddock.tools import identifiers

if TYPE_CHECKING:
    from paddock.tools.search import Index

_WORD = re.compile(r"\w+")
NEAR = 3


class Catalogue:
    """A list of tools that does not change. Where two have one full name, the first counts."""

    def __init__(self, tools: Iterable[Tool] = ()) -> None:
        self._by_full_name: dict[str, Tool] = {}
        for tool in tools:
            self._by_full_name.setdefault(tool.full_name, tool)
        counted = Counter(tool.name for tool in self)
        self._by_name = {tool.name: tool for tool in self if counted[tool.name] == 1}

    def __iter__(self) -> Iterator[Tool]:
        return iter(self._by_full_name.values())

    def __len__(self) -> int:
        return len(self._by_full_name)

    def find(self, name: str) -> Tool | None:
        """The tool of this full name, or of this name where no other server has one of it too."""
        return self._by_full_name.get(name) or self._by_name.get(name)

    def only(self, names: Iterable[str] | None) -> Catalogue:
        """Those that are named. `UnknownTool` says which are not there."""
        if names is None:
            return self
        if isinstance(names, str) or not isinstance(names, Iterable):
            raise UnknownTool(f"tools must be a list of names, not {names!r}")
        return Catalogue(self._named(name) for name in names)

    def linked(self, code: str | None = None) -> Mapping[str, Tool]:
        """The names under which a script finds its tools as functions; of all there are, those that `code` mentions.

        A script of ten lines need not be given two thousand functions.
        """
        if code is None:
            return self._links
        mentioned = set(_WORD.findall(code))
        return {name: tool for name, tool in self._links.items() if name in mentioned}

    @cached_property
    def _links(self) -> dict[str, Tool]:
        return identifiers.linked(self)

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
        known = [*self._by_full_name, *self._by_name]
        return [f"Did you mean '{near}'?" for near in dict.fromkeys(get_close_matches(name, known, NEAR))]

    def _named(self, name: object) -> Tool:
        found = self.find(name) if isinstance(name, str) else None
        if found is None:
            known = "there are no tools here" if not self else " ".join(self.hints(str(name)))
            raise UnknownTool(f"unknown tool {name!r}; {known or 'search lists what there is'}")
        return found


def servers_of(names: Iterable[str], known: Iterable[str]) -> tuple[str, ...]:
    """The servers that full names of tools begin with; none where one of the names does not say which."""
    servers = list(known)
    found = [[server for server in servers if name.startswith(f"{server}.")] for name in names]
    return tuple(dict.fromkeys(server for some in found for server in some)) if all(found) else ()
