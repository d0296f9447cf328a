"""`range()` of numbers beyond 64 bits, which Monty does not have: told from what the script says of its bounds."""

from __future__ import annotations

import ast
import math
import re
from typing import TYPE_CHECKING

from paddock.planning.light.refusal import Refused
from paddock.planning.light.things import WHOLE, Kinds

if TYPE_CHECKING:
    from paddock.planning.light.analysis import Analysis

MOST_BITS = 62
LONG_NUMBER = re.compile(r"\d{19}")


def make(a: Analysis, node: ast.Call) -> Kinds:
    """What `range(…)` gives."""
    for argument in node.args:
        kinds = a.value(argument)
        read = not isinstance(argument, ast.Constant) and not kinds <= WHOLE
        if bits(a, argument) > MOST_BITS or (read and _has_long_number(a)):
            raise Refused("counts beyond 64 bits", node)
        a.counts = a.counts or read or _reads(a, argument)
        if not kinds <= WHOLE:
            a.diverges(node, "TypeError", "range()")
    return a.holding(node, "range", {"int"})


def _reads(a: Analysis, node: ast.expr) -> bool:
    """Whether a number may be read from text."""
    for inner in ast.walk(node):
        if isinstance(inner, ast.Name):
            if inner.id == "int":
                return True
            if inner.id not in a.facts.unread:
                a.facts.unread.add(inner.id)
                if any(_reads(a, value) for value in a.facts.given_to(inner.id)):
                    return True
    return False


def _has_long_number(a: Analysis) -> bool:
    """Whether a text of the script, which may be JSON, holds a number beyond 64 bits."""
    return any(
        isinstance(node, ast.Constant) and isinstance(node.value, str) and LONG_NUMBER.search(node.value)
        for node in a.facts.nodes
    )


def bits(a: Analysis, node: ast.expr) -> float:
    """How many bits a number may have, as far as the script says; 0 where it says nothing."""
    if isinstance(node, ast.Constant):
        return node.value.bit_length() if isinstance(node.value, int) else 0
    if isinstance(node, ast.Attribute):
        return 63 if node.attr == "maxsize" else 0
    if isinstance(node, ast.UnaryOp):
        return bits(a, node.operand)
    if isinstance(node, ast.IfExp):
        return max(bits(a, node.body), bits(a, node.orelse))
    if isinstance(node, ast.Name):
        return _name(a, node.id)
    if isinstance(node, ast.BinOp):
        return _operation(a, node)
    if isinstance(node, ast.Call):
        return _call(a, node)
    return 0


def _name(a: Analysis, name: str) -> float:
    known = a.facts.bits
    if name not in known:
        known[name] = 0  # as far as its own value is asked for
        given = max((bits(a, value) for value in a.facts.given_to(name)), default=0)
        known[name] = math.inf if name in a.facts.multiplied else given
    return known[name]


def _operation(a: Analysis, node: ast.BinOp) -> float:
    left, right = bits(a, node.left), bits(a, node.right)
    if isinstance(node.op, ast.Add | ast.Sub):
        return max(left, right)
    if isinstance(node.op, ast.Mult):
        return left + right
    if isinstance(node.op, ast.Pow | ast.LShift):
        by = _constant(a, node.right)
        if by is None or by < 0:
            return left
        base = _constant(a, node.left)
        if isinstance(node.op, ast.Pow):
            return (base**by).bit_length() if base is not None and by < 1000 else left * by
        return left + by
    if isinstance(node.op, ast.FloorDiv):
        return max(0, left - max(0, right - 1))
    return min(left, right) if isinstance(node.op, ast.Mod) else 0


def _constant(a: Analysis, node: ast.expr) -> int | None:
    """The number that `node` always is."""
    bound = a.facts.single(node.id) if isinstance(node, ast.Name) else node
    return bound.value if isinstance(bound, ast.Constant) and isinstance(bound.value, int) else None


def _call(a: Analysis, node: ast.Call) -> float:
    name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
    if name in ("abs", "max", "int"):
        return max((bits(a, argument) for argument in node.args), default=0)
    if name == "min":
        return min((bits(a, argument) for argument in node.args), default=0)
    if name == "factorial" and node.args:
        number = _constant(a, node.args[0])
        return math.inf if number is not None and number > 20 else 0
    return 0
