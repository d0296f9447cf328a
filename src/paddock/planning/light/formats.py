"""Formatting: f-strings, `str.format` and `%`."""

from __future__ import annotations

import ast
import itertools
import re
import string
from typing import TYPE_CHECKING

from paddock.planning.light import dates, functions
from paddock.planning.light.refusal import Refused
from paddock.planning.light.things import NUMBERS, STR, WHOLE, Kinds, in_order, shape_of

if TYPE_CHECKING:
    from paddock.planning.light.analysis import Analysis


def joined_str(a: Analysis, node: ast.JoinedStr) -> Kinds:
    """An f-string."""
    for part in node.values:
        if isinstance(part, ast.FormattedValue):
            formatted(a, part)
    return STR


def formatted(a: Analysis, part: ast.FormattedValue) -> Kinds:
    """One `{…}` of an f-string."""
    kinds = a.value(part.value)
    rounded = part.format_spec is not None and part.conversion == -1
    a.check_shown(kinds - {"dyadic"} if rounded else kinds, part, as_text=part.conversion in (-1, ord("s")))
    if part.format_spec is not None:
        _check_format(a, part, STR if part.conversion != -1 else kinds, part.format_spec)
    return STR


def format_call(a: Analysis, node: ast.Call, template: str) -> Kinds:
    """`template.format(…)`."""
    positional, keywords = functions.arguments_of(a, node)
    if any(isinstance(argument, ast.Starred) for argument in node.args) or any(k.arg is None for k in node.keywords):
        raise Refused("unpacks the arguments of format()", node)
    try:
        fields = list(string.Formatter().parse(template))
    except ValueError:
        raise Refused("formats with a template that is wrong", node) from None
    automatic = itertools.count()
    for _, name, spec, conversion in fields:
        if name is None:
            continue
        field = name or str(next(automatic))
        if field.isdigit() and int(field) < len(positional):
            kinds = positional[int(field)]
        elif field in keywords:
            kinds = keywords[field]
        else:
            raise Refused("formats with a field that is not plain", node)
        a.check_shown(kinds, node)
        if spec:
            if "{" in spec:
                raise Refused("formats with a nested field", node)
            _check_spec(a, node, STR if conversion else kinds, spec)
    return STR


def _check_format(a: Analysis, node: ast.FormattedValue, kinds: Kinds, spec: ast.expr) -> None:
    """The part of an f-string after the colon."""
    if not isinstance(spec, ast.JoinedStr):
        raise Refused("formats in an unusual way", node)
    text = ""
    for part in spec.values:
        if isinstance(part, ast.Constant):
            text += str(part.value)
        elif isinstance(part, ast.FormattedValue):
            inner = a.value(part.value)
            if not inner <= WHOLE:
                raise Refused("formats with a width of unknown kind", node)
            text += "9"
    if text:
        _check_spec(a, node, kinds, text)


SPEC = re.compile(r"(?:.?[<>^])?[-+ ]?#?0?\d*[,_]?(?:\.\d+)?([bcdeEfFgGnosxX%]?)")
TEXT_SPEC = re.compile(r"(?:.?[<>^])?\d*(?:\.\d+)?s?")


def _check_spec(a: Analysis, node: ast.AST, kinds: Kinds, spec: str) -> None:
    for kind in in_order(kinds):
        if isinstance(kind, str) and kind in NUMBERS:
            _check_number_spec(node, kind, spec)
        elif kind == "str":
            if not TEXT_SPEC.fullmatch(spec):
                raise Refused(f"formats text with {spec!r}", node)
        elif kind == "any":
            # None, a list or a dict would be an error in CPython, and is padded in Monty.
            if spec[-1] not in "fFeE%d,x" or not SPEC.fullmatch(spec):
                raise Refused(f"formats a value of unknown kind with {spec!r}", node)
            a.differs(node, "TypeError", "a format")
            a.differs(node, "ValueError", "a format")
        elif kind in ("datetime.date", "datetime.datetime"):
            if not spec.startswith("%"):
                raise Refused(f"formats a date with {spec!r}", node)
            dates.check_codes(spec, node)
        else:
            raise Refused(f"formats a {shape_of(kind)} with {spec!r}", node)


def _check_number_spec(node: ast.AST, kind: str, spec: str) -> None:
    if not SPEC.fullmatch(spec) or spec.endswith(("n", "c", "s")):
        raise Refused(f"formats a number with {spec!r}", node)
    if kind in WHOLE and ("." in spec and spec[-1] not in "eEfFgG%"):
        raise Refused(f"formats a whole number with {spec!r}", node)
    if kind == "dyadic" and spec[-1] not in "fFeEgG%":
        raise Refused(f"formats a long binary fraction with {spec!r}", node)
    if kind == "float" and spec[-1] in "bdoxX":
        raise Refused(f"formats a float with {spec!r}", node)
    if kind == "bool":
        raise Refused("formats a truth value", node)


# What cannot end here is given up at once (`*+`): zeros are flags and digits, and a template may be all zeros.
PERCENT = re.compile(r"%(?:(\()|[-+ 0#]*+\d*+(?:\.\d++)?([a-zA-Z%]))?")


def check_percent(a: Analysis, node: ast.AST, values: ast.expr) -> None:
    """`template % values`."""
    template = getattr(node, "left", None)
    if not isinstance(template, ast.Constant) or not isinstance(template.value, str):
        raise Refused("formats with % and a template that is not a literal", node)
    found = [match for match in PERCENT.finditer(template.value) if match.group(2) != "%"]
    if any(match.group(1) or match.group(2) not in tuple("sdfxeg") for match in found):
        raise Refused("formats with % in an unusual way", node)
    elements = values.elts if isinstance(values, ast.Tuple) else [values]
    if len(elements) != len(found) or any(isinstance(element, ast.Starred) for element in elements):
        raise Refused("formats with % and another number of values", node)
    for match, element in zip(found, elements, strict=True):
        kinds = a.value(element)
        a.check_shown(kinds, node)
        if match.group(2) != "s" and not kinds <= NUMBERS:
            a.diverges(node, "TypeError", "%")
        if not isinstance(values, ast.Tuple) and any(shape_of(kind) in ("tuple", "dict", "any") for kind in kinds):
            raise Refused("formats with % and a value that may be a tuple", node)
