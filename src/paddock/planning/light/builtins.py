"""Builtin functions whose result depends on what they are given."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING

from paddock.planning.light import arithmetic, calls, comparisons, lazy, operators, ranges, texts
from paddock.planning.light.refusal import Refused
from paddock.planning.light.things import (
    BOOL,
    FLOAT,
    INT,
    NONE,
    NOTHING,
    NUMBERS,
    ORDERLESS,
    STR,
    WHOLE,
    Kind,
    Kinds,
    Thing,
    in_order,
    shape_of,
)

if TYPE_CHECKING:
    from paddock.planning.light.analysis import Analysis


def _print(a: Analysis, node: ast.Call) -> Kinds:
    # Where numbers are not kept apart, they cannot be told in what is printed.
    leaves = not any(keyword.arg in ("sep", "end") for keyword in node.keywords)
    for argument in node.args:
        if isinstance(argument, ast.Starred):
            a.check_shown(lazy.consume(a, argument.value), node, as_text=True, leaves=leaves)
        else:
            a.check_shown(a.value(argument), node, as_text=True, leaves=leaves)
    for keyword in node.keywords:
        kinds = a.value(keyword.value)
        if keyword.arg in ("sep", "end") and not kinds <= {"str", "none"}:
            a.diverges(node, "TypeError", "print()")
    return NONE


def _len(a: Analysis, node: ast.Call) -> Kinds:
    for kind in in_order(a.value(node.args[0])):
        if shape_of(kind) in ("instance", "iterator"):
            raise Refused(f"asks for the length of a {shape_of(kind)}", node)
    return INT


def _sorted(a: Analysis, node: ast.Call) -> Kinds:
    key = next((keyword.value for keyword in node.keywords if keyword.arg == "key"), None)
    for keyword in node.keywords:
        if keyword.arg == "reverse" and not a.value(keyword.value) <= WHOLE:
            raise Refused("sorts in reverse by something that is not a truth value", node)
    if key is None and _has_set(a, node.args[0]):
        kinds = lazy.consume(a, node.args[0], ordered=False)
        if kinds & NUMBERS and kinds & STR:
            raise Refused("orders numbers and text from a set", node)
    # With a key, equal ones stay in the order in which they came: that of a set differs.
    items = lazy.consume(a, node.args[0], ordered=key is not None)
    if key is not None and not (isinstance(key, ast.Constant) and key.value is None):
        comparisons.check_ordering(a, node, calls.call_kinds(a, a.value(key), [items], node))
    else:
        comparisons.check_ordering(a, node, items)
    return a.holding(node, "list", items)


def _sum(a: Analysis, node: ast.Call) -> Kinds:
    items = lazy.consume(a, node.args[0], ordered=False)
    start = INT if len(node.args) < 2 and not node.keywords else NOTHING
    for extra in (*node.args[1:], *(keyword.value for keyword in node.keywords)):
        start |= a.value(extra)
    if not items <= WHOLE:
        lazy.consume(a, node.args[0])
        # The order of floats changes their sum.
        if _has_set(a, node.args[0]):
            raise Refused("adds up numbers that may not be whole", node)
        a.diverges(node, "TypeError", "sum()")
    numbers: set[Kind] = set()
    for kind in in_order(items | start):
        if kind in WHOLE:
            numbers.add("int")
        elif shape_of(kind) in ("list", "tuple") and isinstance(kind, Thing):
            numbers |= a.holding(node, kind.shape, kind.held(), tag="sum")
        elif shape_of(kind) == "instance":
            raise Refused("adds up objects", node)
        elif kind == "any" and start <= NUMBERS:
            numbers |= {"int", "float"}
        else:
            numbers.add(kind)
    return frozenset(numbers)


def _has_set(a: Analysis, node: ast.expr) -> bool:
    return not isinstance(node, ast.GeneratorExp | ast.Call) and any(
        shape_of(kind) in ORDERLESS for kind in a.value(node)
    )


def _extreme(a: Analysis, node: ast.Call) -> Kinds:
    key = next((keyword.value for keyword in node.keywords if keyword.arg == "key"), None)
    default = next((a.value(keyword.value) for keyword in node.keywords if keyword.arg == "default"), NOTHING)
    if len(node.args) == 1 and not isinstance(node.args[0], ast.Starred):
        items = lazy.consume(a, node.args[0], ordered=key is not None)
        if not default:
            a.diverges(node, "ValueError", "min() or max()")
    else:
        if default:
            raise Refused("gives min() or max() several values and a default", node)
        items = frozenset().union(
            *(
                lazy.consume(a, argument.value) if isinstance(argument, ast.Starred) else a.value(argument)
                for argument in node.args
            )
        )
        if any(isinstance(argument, ast.Starred) for argument in node.args):
            a.diverges(node, "ValueError", "min() or max()")
    if key is not None:
        comparisons.check_ordering(a, node, calls.call_kinds(a, a.value(key), [items], node))
    else:
        comparisons.check_ordering(a, node, items)
    return items | default


def _any_all(a: Analysis, node: ast.Call) -> Kinds:
    name = node.func.id if isinstance(node.func, ast.Name) else "any"
    items = lazy.consume(a, node.args[0], ordered=False, whole=False)
    if any(shape_of(item) == "instance" for item in items):
        raise Refused(f"uses {name}() on objects", node)
    return BOOL


def _iter(a: Analysis, node: ast.Call) -> Kinds:
    source = ast.dump(node.args[0])
    for inner in a.facts.nodes:
        method = inner.func if isinstance(inner, ast.Call) else None
        if isinstance(method, ast.Attribute) and method.attr in lazy.MUTATORS and ast.dump(method.value) == source:
            raise Refused("changes what an iterator runs over", node)
        if isinstance(inner, ast.AugAssign) and getattr(inner.target, "id", None) == getattr(node.args[0], "id", ""):
            raise Refused("changes what an iterator runs over", node)
    return a.holding(node, "iterator", lazy.iterate(a, a.value(node.args[0]), node))


def _next(a: Analysis, node: ast.Call) -> Kinds:
    items: set[Kind] = set()
    for kind in in_order(a.value(node.args[0])):
        if not isinstance(kind, Thing) or kind.shape != "iterator":
            raise Refused("calls next() on something other than iter()", node)
        items |= kind.items
    lambda_ = a.scope.thing is not None and isinstance(a.scope.thing.node, ast.Lambda)
    alone = len(node.args) == 1
    if alone and (a.scope.kind == "comprehension" or lambda_):
        raise Refused("calls next() without a default where StopIteration means something else", node)
    if alone and (a.facts.awaits or a.facts.returns_at_top):
        raise Refused("calls next() without a default in a script that awaits", node)
    return frozenset(items) | (a.value(node.args[1]) if len(node.args) > 1 else NOTHING)


def _chr(a: Analysis, node: ast.Call) -> Kinds:
    """Half a surrogate pair is text in CPython only."""
    kinds = a.value(node.args[0])
    numbers = [n.value for n in a.facts.nodes if isinstance(n, ast.Constant) and type(n.value) is int]
    if any(number >= 0xD800 for number in numbers):
        raise Refused("uses chr() beside numbers that may be half a surrogate pair", node)
    if a.facts.text_uses & texts.DOINGS.keys() and ("any" in kinds or any(number >= 0x80 for number in numbers)):
        raise Refused("uses chr() beside numbers that may be an odd character, and looks at characters", node)
    return STR


def _abs(a: Analysis, node: ast.Call) -> Kinds:
    result: set[Kind] = set()
    for kind in in_order(a.value(node.args[0])):
        if shape_of(kind) == "instance":
            raise Refused("uses abs() on an object", node)
        result.add("int" if kind == "bool" else kind)
    return frozenset(kind for kind in result if isinstance(kind, str))


def _round(a: Analysis, node: ast.Call) -> Kinds:
    kinds = a.value(node.args[0])
    if any(isinstance(kind, Thing) for kind in kinds):
        raise Refused("rounds something that is not a number", node)
    if len(node.args) == 1:
        return INT
    digits = node.args[1]
    if isinstance(digits, ast.Constant) and isinstance(digits.value, int) and digits.value > 15:
        raise Refused("rounds to more digits than there are", node)
    if not kinds <= WHOLE and (not a.value(digits) <= INT or arithmetic.may_be_negative(a, digits)):
        raise Refused("rounds to a number of digits that may be negative", node)
    return frozenset({{"bool": "int", "dyadic": "float"}.get(str(kind), kind) for kind in kinds})


def _pow(a: Analysis, node: ast.Call) -> Kinds:
    if len(node.args) == 3:
        negative = arithmetic.may_be_negative(a, node.args[1]) or a.facts.subtracts
        if not all(a.value(argument) <= WHOLE for argument in node.args) or negative:
            raise Refused("uses pow() with three values that may be unusual", node)
        a.diverges(node, "ValueError", "pow()")
        return INT
    return operators.binary(
        a, ast.copy_location(ast.BinOp(node.args[0], ast.Pow(), node.args[1]), node),
        a.value(node.args[0]), ast.Pow(), a.value(node.args[1]), node.args[1],
    )  # fmt: skip


def _ord(a: Analysis, node: ast.Call) -> Kinds:
    if not a.value(node.args[0]) <= {"str", "any"}:
        raise Refused("uses ord() on something other than text", node)
    return INT


def _divmod(a: Analysis, node: ast.Call) -> Kinds:
    left, right = a.value(node.args[0]), a.value(node.args[1])
    if not (left <= NUMBERS and right <= NUMBERS):
        raise Refused("uses divmod() on values of unknown kind", node)
    a.diverges(node, "ZeroDivisionError", "divmod()")
    arithmetic.note_division(a, node, "divmod", left, right)
    number = INT if left <= WHOLE and right <= WHOLE else FLOAT
    made = a.thing(node, "tuple")
    for position in (0, 1):
        a.flow(number, made.fields.setdefault(position, set()))
    return frozenset({made})


def _hash(a: Analysis, node: ast.Call) -> Kinds:
    """Hashes differ; where one is only what `__hash__` gives, nobody sees it."""
    inside = a.scope.thing.node if a.scope.thing is not None else None
    if not isinstance(inside, ast.FunctionDef) or inside.name != "__hash__":
        raise Refused("uses hash", node)
    a.value(node.args[0])
    return INT


HANDLERS: dict[str, Callable[[Analysis, ast.Call], Kinds]] = {
    "print": _print,
    "len": _len,
    "sorted": _sorted,
    "sum": _sum,
    "min": _extreme,
    "max": _extreme,
    "any": _any_all,
    "all": _any_all,
    "iter": _iter,
    "next": _next,
    "range": ranges.make,
    "chr": _chr,
    "abs": _abs,
    "round": _round,
    "pow": _pow,
    "divmod": _divmod,
    "ord": _ord,
    "hash": _hash,
}
