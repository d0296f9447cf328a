"""Attributes, read and set."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from paddock.planning.light.refusal import Refused
from paddock.planning.light.tables import DATA, MODULES
from paddock.planning.light.things import NOTHING, NUMBERS, STR, Kind, Kinds, Thing, in_order, shape_of

if TYPE_CHECKING:
    from paddock.planning.light.analysis import Analysis


def attribute(a: Analysis, node: ast.Attribute) -> Kinds:
    """`value.name` where it is not called."""
    if isinstance(node.value, ast.Call) and isinstance(node.value.func, ast.Name) and node.attr == "__name__":
        return _type_name(a, node, node.value)
    result: set[Kind] = set()
    for kind in in_order(a.value(node.value)):
        result |= _load(a, kind, node.attr, node)
    return frozenset(result)


def _type_name(a: Analysis, node: ast.Attribute, call: ast.Call) -> Kinds:
    """`type(x).__name__`, for kinds whose name is the same on both sides."""
    if not (isinstance(call.func, ast.Name) and call.func.id == "type" and len(call.args) == 1):
        raise Refused("asks for a __name__", node)
    named = {"list", "tuple", "dict", "set", "instance", "exception", "Counter", "defaultdict", "deque", "function"}
    for kind in in_order(a.value(call.args[0])):
        if isinstance(kind, Thing) and kind.shape not in named:
            raise Refused("asks for the name of a type", node)
        if isinstance(kind, str) and kind not in (*NUMBERS, "str", "bytes", "none", "any"):
            raise Refused("asks for the name of a type", node)
    return STR


def _load(a: Analysis, kind: Kind, name: str, node: ast.AST) -> Kinds:
    if isinstance(kind, Thing):
        if kind.shape == "module":
            return of_module(a, kind.name, name, node)
        if kind.shape == "instance":
            return of_instance(kind, name, node)
        if kind.shape == "class":
            return _class_attribute(kind, name, node)
        if kind.shape == "record value":
            found = kind.fields.get(name)
            if found is not None:
                return frozenset(found)
        if kind.shape == "exception" and name == "args":
            return a.holding(node, "tuple", STR)
        if lacks(kind, name):
            return NOTHING
        raise Refused(f"uses the attribute {name} of a {kind.shape}", node)
    data = DATA.get(kind, {}).get(name)
    if data is not None:
        return frozenset({data})
    if lacks(kind, name):
        return NOTHING
    raise Refused(f"uses the attribute {name} of a value of kind {kind}", node)


TYPES: dict[str, type] = {
    "none": type(None), "int": int, "float": float, "bool": bool, "str": str, "bytes": bytes, "list": list,
    "tuple": tuple, "dict": dict, "set": set, "frozenset": frozenset,
}  # fmt: skip


def lacks(kind: Kind, name: str) -> bool:
    """Whether a value of this kind has no attribute `name` in CPython either: an AttributeError, in the same words."""
    shape = shape_of(kind)
    return shape in TYPES and not hasattr(TYPES[shape], name)


def of_instance(kind: Thing, name: str, node: ast.AST) -> Kinds:
    """The attribute `name` of an object: its own, or its class's."""
    if name.startswith("__") and name.endswith("__"):
        raise Refused(f"uses the attribute {name}", node)
    owner = kind.of
    found = set(kind.fields.get(name, ()))
    if owner is not None and owner.scope is not None:
        inherited = owner.scope.names.get(name, set()) | owner.fields.get(name, set())
        if any(isinstance(k, Thing) and k.shape == "function" for k in inherited):
            raise Refused(f"keeps the method {name} as a value", node)
        found |= inherited
    return frozenset(found)


def _class_attribute(kind: Thing, name: str, node: ast.AST) -> Kinds:
    if name.startswith("__") or kind.scope is None:
        raise Refused(f"uses the attribute {name} of a class", node)
    found = kind.scope.names.get(name, set()) | kind.fields.get(name, set())
    if any(isinstance(k, Thing) and k.shape == "function" for k in found):
        raise Refused(f"takes the method {name} from its class", node)
    return frozenset(found)


def of_module(a: Analysis, module: str, name: str, node: ast.AST) -> Kinds:
    """`module.name`, called or not."""
    entry = MODULES[module].get(name)
    if entry is None:
        raise Refused(f"uses {module}.{name}", node)
    if entry == "=exception":
        return frozenset({a.named("exception class", name)})
    if entry == "=annotation":
        return frozenset({a.named("annotation", name)})
    if entry == "=type":
        return frozenset({a.named("type", f"{module}.{name}")})
    if entry == "=decorator":
        return frozenset({a.named("decorator", name)})
    if entry == "=memo":
        return frozenset({a.named("memo", name)})
    if entry.startswith("="):
        return frozenset({entry[1:]})
    return frozenset({a.named("builtin", f"{module}.{name}")})


def store(a: Analysis, target: ast.Attribute, kinds: Kinds) -> None:
    """`value.name = …`, of the script's own objects and classes."""
    for kind in in_order(a.value(target.value)):
        if kind == "none":
            continue  # an AttributeError, in the same words
        if not isinstance(kind, Thing) or kind.shape not in ("instance", "class"):
            raise Refused(f"sets the attribute {target.attr} of a {shape_of(kind)}", target)
        if target.attr.startswith("__") and target.attr.endswith("__"):
            raise Refused(f"sets the attribute {target.attr}", target)
        a.flow(kinds, kind.fields.setdefault(target.attr, set()))
