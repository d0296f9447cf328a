"""The script's own classes: objects made, their methods called."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from paddock.planning.light import calls, functions, lazy
from paddock.planning.light.refusal import Refused
from paddock.planning.light.scopes import Scope
from paddock.planning.light.things import ANY, Kind, Kinds, Thing, in_order, shape_of

if TYPE_CHECKING:
    from paddock.planning.light.analysis import Analysis


def call_method(a: Analysis, node: ast.Call, instance: Thing, name: str) -> Kinds:
    """`instance.name(…)`, of a method or of a function kept as an attribute."""
    positional, keywords = functions.arguments_of(a, node)
    owner = instance.of
    found = owner.scope.names.get(name, set()) if owner is not None and owner.scope is not None else set()
    result: set[Kind] = set()
    own = instance.fields.get(name, set()) | (owner.fields.get(name, set()) if owner is not None else set())
    if own:
        result |= calls.call_kinds(a, frozenset(own), positional, node)
    if not found and not own:
        raise Refused(f"calls the method {name}, which its class does not have", node)
    spread = functions.spreads(node)
    for kind in in_order(found):
        if not isinstance(kind, Thing) or kind.shape != "function":
            raise Refused(f"calls {name}, which is not a method", node)
        result |= functions.enter(a, kind, [frozenset({instance}), *positional], keywords, node, spread=spread)
    return frozenset(result)


def call(a: Analysis, node: ast.Call, instance: Thing) -> Kinds:
    """A call of an object, by `__call__`."""
    return call_method(a, node, instance, "__call__")


def special_method(a: Analysis, node: ast.AST, instance: Thing, name: str, arguments: list[Kinds]) -> Kinds:
    """Call a special method of one of the script's own objects."""
    owner = instance.of
    found = owner.scope.names.get(name, set()) if owner is not None and owner.scope is not None else set()
    if not found:
        raise Refused(f"needs {name} of an object that has none", node)
    return calls.call_kinds(a, frozenset(found), [frozenset({instance}), *arguments], node)


SPECIAL = {
    ast.Add: "__add__", ast.Sub: "__sub__", ast.Mult: "__mul__", ast.Div: "__truediv__", ast.USub: "__neg__",
    ast.FloorDiv: "__floordiv__", ast.Mod: "__mod__", ast.Pow: "__pow__",
}  # fmt: skip


def operator(a: Analysis, node: ast.AST, left: Thing, op: ast.operator | ast.unaryop, right: Kind | None) -> Kinds:
    """`left op right`, or `op left` where there is no `right`, by a special method of `left`."""
    name = SPECIAL.get(type(op))
    if name is None:
        raise Refused("uses an operator on an object", node)
    return special_method(a, node, left, name, [] if right is None else [frozenset({right})])


def has(instance: Thing, name: str) -> bool:
    """Whether the class of `instance` defines `name` itself."""
    return instance.of is not None and instance.of.scope is not None and name in instance.of.scope.names


def check_key(kinds: Kinds | set[Kind], node: ast.AST, depth: int = 0) -> None:
    """Refuse objects as keys whose `__eq__` or `__hash__` does more than compare: how often it is called differs."""
    for kind in in_order(kinds):
        if isinstance(kind, Thing) and kind.shape == "tuple" and depth < 5:
            if any(shape_of(inner) in ("list", "dict", "set") for inner in kind.held()):
                raise Refused("hashes a tuple that may hold what cannot be hashed", node)
            check_key(kind.held(), node, depth + 1)
        owner = kind.of.node if isinstance(kind, Thing) and kind.shape == "instance" and kind.of is not None else None
        for method in owner.body if isinstance(owner, ast.ClassDef) else ():
            special = isinstance(method, ast.FunctionDef) and method.name in ("__eq__", "__hash__")
            if special and any(_has_effect(inner) for inner in ast.walk(method)):
                raise Refused("has an __eq__ or __hash__ of a key that can be seen at work", node)


def _has_effect(node: ast.AST) -> bool:
    if isinstance(node, ast.Call):
        return getattr(node.func, "id", "") == "print" or getattr(node.func, "attr", "") in lazy.MUTATORS
    if isinstance(node, ast.Attribute | ast.Subscript):
        return isinstance(node.ctx, ast.Store)
    return isinstance(node, ast.Global | ast.Nonlocal)


