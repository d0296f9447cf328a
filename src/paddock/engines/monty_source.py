"""Instruments a script so that its value stays inside Monty and is turned into JSON there, under the script's limits.

Monty returns values to the host as Python objects, and a four-line script can build an object that takes years to
hash. So a linear scan finds the script's last statement and its top-level `return`s, and assigns their values to a
variable. A script that misleads the scan only loses its own value: the host ignores the object that Monty returns.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from keyword import kwlist

RESULT = "__paddock_result"
_BEFORE, _AFTER = f"[{RESULT} := (", ")] and None"  # `and None`, so that Monty itself returns None
_STATEMENT_WORDS = frozenset(kwlist) - {"None", "True", "False", "not", "lambda", "await"}
# Repetitions are possessive and no alternative fails after a long match, so the time is linear in the script's length.
# Groups are atomic instead: possessive ones match wrongly before Python 3.11.5.
_TOKEN = re.compile(
    r"""(?sx)
    (?P<skip>
        \"{3} (?> (?: [^"\\] | \\. | "(?!"") )* ) (?> (?:\"{3})? )
      | '{3} (?> (?: [^'\\] | \\. | '(?!'') )* ) (?> (?:'{3})? )
      | " (?> (?: [^"\\\n] | \\. )* ) "?+
      | ' (?> (?: [^'\\\n] | \\. )* ) '?+
      | \\\n )
  | (?P<comment> \#[^\n]*+ )
  | (?P<open> [\[({] )
  | (?P<close> [\])}] )
  | (?P<end> [\n;] )
  | (?P<return> (?<!\w)return(?!\w) )
    """
)
_LINE_START = re.compile(r"([ \t\f]*+)(\w*+)(?>(?:[ \t]++(def)\b)?)")
_WORD = re.compile(r"\w*+")


@dataclass(frozen=True, slots=True)
class InstrumentedScript:
    """A script that assigns its value to RESULT. `inserts` has column and length of each inserted text, by line."""

    text: str
    stores_value: bool
    inserts: dict[int, list[tuple[int, int]]]

    def column(self, line: int, column: int) -> int:
        """Convert a column of the instrumented text, counted from 1, to the column of the original."""
        offset = column - 1
        for start, length in self.inserts.get(line, ()):
            if offset >= start + length:
                offset -= length
            elif offset > start:
                offset = start
        return offset + 1


def instrument(code: str) -> Iterator[InstrumentedScript]:
    """Yield variants of the script, each with fewer changes, in case Monty cannot parse one. The last has none."""
    code = code.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    returns, last = _scan(code)
    if last is not None:
        yield _instrument(code, [*returns, last])  # does not parse if the last statement is not an expression
    if returns:
        yield _instrument(code, returns)
    yield _instrument(code, [])


def _scan(code: str) -> tuple[list[tuple[int, int]], tuple[int, int] | None]:
    """The spans of the values of top-level returns, and of the last statement if it may be an expression."""
    returns: list[tuple[int, int]] = []
    last: tuple[int, int] | None = None
    scopes: list[int] = []  # indentation of the functions and classes that enclose the current line
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
                last = _expression_span(code, statement, stop) if not indent and word not in _BLOCK_WORDS else None
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
    yield "close", len(code), len(code)  # closes whatever is still open
    yield "end", len(code), len(code)


def _line_start(code: str, at: int, scopes: list[int]) -> tuple[int, str]:
    """The indentation and first word of a line. Updates `scopes` for blocks that end or begin there."""
    match = _LINE_START.match(code, at)
    if match is None or (not match[2] and code[match.end() : match.end() + 1] in ("", "\n", "#")):
        return 1, ""  # an empty line ends no scope
    indent = len(match[1].rpartition("\f")[2])  # a form feed resets the indentation
    while scopes and scopes[-1] >= indent:
        scopes.pop()
    if match[2] in ("def", "class") or match[3]:
        scopes.append(indent)
    return indent, match[2]


def _expression_span(code: str, start: int, stop: int) -> tuple[int, int] | None:
    start += len(code[start:stop]) - len(code[start:stop].lstrip())
    first = _WORD.match(code, start)
    return None if first is None or first[0] in _STATEMENT_WORDS else (start, stop)


def _instrument(code: str, spans: list[tuple[int, int]]) -> InstrumentedScript:
    parts: list[str] = []
    inserts: dict[int, list[tuple[int, int]]] = {}
    at, line, line_start = 0, 1, 0
    for offset, insert in (
        (offset, insert) for span in spans for offset, insert in zip(span, (_BEFORE, _AFTER), strict=True)
    ):
        piece = code[at:offset]
        parts += [piece, insert]
        breaks = piece.count("\n")
        if breaks:
            line, line_start = line + breaks, at + piece.rindex("\n") + 1
        inserts.setdefault(line, []).append((offset - line_start, len(insert)))
        at = offset
    return InstrumentedScript("".join([*parts, code[at:]]), bool(spans), inserts)
