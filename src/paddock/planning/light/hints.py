"""Annotations: CPython evaluates them, Monty does not."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from paddock.planning.light.refusal import Refused

ANNOTATIONS = frozenset({
    "int", "float", "str", "bool", "bytes", "list", "dict", "tuple", "set", "frozenset", "object", "type",
})  # fmt: skip

if TYPE_CHECKING:
    from paddock.planning.light.analysis import Analysis


GENERICS = {
    "list": 1, "set": 1, "frozenset": 1, "type": 1, "dict": 2, "tuple": 0, "List": 1, "Set": 1, "FrozenSet": 1,
    "Dict": 2, "Tuple": 0, "Optional": 1, "Union": 0, "Iterable": 1, "Iterator": 1, "Sequence": 1, "Mapping": 2,
    "Literal": 0, "Callable": 2, "Counter": 1, "defaultdict": 2, "deque": 1, "Final": 1, "ClassVar": 1,
}  # fmt: skip
"""How many parts each takes; 0 for any number."""


def check(a: Analysis, node: ast.expr | None) -> None:
    """CPython evaluates annotations and Monty does not: refuse one that could fail, or do something."""
    if node is None or a.facts.has_future:
        return
    if isinstance(node, ast.Constant):
        if node.value is not None and not isinstance(node.value, str):
            raise Refused("has an unusual annotation", node)
    elif isinstance(node, ast.Name):
        if node.id not in ANNOTATIONS and not a.scope.find(node.id):
            raise Refused(f"has an annotation with the name {node.id}, which is not known there", node)
    elif isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name | ast.Attribute):
        _check_generic(a, node)
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        for side in (node.left, node.right):
            if isinstance(side, ast.Constant) and side.value is not None:
                raise Refused("has an unusual annotation", node)
            check(a, side)
    elif isinstance(node, ast.Attribute):
        a.value(node)
    else:
        raise Refused("has an unusual annotation", node)


def _check_generic(a: Analysis, node: ast.Subscript) -> None:
    """`list[int]`, `dict[str, int]`, `Optional[str]`, … with as many parts as there must be."""
    name = node.value.id if isinstance(node.value, ast.Name) else getattr(node.value, "attr", "")
    if name not in GENERICS or (
        name not in ANNOTATIONS and isinstance(node.value, ast.Name) and not a.scope.find(name)
    ):
        raise Refused("has an unusual annotation", node)
    if isinstance(node.value, ast.Attribute):
        a.value(node.value)
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    if GENERICS[name] and len(parts) != GENERICS[name]:
        raise Refused("has an annotation with the wrong number of parts", node)
    for part in parts:
        if name == "Literal" or (isinstance(part, ast.Constant) and part.value is ...):
            continue
        for inner in part.elts if isinstance(part, ast.List) else [part]:
            check(a, inner)
