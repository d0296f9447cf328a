"""Where keys of unknown kind come from: the fields of JSON that they are read from, as far as the script says."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from paddock.planning.light.facts import Facts
from paddock.planning.light.refusal import Refused
from paddock.planning.light.things import Kind, Thing
from paddock.planning.light.unlike import ANYWHERE

if TYPE_CHECKING:
    from paddock.planning.light.analysis import Analysis

UNKNOWN = frozenset({ANYWHERE})
NONE: frozenset[str] = frozenset()
HOLDERS = frozenset({"dict", "list", "module", "tool"})
PAIRED = frozenset({"items", "most_common"})
"""Methods that give keys, each with its value."""
JOINS = frozenset({
    "replace", "join", "format", "dumps", "sub", "b64decode", "decode", "translate", "chr", "hex", "lower", "upper",
    "casefold", "title", "capitalize", "swapcase", "zfill", "ljust", "rjust", "center",
})  # fmt: skip
"""Functions that make text which is not a part of what they are given."""


def of_key(a: Analysis, node: ast.expr | None) -> frozenset[str]:
    """The fields that the value of `node` may come from, if it is of unknown kind; `*` where that cannot be told."""
    if not isinstance(node, ast.Name):
        return _of(a, node, set())
    where = (node.id, id(a.scope))
    if where not in a.key_sources:
        a.key_sources[where] = _of(a, node, set())
    return a.key_sources[where]


def _of(a: Analysis, node: ast.expr | None, seen: set[str]) -> frozenset[str]:
    """`seen`: the fields and names that were followed already."""
    a.steps += 1
    if a.steps > a.most_steps:
        raise Refused("is too tangled to be understood", node)
    if isinstance(node, ast.Constant):
        return UNKNOWN if isinstance(node.value, int | float) else NONE
    if isinstance(node, ast.Subscript):
        return _of_item(a, node, seen)
    if isinstance(node, ast.Call):
        return _of_call(a, node, seen)
    if isinstance(node, ast.Tuple):
        return _joined(a, node.elts, seen)
    if isinstance(node, ast.IfExp):
        return _joined(a, [node.body, node.orelse], seen)
    if isinstance(node, ast.BoolOp):
        return _joined(a, node.values, seen)
    if isinstance(node, ast.JoinedStr):
        return NONE
    return _of_name(a, node.id, seen) if isinstance(node, ast.Name) else UNKNOWN


def _joined(a: Analysis, nodes: list[ast.expr], seen: set[str]) -> frozenset[str]:
    # A number that stands for itself is of known kind, and marked as such where it meets one that is not.
    parts = [node for node in nodes if not isinstance(node, ast.Constant)]
    return frozenset().union(*(_of(a, node, seen) for node in parts))


def _of_item(a: Analysis, node: ast.Subscript, seen: set[str]) -> frozenset[str]:
    at = node.slice.value if isinstance(node.slice, ast.Constant) else None
    if isinstance(at, str):
        return _of_field(a, node.value, at, seen)
    return _of(a, node.value, seen) if isinstance(at, int) and isinstance(node.value, ast.Subscript) else UNKNOWN


def _of_field(a: Analysis, owner: ast.expr, name: str, seen: set[str]) -> frozenset[str]:
    """What `owner[name]` comes from: JSON has it under that name, or the script put it there."""
    if not _is_plain(a, owner):
        return UNKNOWN
    if f"[{name}]" in seen:
        return NONE
    seen.add(f"[{name}]")
    return frozenset({name}) | _joined(a, a.facts.written.get(name, []), seen)


def _is_plain(a: Analysis, owner: ast.expr) -> bool:
    """Whether fields can have been given to `owner` by their names only."""
    if isinstance(owner, ast.Subscript | ast.Call | ast.Await):
        inner = owner.value if isinstance(owner, ast.Subscript | ast.Await) else getattr(owner.func, "value", None)
        return inner is None or _is_plain(a, inner)
    if not isinstance(owner, ast.Name):
        return False
    kinds = a.scope.find(owner.id)
    if kinds is None:
        return owner.id in a.given or owner.id in a.tools or owner.id == "call_tool"
    return not any(
        isinstance(kind, Thing) and (kind.shape not in HOLDERS or (kind.shape != "list" and _has_unknown(kind.items)))
        for kind in kinds
    )


def _has_unknown(kinds: set[Kind]) -> bool:
    return any(kind == "any" or isinstance(kind, Thing) for kind in kinds)


def _of_call(a: Analysis, node: ast.Call, seen: set[str]) -> frozenset[str]:
    if isinstance(node.func, ast.Name) and node.func.id == "str" and a.scope.find("str") is None:
        return NONE
    if not isinstance(node.func, ast.Attribute) or not node.args or node.keywords:
        return UNKNOWN
    name = node.args[0].value if isinstance(node.args[0], ast.Constant) else None
    if node.func.attr != "get" or not isinstance(name, str):
        return UNKNOWN
    return _of_field(a, node.func.value, name, seen) | _joined(a, node.args[1:], seen)


def _of_name(a: Analysis, name: str, seen: set[str]) -> frozenset[str]:
    found: frozenset[str] = NONE
    bound = a.facts.bound_by.get(name)
    if name in seen:
        return NONE
    if not bound:
        return UNKNOWN
    seen.add(name)
    for value, looped in bound:
        found |= _of(a, value, seen) if not looped else _of_keys(a, value, pairs=looped == "first")
    return found


def _of_keys(a: Analysis, node: ast.expr | None, *, pairs: bool) -> frozenset[str]:
    """The fields that the keys of the dict come from over which a loop runs."""
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.args:
        if node.func.id not in ("sorted", "list", "reversed") or a.scope.find(node.func.id) is not None:
            return UNKNOWN
        node = node.args[0]
    if pairs:
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in PAIRED):
            return UNKNOWN
        node = node.func.value
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "keys":
        node = node.func.value
    kinds = a.scope.find(node.id) if isinstance(node, ast.Name) else None
    if not kinds:
        return UNKNOWN
    found: frozenset[str] = NONE
    for kind in kinds:
        if not isinstance(kind, Thing) or kind.shape not in ("dict", "defaultdict", "Counter"):
            return UNKNOWN
        found |= kind.sources
    return found


def is_composed(facts: Facts) -> bool:
    """Whether JSON that the script reads may be text that it put together itself."""
    seen: set[str] = set()
    for node in facts.nodes:
        if isinstance(node, ast.Call) and node.args:
            name = _called(node)
            if name == "loads" and _joins(facts, node.args[0], seen):
                return True
            mapped = name == "map" and any(_named_loads(inner) for inner in ast.walk(node.args[0]))
            if mapped and any(_joins(facts, argument, seen) for argument in node.args[1:]):
                return True
    return False


def _called(node: ast.Call) -> str:
    return node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")


def _named_loads(node: ast.AST) -> bool:
    return getattr(node, "id", "") == "loads" or getattr(node, "attr", "") == "loads"


def _joins(facts: Facts, node: ast.expr, seen: set[str]) -> bool:
    for inner in ast.walk(node):
        if isinstance(inner, ast.JoinedStr | ast.Slice):
            return True
        if isinstance(inner, ast.BinOp) and isinstance(inner.op, ast.Add | ast.Mod | ast.Mult):
            return True
        if isinstance(inner, ast.Call):
            name = _called(inner)
            if name in JOINS or (name in facts.returned and _any_joins(facts, name, facts.returned[name], seen)):
                return True
        if isinstance(inner, ast.Name) and _any_joins(facts, inner.id, facts.values_of(inner.id), seen):
            return True
    return False


def _any_joins(facts: Facts, name: str, values: list[ast.expr], seen: set[str]) -> bool:
    if name in seen:
        return False
    seen.add(name)
    return any(_joins(facts, value, seen) for value in values)
