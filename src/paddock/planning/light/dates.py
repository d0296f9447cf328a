"""Dates, times and differences of them."""

from __future__ import annotations

import ast
import datetime as dt
import re
from typing import TYPE_CHECKING

from paddock.planning.light import exceptions, functions, texts
from paddock.planning.light.refusal import Refused
from paddock.planning.light.things import FLOAT, INT, Kinds, Thing

if TYPE_CHECKING:
    from paddock.planning.light.analysis import Analysis

KINDS = frozenset({"datetime.date", "datetime.datetime", "datetime.timedelta"})


def operator(a: Analysis, node: ast.AST, one: str, op: ast.operator, other: str) -> Kinds:
    """`one op other`, where at least one of both is a date, a time or a difference."""
    if isinstance(op, ast.Add | ast.Sub | ast.Mult):
        _check_range(a, node)
    stamps = ("datetime.date", "datetime.datetime")
    if isinstance(op, ast.Sub) and one in stamps and other == one:
        return frozenset({"datetime.timedelta"})
    if isinstance(op, ast.Add | ast.Sub) and one in stamps and other == "datetime.timedelta":
        return frozenset({one})
    if isinstance(op, ast.Add | ast.Sub) and one == other == "datetime.timedelta":
        return frozenset({one})
    if isinstance(op, ast.Mult) and {one, other} == {"datetime.timedelta", "int"}:
        return frozenset({"datetime.timedelta"})
    if one == other == "datetime.timedelta" and isinstance(op, ast.Div | ast.FloorDiv):
        return FLOAT if isinstance(op, ast.Div) else INT
    raise Refused("uses arithmetic of dates that is not known to be the same", node)


def _check_range(a: Analysis, node: ast.AST) -> None:
    """Beyond the calendar CPython raises OverflowError and Monty TypeError: refuse where only one of both is caught."""
    for caught, looked_at in a.catches:
        both = [exceptions.catches(caught, name) for name in ("OverflowError", "TypeError")]
        if any(both) and (looked_at or not all(both)):
            raise Refused(f"catches {caught} raised by arithmetic of dates", node)


CODES = frozenset("YmdHMSBbAajy%")


def check_codes(template: str, node: ast.AST) -> None:
    """Refuse a template with codes whose result depends on more than the date."""
    used = re.findall(r"%(.)", template, re.DOTALL)
    if not set(used) <= CODES or template.endswith("%") or not template.isascii():
        raise Refused(f"formats a date with {template!r}", node)


def check_strftime(node: ast.Call) -> None:
    """`date.strftime(template)`, of a template that can be read."""
    template = node.args[0] if node.args else None
    if not isinstance(template, ast.Constant) or not isinstance(template.value, str):
        raise Refused("formats a date with a template that is not a literal", node)
    check_codes(template.value, node)


def make(a: Analysis, node: ast.Call, made: Thing) -> Kinds:
    """`date(…)`, `datetime(…)` or `timedelta(…)`, of whole numbers."""
    name = made.name
    positional, keywords = functions.arguments_of(a, node)
    whole = {"days", "seconds", "microseconds", "minutes", "hours", "weeks", "milliseconds"}
    stamps = {"year", "month", "day", "hour", "minute", "second", "microsecond"}
    allowed = whole if name == "datetime.timedelta" else stamps
    if not keywords.keys() <= allowed:
        raise Refused(f"calls {name}() with {', '.join(keywords)}", node)
    for kinds in (*positional, *keywords.values()):
        if not kinds <= INT:
            raise Refused(f"calls {name}() with something other than whole numbers", node)
    if name == "datetime.timedelta" and any(
        isinstance(inner, ast.Constant) and isinstance(inner.value, int) and inner.value >= 10**8
        for inner in ast.walk(node)
    ):
        raise Refused("makes a difference at the edge of the calendar", node)
    year = node.args[0] if node.args and name != "datetime.timedelta" else None
    if isinstance(year, ast.Constant) and isinstance(year.value, int) and not 1000 <= year.value <= 9900:
        raise Refused("uses a year at the edge of the calendar", node)
    a.diverges(node, "ValueError", f"{name}()")
    a.diverges(node, "OverflowError", f"{name}()")
    return frozenset({name})


def _parses(text: str, template: str) -> bool:
    try:
        return dt.datetime.strptime(text, template).year >= 1000  # noqa: DTZ007  only whether it can be read
    except ValueError:
        return False


def _is_stamp(text: str) -> bool:
    try:
        dt.datetime.fromisoformat(text)
    except ValueError:
        return False
    return bool(re.fullmatch(r"\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d)?)?", text))


STRPTIME = frozenset({"%Y-%m-%d", "%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M:%S", "%d/%m/%Y", "%m/%d/%Y"})


def call_type_method(a: Analysis, node: ast.Call, kind: str, name: str) -> Kinds:
    """`datetime.strptime(…)`, `date.fromisoformat(…)`."""
    _, keywords = functions.arguments_of(a, node)
    if keywords:
        raise Refused(f"calls {kind}.{name}() with keywords", node)
    if kind == "datetime.datetime" and name == "strptime" and len(node.args) == 2:
        template = a.literal(node.args[1])
        if template not in STRPTIME:
            raise Refused("parses a date with a template that is not known to be the same", node)
        text = a.literal(node.args[0])
        if id(node) not in a.facts.mended_stamps and (text is None or not _parses(text, template)):
            raise Refused("parses a date inside other text", node)
        if texts.DIGITS in a.facts.odd_text:
            raise Refused(f"parses a date beside the character {a.facts.odd_text[texts.DIGITS]}", node)
        a.diverges(node, "ValueError", "strptime()")
        return frozenset({kind})
    if kind in ("datetime.date", "datetime.datetime") and name == "fromisoformat" and len(node.args) == 1:
        text = a.literal(node.args[0])
        if text is None or not _is_stamp(text):
            raise Refused("parses a date that is not a literal", node)
        return frozenset({kind})
    raise Refused(f"uses {kind}.{name}", node)
