"""What a method or function gives, from the word that its signature ends in."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from paddock.planning.light import keys as seen
from paddock.planning.light import lazy
from paddock.planning.light.things import ANY, NONE, NOTHING, ORDERLESS, STR, Kind, Kinds, Thing

if TYPE_CHECKING:
    from paddock.planning.light.analysis import Analysis


def of_method(a: Analysis, node: ast.Call, kind: Kind, result: str, arguments: list[Kinds]) -> Kinds:
    """What a method of a value of this kind gives: often what it holds."""
    held: Kinds = frozenset(kind.held()) if isinstance(kind, Thing) else NOTHING
    keys: Kinds = frozenset(kind.keys) if isinstance(kind, Thing) else NOTHING
    if isinstance(kind, Thing) and result in ("keys", "item_pair", "items", "counted"):
        seen.read(a, kind, node)
    if result == "self":
        if not isinstance(kind, Thing):
            return frozenset({kind})
        made = a.thing(node, kind.shape, "copy")
        made.name = kind.name
        a.flow(held.union(*arguments) if kind.shape in ORDERLESS else held, made.items)
        a.flow(keys, made.keys)
        seen.inherit(a, made, kind)
        for name, kinds in kind.fields.items():
            a.flow(kinds, made.fields.setdefault(name, set()))
        return frozenset({made})
    if result == "item":
        return held
    if result == "value":
        return _value_result(node, kind, held, arguments)
    if result == "keys":
        return a.holding(node, "view", keys)
    if result == "values":
        return a.holding(node, "view", held)
    if result == "item_pair":
        return lazy.pair(a, node, [keys, held])
    if result in ("items", "counted"):
        return a.holding(node, "view" if result == "items" else "list", lazy.pair(a, node, [keys, held]))
    return plain(a, node, result)


def _value_result(node: ast.Call, kind: Kind, held: Kinds, arguments: list[Kinds]) -> Kinds:
    name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
    default = arguments[1] if len(arguments) > 1 else (NOTHING if name == "pop" else NONE)
    key = node.args[0]
    if isinstance(kind, Thing) and isinstance(key, ast.Constant) and isinstance(key.value, str):
        return frozenset(kind.fields.get(key.value, set()) | kind.items) | default
    return held | default


def plain(a: Analysis, node: ast.AST, result: str) -> Kinds:
    """What `result` says by itself, whatever the arguments are."""
    if result == "pairs":
        return a.holding(node, "view", lazy.pair(a, node, [seen.of_unknown(a), ANY]))
    if result == "names":
        return a.holding(node, "list", seen.of_unknown(a))
    if result == "text?":
        return frozenset({"str", "none"})
    if result == "match?":
        return frozenset({"re.Match", "none"})
    if result == "found":
        # Without groups or with one, texts; with several, tuples of them.
        return a.holding(node, "list", STR | a.holding(node, "tuple", STR, tag="groups"))
    shape, _, rest = result.partition(":")
    if rest:
        if shape == "dict":
            key, _, value = rest.partition(":")
            return a.holding(node, "dict", plain(a, node, value), frozenset({key}))
        return a.holding(node, shape, plain(a, node, rest))
    return frozenset({result})
