"""Keeps a script's value inside Monty, where it can be turned into JSON under the script's own limits.

Monty hands a value over as Python objects, and a four-line script can build one that takes the host years to hash. So
a linear scan finds the script's last statement and its top-level `return`s and stores what they give under a name. A
script that misleads the scan only loses its own value: what Monty hands over is never looked at.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from keyword import kwlist

RESULT = "__paddock_result"
_BEFORE, _AFTER = f"[{RESULT} := (", ")] and None"  # so that Monty itself hands over nothing
_STATEMENT_WORDS = frozenset(kwlist) - {"None", "True", "False", "not", "lambda", "await"}
# Every repetition is possessive and no alternative can fail late, so the time is linear in the length of the script.
_TOKEN = re.compile(
    r"""(?sx)
    (?P<skip>
        \"{3} (?: [^"\\] | \\. | "(?!"") )*+ (?:\"{3})?+
      | '{3} (?: [^'\\] | \\. | '(?!'') )*+ (?:'{3})?+
      | " (?: [^"\\\n] | \\. )*+ "?+
      | ' (?: [^'\\\n] | \\. )*+ '?+
      | \\\n )
  | (?P<comment> \#[^\n]*+ )
  | (?P<open> [\[({] )
  | (?P<close> [\])}] )
  | (?P<end> [\n;] )
  | (?P<return> (?<!\w)return(?!\w) )
    """
)
_LINE_START = re.compile(r"([ \t\f]*+)(\w*+)(?:[ \t]++(def)\b)?+")
_WORD = re.compile(r"\w*+")


@dataclass(frozen=True, slots=True)
class Marked:
    """A script with its value kept under RESULT. `inserts` are the columns and lengths of what was added, by line."""

    text: str
    keeps_value: bool
    inserts: dict[int, list[tuple[int, int]]]

    def column(self, line: int, column: int) -> int:
        """The column in the script of a column (from 1) in the marked text."""
        place = column - 1
        for start, length in self.inserts.get(line, ()):
            if place >= start + length:
                place -= length
            elif place > start:
                place = start
        return place + 1


def marked(code: str) -> Iterator[Marked]:
    """The script with its value kept; then with less and less changed, for when Monty cannot parse that."""
    code = code.replace("\r\n", "\n").replace("\r", "\n")
    returns, last = _scan(code)
    if last is not None:
        yield _mark(code, [*returns, last])  # the last statement may be no expression
    if returns:
        yield _mark(code, returns)
    yield _mark(code, [])


def _scan(code: str) -> tuple[list[tuple[int, int]], tuple[int, int] | None]:
    """Where the values of top-level returns are, and where the last statement is if it may be an expression."""
    returns: list[tuple[int, int]] = []
    last: tuple[int, int] | None = None
    scopes: list[int] = []  # how far the functions and classes around the current line are indented
    depth = statement = 0
    returned = comment = -1
    indent, word = _line_start(code, 0, scopes)
    for kind, start, end in _tokens(code):
        if kind == "open":
            depth += 1
        elif kind == "close":
            depth = max(0, depth - 1)
        elif depth:
            continue
        elif kind == "return" and not scopes:
            returned = end
        elif kind == "comment":
            comment = start
        elif kind == "end":
            stop = start if comment < 0 else comment
            if returned >= 0 and code[returned:stop].strip():
                returns.append((returned, stop))
            if code[statement:stop].strip():
                last = _expression(code, statement, stop) if not indent and word not in _BLOCK_WORDS else None
            statement, returned, comment = end, -1, -1
            if code[start:end] != ";":
                indent, word = _line_start(code, end, scopes)
    return returns, last


_BLOCK_WORDS = frozenset(
    ("async", "class", "def", "elif", "else", "except", "finally", "for", "if", "try", "while", "with")
)


def _tokens(code: str) -> Iterator[tuple[str, int, int]]:
    for token in _TOKEN.finditer(code):
        if token.lastgroup not in (None, "skip"):
            yield str(token.lastgroup), *token.span()
    yield "close", len(code), len(code)  # whatever is still open
    yield "end", len(code), len(code)


def _line_start(code: str, at: int, scopes: list[int]) -> tuple[int, str]:
    """The indentation and the first word of a line; leaves the scopes that end there and enters the one it opens."""
    found = _LINE_START.match(code, at)
    if found is None or (not found[2] and code[found.end() : found.end() + 1] in ("", "\n", "#")):
        return 1, ""  # an empty line ends nothing
    indent = len(found[1].rpartition("\f")[2])  # a form feed begins the line anew
    while scopes and scopes[-1] >= indent:
        scopes.pop()
    if found[2] in ("def", "class") or found[3]:
        scopes.append(indent)
    return indent, found[2]


def _expression(code: str, start: int, stop: int) -> tuple[int, int] | None:
    start += len(code[start:stop]) - len(code[start:stop].lstrip())
    first = _WORD.match(code, start)
    return None if first is None or first[0] in _STATEMENT_WORDS else (start, stop)


def _mark(code: str, spans: list[tuple[int, int]]) -> Marked:
    parts: list[str] = []
    inserts: dict[int, list[tuple[int, int]]] = {}
    at, line, line_start = 0, 1, 0
    for place, added in (
        (place, added) for span in spans for place, added in zip(span, (_BEFORE, _AFTER), strict=True)
    ):
        piece = code[at:place]
        parts += [piece, added]
        breaks = piece.count("\n")
        if breaks:
            line, line_start = line + breaks, at + piece.rindex("\n") + 1
        inserts.setdefault(line, []).append((place - line_start, len(added)))
        at = place
    return Marked("".join([*parts, code[at:]]), bool(spans), inserts)
