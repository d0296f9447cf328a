"""Builtins that are types: values made of others, and questions of type."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING

from paddock.planning.light import containers, functions, lazy, texts
from paddock.planning.light.refusal import Refused
from paddock.planning.light.things import (
    ANY,
    BOOL,
    FLOAT,
    INT,
    NONE,
    NOTHING,
    NUMBERS,
    STR,
    Kind,
    Kinds,
    Thing,
    in_order,
    shape_of,
)

if TYPE_CHECKING:
    from paddock.planning.light.analysis import Analysis


def _str(a: Analysis, node: ast.Call) -> Kinds:
    for argument in node.args:
        a.check_shown(a.value(argument), node, as_text=True)
    return STR


def _repr(a: Analysis, node: ast.Call) -> Kinds:
    a.check_shown(a.value(node.args[0]), node)
    return STR


def _int(a: Analysis, node: ast.Call) -> Kinds:
    for argument in node.args:
        for kind in in_order(a.value(argument)):
            if shape_of(kind) not in (*NUMBERS, "str", "any", "none", "list", "dict", "tuple"):
                raise Refused(f"converts a {shape_of(kind)} to a number", node)
    check_digits(a, node)
    return INT


def check_digits(a: Analysis, node: ast.AST) -> None:
    """Refuse to read numbers in a script with digits of other writing systems, which Monty does not know."""
    if texts.DIGITS in a.facts.odd_text:
        raise Refused(f"converts text to a number beside the character {a.facts.odd_text[texts.DIGITS]}", node)


def _float(a: Analysis, node: ast.Call) -> Kinds:
    argument = node.args[0] if node.args else None
    if isinstance(argument, ast.Constant) and isinstance(argument.value, str) and "nan" in argument.value.lower():
        raise Refused("uses NaN", node)
    _int(a, node)
    return FLOAT


def _bool(a: Analysis, node: ast.Call) -> Kinds:
    for argument in node.args:
        a.value(argument)
    return BOOL


def _list(a: Analysis, node: ast.Call) -> Kinds:
    return a.holding(node, "list", lazy.consume(a, node.args[0]) if node.args else NOTHING)


def _tuple(a: Analysis, node: ast.Call) -> Kinds:
    return a.holding(node, "tuple", lazy.consume(a, node.args[0]) if node.args else NOTHING)


def _set_of(shape: str) -> Callable[[Analysis, ast.Call], Kinds]:
    def handler(a: Analysis, node: ast.Call) -> Kinds:
        items = lazy.consume(a, node.args[0], ordered=False) if node.args else NOTHING
        containers.check_hashable(a, items, node)
        return a.holding(node, shape, items)

    return handler


def _dict(a: Analysis, node: ast.Call) -> Kinds:
    made = a.thing(node, "dict")
    for keyword in node.keywords:
        a.flow(STR, made.keys)
        a.flow(a.value(keyword.value), made.fields.setdefault(keyword.arg, set()))
    if not node.args:
        return frozenset({made})
    argument = node.args[0]
    if lazy.lazy_name(a, argument) is None and not isinstance(argument, ast.GeneratorExp):
        rest: set[Kind] = set()
        for kind in in_order(a.value(argument)):
            if isinstance(kind, Thing) and kind.shape in ("dict", "defaultdict", "Counter"):
                containers.merge_dict(a, made, kind)
            elif kind == "any":
                _put_pair(a, made, node, ANY, ANY)
            else:
                rest.add(kind)
        items = lazy.iterate(a, frozenset(rest), node)
    else:
        items = lazy.consume(a, argument)
    a.diverges(node, "ValueError", "dict()")
    if any(shape_of(kind) not in ("tuple", "list", "any", "str") for kind in items):
        raise Refused("makes a dict of something other than pairs", node)
    for kind in in_order(items):
        if isinstance(kind, Thing) and kind.shape == "tuple" and len(kind.fields) == 2:
            _put_pair(a, made, node, frozenset(kind.fields[0]), frozenset(kind.fields[1]))
        else:
            inner = lazy.iterate(a, frozenset({kind}), node)
            _put_pair(a, made, node, inner, inner)
    return frozenset({made})


def _put_pair(a: Analysis, made: Thing, node: ast.AST, key: Kinds, value: Kinds) -> None:
    a.flow(key, made.keys)
    a.flow(value, made.items)
    a.check_keys(made, node, key)


def dict_method(a: Analysis, node: ast.Call, name: str) -> Kinds:
    """`dict.fromkeys(…)`."""
    positional, keywords = functions.arguments_of(a, node)
    if keywords:
        raise Refused(f"calls dict.{name}() with keywords", node)
    if name != "fromkeys" or len(positional) not in (1, 2):
        raise Refused(f"uses dict.{name}", node)
    keys = lazy.iterate(a, positional[0], node)
    return a.holding(node, "dict", positional[1] if len(positional) > 1 else NONE, keys)


CLASSES = frozenset({"int", "float", "str", "bool", "list", "dict", "tuple", "set", "bytes", "frozenset", "range"})


def _isinstance(a: Analysis, node: ast.Call) -> Kinds:
    a.value(node.args[0])
    classes = node.args[1].elts if isinstance(node.args[1], ast.Tuple) else [node.args[1]]
    for one in classes:
        for kind in in_order(a.value(one)):
            known = isinstance(kind, Thing) and (
                (kind.shape == "tuple" and all(isinstance(i, Thing) and i.name in CLASSES for i in kind.held()))
                or (kind.shape == "builtin" and kind.name in CLASSES)
                or kind.shape in ("class", "exception class")
                or (kind.shape == "type" and kind.name != "datetime.date")
            )
            if not known:
                raise Refused("asks for an instance of an unusual type", node)
    return BOOL


TYPED = frozenset({*NUMBERS, "str", "bytes", "none", "any", "list", "tuple", "dict", "set", "instance"})


def _type(a: Analysis, node: ast.Call) -> Kinds:
    """`type(x)` is fine to compare with, not to show."""
    kinds = a.value(node.args[0])
    if any(shape_of(kind) not in TYPED for kind in kinds):
        raise Refused("asks for a type", node)
    own = any(shape_of(kind) == "instance" for kind in kinds)
    return frozenset({a.thing(node, "class object" if own else "type object")})


HANDLERS: dict[str, Callable[[Analysis, ast.Call], Kinds]] = {
    "str": _str,
    "repr": _repr,
    "int": _int,
    "float": _float,
    "bool": _bool,
    "list": _list,
    "tuple": _tuple,
    "set": _set_of("set"),
    "frozenset": _set_of("frozenset"),
    "dict": _dict,
    "isinstance": _isinstance,
    "type": _type,
}