def compares_itself(a: Analysis, kinds: Kinds) -> bool:
    """Whether comparing values of these kinds calls an `__eq__` of the script's own."""
    waiting, seen = list(kinds), set()
    while waiting:
        kind = waiting.pop()
        if not isinstance(kind, Thing) or id(kind) in seen:
            continue
        seen.add(id(kind))
        if kind.shape == "instance" and has(kind, "__eq__"):
            return True
        waiting += (
            [*kind.held(), *kind.keys] if kind.shape != "instance" else [k for v in kind.fields.values() for k in v]
        )
    return False


def instantiate(a: Analysis, node: ast.Call, made: Thing) -> Kinds:
    """A call of a class in the script."""
    positional, keywords = functions.arguments_of(a, node)
    if any(isinstance(argument, ast.Starred) for argument in node.args) or any(k.arg is None for k in node.keywords):
        raise Refused("unpacks the arguments of a class", node)
    return make(a, node, made, positional, keywords)


def make(a: Analysis, node: ast.AST, made: Thing, positional: list[Kinds], keywords: dict[str, Kinds]) -> Kinds:
    """An object of the class `made`; all its objects are one thing."""
    if made.node is None or made.scope is None:
        raise Refused("makes an object of an unknown class", node)
    instance = a.thing(made.node, "instance")
    instance.of = made
    _reach_special_methods(a, made.scope, instance, node)
    if made.name == "dataclass":
        _fill_dataclass(a, node, made, instance, positional, keywords)
        return frozenset({instance})
    found = made.scope.names.get("__init__", set())
    if not found and (positional or keywords):
        raise Refused("makes an object with arguments that its class does not take", node)
    for kind in in_order(found):
        if isinstance(kind, Thing) and kind.shape == "function":
            functions.enter(a, kind, [frozenset({instance}), *positional], keywords, node)
    return frozenset({instance})


def _reach_special_methods(a: Analysis, scope: Scope, instance: Thing, node: ast.AST) -> None:
    """Special methods are called from anywhere, with anything: follow them as soon as there is an object."""
    me = frozenset({instance})
    for name, kinds in scope.names.items():
        special = name.startswith("__") and name.endswith("__")
        if not special or name in ("__init__", "__call__", "__setitem__"):
            continue
        other = ANY if name in ("__getitem__", "__contains__", "__pow__", "__mul__", "__rmul__") else me
        for kind in in_order(kinds):
            if isinstance(kind, Thing) and isinstance(kind.node, ast.FunctionDef):
                others = len(kind.node.args.args) - 1
                if others >= 0:
                    functions.enter(a, kind, [me, *[other] * others], {}, node, way="")


def _fill_dataclass(
    a: Analysis, node: ast.AST, made: Thing, instance: Thing, positional: list[Kinds], keywords: dict[str, Kinds]
) -> None:
    """Give the object of a dataclass its fields: from the arguments, and the defaults."""
    if not isinstance(made.node, ast.ClassDef):
        return
    declared = [
        (statement.target.id, statement)
        for statement in made.node.body
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name)
    ]
    names = [name for name, _ in declared]
    needed = {name for name, statement in declared if statement.value is None}
    given = {*names[: len(positional)], *keywords}
    if len(positional) > len(names) or not keywords.keys() <= set(names) or not needed <= given:
        raise Refused("makes a dataclass with the wrong arguments", node)
    for name, kinds in (*zip(names, positional, strict=False), *keywords.items()):
        a.flow(kinds, instance.fields.setdefault(name, set()))
    for name, statement in declared:
        if statement.value is not None:
            default = _default(a, statement.value)
            if any(shape_of(kind) in ("function", "builtin", "class") for kind in default):
                raise Refused("has a function in a dataclass", statement)
            a.flow(default, instance.fields.setdefault(name, set()))


def _default(a: Analysis, value: ast.expr) -> Kinds:
    if isinstance(value, ast.Call):
        for keyword in value.keywords:
            if keyword.arg == "default_factory":
                return calls.call_kinds(a, a.value(keyword.value), [], keyword)
            if keyword.arg == "default":
                return a.value(keyword.value)
    return a.value(value)
