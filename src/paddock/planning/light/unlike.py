"""Numbers that are equal without being alike (1, 1.0, true; 0.0, -0.0), looked for in the text that a script is given.

What a script does with keys of unknown kind is told by the analysis (`keys.py`); whether such keys can be there is told
by the text: the script's own literals, its inputs, its files, what tools answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from math import copysign

LOOKS = "looks at keys that may be equal to others without being alike"
ANYWHERE = "*"
LONG_CHARACTERS = 500_000
"""In more text than this, numbers are not told from each other."""

_NUMBER = r"[tT]rue|[fF]alse|-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?"
_WHOLE_TOKEN = re.compile(_NUMBER)
_TOKEN = re.compile(r"[-0-9tTfF][-+.\w]*")
_WHOLE_FLOAT = re.compile(r"\.0+(?![0-9])")
_NEGATIVE = re.compile(r"(?<![\w-])-[0-9]")
_EXPONENT = re.compile(r"[eE][-+0-9]")
_PLAIN_NAME = re.compile(r"[A-Za-z0-9_ .-]+")


@dataclass(frozen=True, slots=True)
class KeyUse:
    """That a script stores keys of unknown kind again, and looks at them."""

    line: int | None
    fields: frozenset[str]  # the names under which the keys stand in JSON; `*` where that is not known
    kinds: frozenset[str] = frozenset()  # the kinds of number that the script itself adds to them
    computes: bool = False  # whether they may be computed from what is given
    signed: bool = False  # whether there are keys that are floats, so that 0.0 may meet -0.0


@dataclass(slots=True)
class Seen:
    """The numbers seen so far in what one run is given."""

    use: KeyUse
    values: dict[float, str] = field(default_factory=dict)
    kinds: set[str] = field(default_factory=set)
    plain: list[str] = field(default_factory=list)  # text without anything that could be unlike a whole number
    clash: bool = False

    def add(self, texts: Iterable[str]) -> bool:
        """Look through more text; whether keys that are equal without being alike may be among all of it."""
        for text in texts:
            if not self.clash:
                self._look(text)
        return self.clash

    def _look(self, text: str) -> None:
        use = self.use
        if use.signed and _NEGATIVE.search(text):
            self.clash = True
            return
        if ANYWHERE not in use.fields:
            pattern = _under(use.fields)
            if pattern is not None and "\\u00" not in text:
                found = set(pattern.findall(text))
                if not any(token[:1] in ("[", "{") for token in found):
                    self._take(found)
                    return
        if not use.kinds and not use.computes and not self.values and not _has_unlike(text):
            self.plain.append(text)
            return
        for one in (*self.plain, text):
            if len(one) > LONG_CHARACTERS:
                self.clash = True
                return
            self._take({token for token in set(_TOKEN.findall(one)) if _WHOLE_TOKEN.fullmatch(token)})
        self.plain.clear()

    def _take(self, tokens: set[str]) -> None:
        for token in tokens:
            kind, value = _read(token)
            self.kinds.add(kind)
            alike = kind if value or kind != "float" else f"float {copysign(1, value)}"
            if self.values.setdefault(value, alike) != alike:
                self.clash = True
                return
        own = self.use.kinds
        others = self.kinds | own
        if self.use.computes and (len(others) > 1 or not self.kinds <= {"int"}):
            self.clash = True
        elif own:
            self.clash = len(own) > 1 or any(
                kind.split()[0] not in own and _may_equal(own, value) for value, kind in self.values.items()
            )


def _has_unlike(text: str) -> bool:
    """Whether anything in a text may be equal to a whole number without being one, or is a zero with a sign."""
    if "rue" in text or "alse" in text:
        return True
    return _WHOLE_FLOAT.search(text) is not None or _EXPONENT.search(text) is not None


def _may_equal(own: frozenset[str], value: float) -> bool:
    """Whether a number that the script makes, of one of these kinds, may be equal to `value`."""
    if "float" in own:
        return True
    return value in (0, 1) if own == {"bool"} else value == value // 1


def _read(token: str) -> tuple[str, float]:
    if token[0] in "tTfF":
        return "bool", token in ("true", "True")
    if token.lstrip("-").isdigit():
        return "int", int(token) if len(token) < 400 else float("inf")
    return "float", float(token)


def _under(fields: frozenset[str]) -> re.Pattern[str] | None:
    """What finds the numbers, lists and objects that JSON has under these names; None for names that can be escaped."""
    if not fields:
        return re.compile("(?!)")
    if not all(_PLAIN_NAME.fullmatch(name) for name in fields):
        return None
    names = "|".join(re.escape(name) for name in sorted(fields))
    space = r"(?:\s|\\+[nrt])*"
    return re.compile(rf"""["'](?:{names})\\*["']{space}:{space}({_NUMBER}|[\[{{])""")
