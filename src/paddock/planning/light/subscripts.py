"""Items and slices, read and set."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from paddock.planning.light import lazy, objects, sources
from paddock.planning.light.keys import doubt, has_unknown, lose, lose_numbers, read
from paddock.planning.light.refusal import Refused
from paddock.planning.light.things import ANY, INT, NOTHING, NUMBERS, STR, WHOLE, Kind, Kinds, Thing, in_order, shape_of

if TYPE_CHECKING:
    from paddock.planning.light.analysis import Analysis


def subscript(a: Analysis, node: ast.Subscript) -> Kinds:
    """`value[key]` or `value[start:end]`."""
    if isinstance(node.slice, ast.Tuple) and any(isinstance(part, ast.Slice) for part in node.slice.elts):
        raise Refused("slices in several dimensions", node)
    receivers = a.value(node.value)
    if isinstance(node.slice, ast.Slice):
        return _slice(a, node, receivers, node.slice)
    keys = a.value(node.slice)
    if any(shape_of(kind) in ("dict", "any", "defaultdict", "Counter") for kind in receivers):
        a.keys_read.setdefault(node.lineno, set()).update(keys)
    result: set[Kind] = set()
    for kind in in_order(receivers):
        result |= _load_from_thing(a, kind, node, keys) if isinstance(kind, Thing) else _load(a, kind, node, keys)
    return frozenset(result)


def _slice(a: Analysis, node: ast.Subscript, receivers: Kinds, piece: ast.Slice) -> Kinds:
    for bound in (piece.lower, piece.upper, piece.step):
        if bound is not None:
            a.value(bound)
    result: set[Kind] = set()
    for kind in in_order(receivers):
        shape = shape_of(kind)
        if shape in ("list", "tuple") and isinstance(kind, Thing):
            result |= a.holding(node, shape, kind.held())
        elif kind in ("str", "bytes", "any"):
            result.add(kind)
        elif shape == "range":
            raise Refused("slices a range", node)
        elif shape in ("int", "float", "none", "bool"):
            a.diverges(node, "TypeError", "slicing")
        else:
            raise Refused(f"slices a {shape}", node)
    return frozenset(result)


def _load(a: Analysis, kind: str, node: ast.Subscript, keys: Kinds) -> Kinds:
    if kind == "any":
        if not keys <= {"str", "int"} or not isinstance(node.slice, ast.Constant):
            a.diverges(node, "KeyError", "a key that may not be text")
        return ANY
    if kind == "re.Match":
        return frozenset({"str", "none"})
    a.diverges(node, "TypeError", "an index")
    return {"str": STR, "bytes": INT}.get(kind, NOTHING)


def _load_from_thing(a: Analysis, thing: Thing, node: ast.Subscript, keys: Kinds) -> Kinds:
    if thing.shape == "dict":
        return _load_from_dict(a, thing, node, keys)
    if thing.shape == "Counter":
        return frozenset(thing.held() | INT)
    if thing.shape == "defaultdict":
        a.flow(keys, thing.keys)
        a.check_keys(thing, node, NOTHING, (node.slice,))
        return frozenset(thing.held())
    if thing.shape in ("list", "tuple", "deque", "record value"):
        return _load_from_sequence(a, thing, node, keys)
    if thing.shape == "range":
        return INT
    if thing.shape == "instance":
        return objects.special_method(a, node, thing, "__getitem__", [keys])
    raise Refused(f"indexes a {thing.shape}", node)


def _load_from_dict(a: Analysis, thing: Thing, node: ast.Subscript, keys: Kinds) -> Kinds:
    if not keys <= STR:
        a.diverges(node, "KeyError", "a key that may not be text")
    constant = node.slice.value if isinstance(node.slice, ast.Constant) else None
    if not isinstance(constant, str):
        return frozenset(thing.held())
    return frozenset(thing.fields.get(constant, set()) | thing.items)


def _load_from_sequence(a: Analysis, thing: Thing, node: ast.Subscript, keys: Kinds) -> Kinds:
    if thing.shape in ("tuple", "record value") and isinstance(node.slice, ast.Constant):
        position = node.slice.value
        if isinstance(position, int) and position in thing.fields:
            return frozenset(thing.fields[position])
    if "bool" in keys:
        raise Refused("indexes with a truth value", node)
    if not keys <= WHOLE:
        a.diverges(node, "TypeError", "an index")
    return frozenset(thing.held() if thing.shape != "record value" else frozenset().union(*thing.fields.values()))


def store(a: Analysis, target: ast.Subscript, kinds: Kinds) -> None:
    """`value[key] = …`"""
    receivers = a.value(target.value)
    keys = NOTHING if isinstance(target.slice, ast.Slice) else a.value(target.slice)
    for kind in in_order(receivers):
        if kind == "any":
            at = target.slice.value if isinstance(target.slice, ast.Constant) else None
            check_stored(a, kinds | keys, target, at)
            lose(a, keys)
            if keys & {"bool", "float"}:
                raise Refused("uses a key that may equal another of another kind", target)
            a.scattered = a.scattered or ("any" in kinds and not keys <= INT and not isinstance(at, str))
            if has_unknown(keys):
                doubt(a, sources.of_key(a, target.slice), target)
        elif not isinstance(kind, Thing):
            a.diverges(target, "TypeError", "an assignment to an item")
        else:
            a.note_change(kind, target)
            _store_in_thing(a, target, kind, keys, kinds)


def _store_in_thing(a: Analysis, target: ast.Subscript, thing: Thing, keys: Kinds, kinds: Kinds) -> None:
    if thing.shape == "list":
        if isinstance(target.slice, ast.Slice) and any(shape_of(kind) in (*NUMBERS, "none") for kind in kinds):
            raise Refused("assigns something other than a sequence to a slice", target)
        a.flow(lazy.iterate(a, kinds, target) if isinstance(target.slice, ast.Slice) else kinds, thing.items)
    elif thing.shape == "Counter" and not kinds <= NUMBERS | ANY:
        raise Refused("counts in something other than numbers", target)
    elif thing.shape in ("dict", "defaultdict", "Counter"):
        constant = target.slice.value if isinstance(target.slice, ast.Constant) else None
        a.flow(keys, thing.keys)
        a.check_keys(thing, target, NOTHING if id(target) in a.facts.first_stores else keys, (target.slice,))
        by_name = isinstance(constant, str) and thing.shape == "dict"
        a.flow(kinds, thing.fields.setdefault(constant, set()) if by_name else thing.items)
    elif thing.shape == "deque":
        a.flow(kinds, thing.items)
    elif thing.shape == "instance":
        objects.special_method(a, target, thing, "__setitem__", [keys, kinds])
    elif thing.shape != "tuple":
        raise Refused(f"assigns to an item of a {thing.shape}", target)


def check_stored(a: Analysis, kinds: Kinds, node: ast.AST, name: object = None) -> None:
    """What is put into a value of unknown kind is lost sight of: only plain data may be."""
    waiting, seen = [*in_order(kinds)], set()
    lose_numbers(a, kinds, name)
    while waiting:
        kind = waiting.pop()
        if not isinstance(kind, Thing) or id(kind) in seen:
            continue
        seen.add(id(kind))
        if kind.shape not in ("list", "dict", "tuple"):
            raise Refused(f"puts a {kind.shape} into a value of unknown kind", node)
        if kind.shape == "dict":
            read(a, kind, node)
            lose(a, kind.keys)
        lose_numbers(a, kind.items, None)
        a.scattered = a.scattered or (kind.shape == "dict" and "any" in kind.items)
        for place, inside in kind.fields.items():
            lose_numbers(a, inside, place)
        waiting += [*in_order(kind.held()), *in_order(kind.keys)]
