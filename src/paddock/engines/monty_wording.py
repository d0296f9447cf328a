"""Errors in CPython's words.

Monty speaks as CPython 3.14 does and loses some of what an error was about. Where the running Python says it otherwise,
and what it would say can be told, it is said that way; where it cannot, the error is marked as not CPython's own.
"""

from __future__ import annotations

import ast
import datetime as dt
import math
import random
import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from paddock.planning.fits_python import Clues
from paddock.planning.light.unbound import read_inside
from paddock.planning.python_source import Source

OPERATORS = {
    "Sub": "-", "Mult": "*", "Div": "/", "FloorDiv": "//", "Mod": "%", "Pow": "** or pow()", "BitOr": "|",
    "BitAnd": "&", "BitXor": "^", "LShift": "<<", "RShift": ">>",
}  # fmt: skip


# Both have these operators: what fails is a result beyond the calendar.
_DATES = re.compile(r"unsupported operand type\(s\) for [+-]=?: 'datetime\.date(time)?' and 'datetime\.timedelta'")
_DIFFERENCES = re.compile(
    r"unsupported operand type\(s\) for ([+-]=?: 'datetime\.timedelta' and 'datetime\.timedelta'"
    r"|\*=?: '(datetime\.timedelta' and 'int|int' and 'datetime\.timedelta)')"
)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)

_FORMAT = re.compile(r"Unknown format code '.' for object of type '(NoneType|list|dict|tuple|set|bytes)'")


def kind_of(kind: str, text: str, line: int | None, source: Source) -> tuple[str, str]:
    """The exception that CPython raises, with its text, where Monty raises another."""
    match = _FORMAT.fullmatch(text)
    if kind == "ValueError" and match is not None:
        return "TypeError", f"unsupported format string passed to {match.group(1)}.__format__"
    if kind == "KeyError" and text.startswith("'slice("):
        unhashable = _words(lambda: hash(slice(1)))  # since 3.12 a slice can be a key
        return ("TypeError", unhashable) if unhashable else (kind, text[1:-1])
    if kind == "TypeError" and _DATES.fullmatch(text):
        return "OverflowError", _words(lambda: dt.date.max + dt.timedelta(1))
    if kind == "TypeError" and _DIFFERENCES.fullmatch(text):
        return "OverflowError", "days must have magnitude <= 999999999"
    unbound = _UNBOUND.fullmatch(text) if kind == "UnboundLocalError" else None
    if unbound is not None:
        return _unbound(kind, text, unbound.group(1), [node for node in ast.walk(source.tree) if _is_on(node, line)])
    return kind, text


_UNBOUND = re.compile(r"cannot access local variable '(.*)' where it is not associated with a value")


def _unbound(kind: str, text: str, name: str, nodes: list[ast.AST]) -> tuple[str, str]:
    """Up to 3.11 a comprehension reads a variable of its function from outside; a generator still does."""
    inside = [node for node in nodes if isinstance(node, COMPREHENSIONS) and name in read_inside(node)]
    if not inside:
        return kind, text
    lazy = all(isinstance(node, ast.GeneratorExp) for node in inside)
    try:
        _read_unbound(lazily=lazy)
    except NameError as error:
        return type(error).__name__, str(error).replace("'value'", f"'{name}'")
    return kind, text


def _is_on(node: ast.AST, line: int | None) -> bool:
    return line is not None and getattr(node, "lineno", line + 1) <= line <= (getattr(node, "end_lineno", 0) or 0)


def _read_unbound(*, lazily: bool) -> None:
    value = 1
    del value
    if lazily:
        list(value for _ in (1,))  # type: ignore[misc]  # noqa: C400, F821  it is to fail
    [value for _ in (1,)]  # type: ignore[misc]  # noqa: F821  the same


