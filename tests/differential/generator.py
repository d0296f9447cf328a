"""Random programs that end by themselves: small, meaningful, and of many more kinds than anyone would write by hand.

A program is written from the pieces of `grammar.py` and `statements.py`. Every choice is one number, so the same
generator serves Hypothesis, which shrinks towards the first piece of each list, and plain random numbers.
Loops run over a few items, and what they append to is bounded, so no program runs long.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache

from hypothesis import strategies as st

from tests.differential.grammar import VALUES
from tests.differential.statements import COMPOUND, MODULES, PARTS, SIMPLE

Choose = Callable[[int], int]
"""Gives a whole number from zero to below its argument."""

HOLE = re.compile(r"\$(?:(?P<number>\d)|(?P<use>[@=]|v\.)?(?P<kind>[a-z_]+[a-z_])(?P<sees>')?)")
DEPTH = 2
NESTING = 2
MOST_STATEMENTS = 7


@dataclass
class Writer:
    """Writes one program. `names` are the variables in sight, by the kind of value that they hold."""

    choose: Choose
    names: dict[str, list[str]] = field(default_factory=dict)
    count: int = 0

    def program(self) -> str:
        lines: list[str] = []
        for _ in range(1 + self.choose(MOST_STATEMENTS)):
            lines += self.statement(0)
        if self.choose(3) == 0:
            lines.append(self.value(self._one_of(["int", "str", "ints", "si", "rows", "maybe", "wild"]), DEPTH))
        text = "\n".join(lines)
        found = {line for clue, line in MODULES.items() if re.search(rf"(?<![\w.]){re.escape(clue)}", text)}
        if "@dataclass" in text:
            found.add(MODULES["@dataclass"])
        return "\n".join([*sorted(found), text]) + "\n"

    def statement(self, nesting: int) -> list[str]:
        compound = nesting < NESTING and self.choose(4) == 3
        return self.fill(self._one_of(self._possible(COMPOUND if compound else SIMPLE)), nesting, DEPTH).split("\n")

    def value(self, kind: str, depth: int) -> str:
        """Some way to write a value of `kind`; a short one where `depth` is used up."""
        pieces = self._possible(PARTS.get(kind) or VALUES[kind])
        if depth <= 0:
            pieces = [piece for piece in pieces if "$" not in piece or piece.startswith("$@")] or pieces
        return self.fill(self._one_of(pieces), NESTING, depth - 1)

    def fill(self, piece: str, nesting: int, depth: int) -> str:
        """`piece` with its holes filled, from left to right; what it binds is in sight of its dashed holes only."""
        bound: list[tuple[str, str]] = []
        for hole in HOLE.finditer(piece):
            if hole["use"] == "v.":
                self.count += 1
                bound.append((hole["kind"], f"v{self.count}"))
        after: list[tuple[str, str]] = []
        binders = iter(bound)

        def filled(hole: re.Match[str], indent: str) -> str:
            if hole["number"]:
                return bound[int(hole["number"]) - 1][1]
            kind = hole["kind"]
            if hole["use"] == "v.":
                return next(binders)[1]
            if hole["use"] == "=":
                name = self._target(kind)
                after.append((kind, name))
                return name
            if hole["use"] == "@":
                return self._one_of(self._variables(kind))
            before = {known: list(names) for known, names in self.names.items()}
            if hole["sees"]:
                self._enter(bound)
            text = self._block(nesting + 1) if kind == "body" else self.value(kind, depth)
            self.names = before
            return text.replace("\n", f"\n{indent}")

        lines = []
        for line in piece.split("\n"):
            indent = line[: len(line) - len(line.lstrip())]
            lines.append(HOLE.sub(lambda hole, indent=indent: filled(hole, indent), line))  # type: ignore[misc]
            self._enter(after)
            after.clear()
        return "\n".join(lines)

    def _block(self, nesting: int) -> str:
        return "\n".join(line for _ in range(1 + self.choose(2)) for line in self.statement(nesting))

    def _enter(self, bound: list[tuple[str, str]]) -> None:
        for kind, name in bound:
            for names in self.names.values():
                if name in names:
                    names.remove(name)
            self.names.setdefault(kind, []).append(name)

    def _target(self, kind: str) -> str:
        known = self.names.get(kind, [])
        if known and self.choose(3) == 2:
            return self._one_of(known)
        self.count += 1
        return f"{kind.strip('_')}{self.count}"

    def _variables(self, kind: str) -> list[str]:
        if kind == "wild":
            return [name for names in self.names.values() for name in names]
        return self.names[kind]

    def _possible(self, pieces: list[str]) -> list[str]:
        """The pieces whose variables are there."""
        have = {kind for kind, names in self.names.items() if names}
        if have:
            have.add("wild")
        return [piece for piece in pieces if _needs(piece) <= have]

    def _one_of(self, options: list[str]) -> str:
        return options[self.choose(len(options))]


@lru_cache(maxsize=4096)
def _needs(piece: str) -> frozenset[str]:
    """The kinds of variable that must be there before `piece` can be written."""
    needed: set[str] = set()
    bound: set[str] = set()
    for line in piece.split("\n"):
        needed |= {hole["kind"] for hole in HOLE.finditer(line) if hole["use"] == "@"} - bound
        bound |= {hole["kind"] for hole in HOLE.finditer(line) if hole["use"] == "="}
    return frozenset(needed)


@st.composite
def programs(draw: st.DrawFn) -> str:
    """Programs, for Hypothesis."""
    return Writer(lambda count: draw(st.integers(0, count - 1))).program()
