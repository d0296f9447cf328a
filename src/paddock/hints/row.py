"""A row of the table of hints, and what several parts of the table share."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from paddock.hints.mistake import Mistake

SYNTAX_ERRORS = "SyntaxError|IndentationError|TabError"
FOLDER = "Write to the working directory: use a name without a folder."
ZONE = "Use a zone's IANA name, as in 'Europe/Berlin'."
ANSWER_SHAPE = "If it is a tool's answer, its value is in the key `result`, or in another that printing it shows."
_FACT = re.compile(r"(?<!P)<(\w+)>")


class Hint(NamedTuple):
    """A row of the table. It applies if every pattern is found; an empty pattern is found everywhere.

    `<name>` stands for a group of that name in a pattern, or for a fact of the mistake. A row whose text names a fact
    that is not known does not apply.
    """

    types: str  # names of exceptions, with `|` between them
    message: str
    text: str | Callable[[Mistake, re.Match[str]], str | None]
    line: str = ""  # may contain `<name>`
    when: str = ""  # a fact that must be known or true

    def text_for(self, mistake: Mistake) -> str | None:
        """The hint, or nothing if this row does not apply."""
        if self.types and mistake.type not in self.types.split("|"):
            return None
        found = re.search(self.message, mistake.message)
        if found is None or (self.when and not mistake.facts[self.when]):
            return None
        groups = found.groupdict()
        in_line = re.search(self.line.replace("<name>", re.escape(groups.get("name") or "")), mistake.source_line)
        if in_line is None:
            return None
        if not isinstance(self.text, str):
            return self.text(mistake, found)
        groups |= in_line.groupdict()
        facts = {name: groups.get(name) or mistake.facts.get(name, "") for name in _FACT.findall(self.text)}
        return _FACT.sub(lambda fact: facts[fact[1]], self.text) if all(facts.values()) else None