def reword(kind: str, text: str, line: int | None, source: Source, clues: Clues) -> tuple[str, bool]:
    """The text as CPython would have it, and whether that is certain."""
    if kind == "KeyError":
        raised = any(isinstance(node, ast.Raise) and node.lineno == line for node in ast.walk(source.tree))
        return (text, True) if raised else _key(text, line, clues)
    if kind == "ZeroDivisionError" and text == "division by zero":
        return _division(text, line, clues)
    for pattern, replacement in _rewrites():
        match = pattern.fullmatch(text)
        if match is not None:
            return replacement(match), True
    if kind == "TypeError" and _CONCATENATED.fullmatch(text):
        return _extended(text, line, source)
    if kind == "TypeError" and text.startswith("unsupported operand type(s) for "):
        return _operand(text, line, source), True
    if kind == "ValueError" and text.startswith("expected a"):
        return _words(lambda: math.sqrt(-1.0)) or text, True
    return text, not any(pattern.search(text) for pattern in _LOST) and kind not in ("JSONDecodeError", "error")


def line_of(kind: str, line: int | None, source: Source) -> int | None:
    """The line that CPython reports: for an assertion the first of its test, whatever its message spans."""
    if kind == "AssertionError" and line is not None:
        for node in ast.walk(source.tree):
            if isinstance(node, ast.Assert) and node.lineno <= line <= (node.end_lineno or line):
                return node.test.lineno
    return line


def reports_another_line(kind: str, line: int | None, source: Source) -> bool:
    """Whether `line` may be where an exception only passed through, an `except` or a `finally`: its origin is lost."""
    if line is None:
        return False
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Raise) and node.lineno == line:
            return not (isinstance(node.exc, ast.Call) and getattr(node.exc.func, "id", "") == kind)
    return any(_first(part) <= line <= _last(part) for node in ast.walk(source.tree) for part in _passages(node))


def _passages(node: ast.AST) -> list[list[ast.stmt] | list[ast.ExceptHandler]]:
    if not isinstance(node, ast.Try):
        return []
    return [part for part in (node.handlers, node.orelse if node.finalbody else [], node.finalbody) if part]


def _first(part: list[ast.stmt] | list[ast.ExceptHandler]) -> int:
    return part[0].lineno


def _last(part: list[ast.stmt] | list[ast.ExceptHandler]) -> int:
    return part[-1].end_lineno or part[-1].lineno


_CONCATENATED = re.compile(r'can only concatenate list \(not "(int|float|bool|NoneType)"\) to list')

_LOST = [
    re.compile(text)
    for text in (
        r"list\.index\(x\)|x not in deque",
        r"instances of '(list|tuple)' and '(list|tuple)'",
        r"missing \d+ required|takes (no|\d+|from|at)|got multiple values|unexpected keyword argument",
        r"after \* must be",
        r"must have magnitude",
        r"maximum recursion depth",
        r"expected str",
        r"Cannot specify",
        r"empty range",
        r"\[Errno \d+\] .*: '(/(?!files/|tmp/)|.*/\.\./)",  # a real disk has other files there
    )
]


def _key(text: str, line: int | None, clues: Clues) -> tuple[str, bool]:
    """A KeyError shows its key's repr; Monty has only the key's text, and cannot tell 5 from "5"."""
    plain = text[1:-1] if text[:1] == text[-1:] and text[:1] in ("'", '"') else text
    if plain.startswith(("'popitem(", "'pop from", "'dictionary", "slice(")):
        return plain, True
    kinds = clues.keys.get(line or 0, frozenset())
    if kinds and kinds <= {"str"}:
        return text, True
    if kinds and not kinds & {"str", "any", "other"}:
        return plain, True
    return text, False


def _division(text: str, line: int | None, clues: Clues) -> tuple[str, bool]:
    said = {_zero_division().get(division, "") for division in clues.divisions.get(line or 0, ())}
    return (said.pop(), True) if len(said) == 1 and "" not in said else (text, False)


def _operand(text: str, line: int | None, source: Source) -> str:
    for node in ast.walk(source.tree):
        if isinstance(node, ast.AugAssign) and node.lineno == line and not isinstance(node.op, ast.Add):
            sign = OPERATORS.get(type(node.op).__name__, "")
            return text.replace(f" for {sign}:", f" for {sign}=:") if sign else text
    return text


def _extended(text: str, line: int | None, source: Source) -> tuple[str, bool]:
    """`x += 5` of a list x says in CPython that 5 is not iterable; `x + 5` says what Monty says of both."""
    on_line = [node for node in ast.walk(source.tree) if getattr(node, "lineno", 0) == line]
    if not any(isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add) for node in on_line):
        return text, True
    if any(isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add) for node in on_line):
        return text, False
    return _CONCATENATED.sub(r"'\1' object is not iterable", text), True


def _words(action: Callable[[], object]) -> str:
    """What this Python says when `action` fails; asking it is right for every version."""
    try:
        action()
    except (ArithmeticError, ValueError, TypeError) as error:
        return str(error)
    return ""


@lru_cache(maxsize=1)
def _zero_division() -> dict[tuple[str, str], str]:
    whole, part = 1, 1.0
    return {
        ("Div", "int"): _words(lambda: whole / 0),
        ("Div", "float"): _words(lambda: part / 0),
        ("FloorDiv", "int"): _words(lambda: whole // 0),
        ("FloorDiv", "float"): _words(lambda: part // 0),
        ("Mod", "int"): _words(lambda: whole % 0),
        ("Mod", "float"): _words(lambda: part % 0),
        ("divmod", "int"): _words(lambda: divmod(whole, 0)),
        ("divmod", "float"): _words(lambda: divmod(part, 0)),
    }


@lru_cache(maxsize=1)
def _rewrites() -> list[tuple[re.Pattern[str], Callable[[re.Match[str]], str]]]:
    """Texts of Monty that this Python words otherwise, with what it says."""
    key: list[int] = []
    many = "got" in _words(lambda: _unpack([1, 2, 3]))
    hashed = _words(lambda: {key: 1})
    five: Any = 5
    seed = _words(lambda: random.Random([1]))  # type: ignore[arg-type]  # noqa: S311  for its words
    member = _words(lambda: 1 in five)
    empty = _words(lambda: max([]))
    power = _words(lambda: 0.0**-1)
    month, day = _words(lambda: dt.date(2000, 13, 1)), _words(lambda: dt.date(2000, 1, 32))
    year = _words(lambda: dt.date(0, 1, 1))
    hashing = _words(lambda: hash(_Unhashing()))
    return [
        (
            re.compile(r"(too many values to unpack \(expected \d+)(, got \d+)\)"),
            lambda m: m.group(0) if many else f"{m.group(1)})",
        ),
        (
            re.compile(r"cannot use '.*' as a (?:dict key|set element) \((unhashable type: '.*')\)"),
            lambda m: m.group(1) if hashed.startswith("unhashable") else m.group(0),
        ),
        (
            re.compile(r"argument of type '(.*)' is not a container or iterable"),
            lambda m: member.replace("int", m.group(1)),
        ),
        (re.compile(r"(min|max)\(\) iterable argument is empty"), lambda m: empty.replace("max", m.group(1))),
        (re.compile(r"zero to a negative power"), lambda m: power),
        (re.compile(r"The only supported seed types are:\s.*"), lambda m: seed),
        (
            re.compile(r"(__hash__ method should return an integer), not (.*)"),
            lambda m: m.group(0) if "not" in hashing else m.group(1),
        ),
        (
            re.compile(r"('NoneType' object has no attribute '.*') and no __dict__ for setting new attributes"),
            lambda m: m.group(1),
        ),
        (
            re.compile(r"((?:month|hour|minute|second|microsecond) must be in \S+), not -?\d+"),
            lambda m: m.group(0) if "not" in month else m.group(1),
        ),
        (re.compile(r"day .* must be in range .*"), lambda m: day if "range for" in day else m.group(0)),
        (re.compile(r"year must be in 1\.\.9999, not (-?\d+)"), lambda m: year.replace("0", m.group(1), 1)),
    ]


class _Unhashing:
    def __hash__(self) -> int:
        return ""  # type: ignore[return-value]  # noqa: PLE0309  it is to fail


def _unpack(values: list[int]) -> None:
    _one, _two = values
