"""Literals and comprehensions of lists, sets, tuples and dicts."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from paddock.planning.light import depths, iterators, keys, lazy, objects, total, unbound
from paddock.planning.light.refusal import Refused
from paddock.planning.light.scopes import Scope
from paddock.planning.light.things import ANY, NOTHING, STR, Kind, Kinds, Thing, in_order, shape_of

if TYPE_CHECKING:
    from paddock.planning.light.analysis import Analysis


def dict_literal(a: Analysis, node: ast.Dict) -> Kinds:
    """`{key: value, **other}`."""
    made = a.thing(node, "dict")
    stored: set[Kind] = set()
    for key, value in zip(node.keys, node.values, strict=True):
        kinds = a.value(value)
        if key is None:
            for kind in in_order(kinds):
                if isinstance(kind, Thing) and kind.shape == "dict":
                    merge_dict(a, made, kind)
                    stored |= kind.keys
                elif kind == "any":
                    a.flow(ANY, made.items)
                    a.flow(keys.of_unknown(a), made.keys)
                else:
                    raise Refused("unpacks something other than a dict into a dict", value)
        elif isinstance(key, ast.Constant) and isinstance(key.value, str):
            a.flow(STR, made.keys)
            a.flow(kinds, made.fields.setdefault(key.value, set()))
        else:
            stored |= a.value(key)
            a.flow(stored, made.keys)
            a.flow(kinds, made.items)
    origins = [key for key in node.keys if key is not None and not isinstance(key, ast.Constant)]
    unpacked = [None] if "any" in a.lost_keys else []
    a.check_keys(made, node, NOTHING if len(node.keys) == 1 else frozenset(stored), (*origins, *unpacked))
    return frozenset({made})


def merge_dict(a: Analysis, into: Thing, source: Thing) -> None:
    """Let `into` hold what the dict `source` holds."""
    a.flow(source.items, into.items)
    a.flow(source.keys, into.keys)
    keys.inherit(a, into, source)
    for name, kinds in source.fields.items():
        a.flow(kinds, into.fields.setdefault(name, set()))


def _elements(a: Analysis, node: ast.List | ast.Set | ast.Tuple) -> tuple[list[Kinds], bool]:
    """The kinds of each element, and whether their number is known."""
    found: list[Kinds] = []
    exact = True
    for element in node.elts:
        if isinstance(element, ast.Starred):
            exact = False
            found.append(lazy.consume(a, element.value))
        else:
            found.append(a.value(element))
    return found, exact


def list_literal(a: Analysis, node: ast.List) -> Kinds:
    """`[x, *y]`."""
    return a.holding(node, "list", frozenset().union(*_elements(a, node)[0]))


def set_literal(a: Analysis, node: ast.Set) -> Kinds:
    """`{x, *y}`."""
    items: Kinds = frozenset().union(*_elements(a, node)[0])
    check_hashable(a, items, node)
    return a.holding(node, "set", items)


def check_hashable(a: Analysis, items: Kinds, node: ast.AST) -> None:
    """Refuse elements that may not be hashable, where the text of that error is looked at."""
    objects.check_key(items, node)
    depths.check_nested(a, items, node, "hashes")
    if any(shape_of(item) in ("list", "dict", "set", "any", "instance") for item in items):
        a.diverges(node, "TypeError", "an unhashable element")


def tuple_literal(a: Analysis, node: ast.Tuple) -> Kinds:
    """`(x, *y)`, whose places are told apart where their number is known."""
    elements, exact = _elements(a, node)
    made = a.thing(node, "tuple")
    if exact:
        for position, kinds in enumerate(elements):
            a.flow(kinds, made.fields.setdefault(position, set()))
    else:
        a.flow(frozenset().union(*elements), made.items)
    return frozenset({made})


def comprehension(
    a: Analysis, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp, *, ordered: bool = True
) -> None:
    """Enter the loops of a comprehension; the caller evaluates its element and restores the scope."""
    unbound.check(a, node)
    scope = a.scopes.get(id(node))
    if scope is None:
        scope = a.scopes[id(node)] = Scope("comprehension", a.scope)
    for number, generator in enumerate(node.generators):
        if number:
            a.scope = scope
        if isinstance(node, ast.GeneratorExp) and iterators.is_endless(a, generator.iter):
            raise Refused("makes a generator of something without end", node)
        items = lazy.consume(a, generator.iter, ordered=ordered)
        a.scope = scope
        a.bind(generator.target, items)
        for condition in generator.ifs:
            a.value(condition)
    a.scope = scope


def check_interleaved(a: Analysis, node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp) -> None:
    """A lazy value inside a comprehension is made bit by bit between its elements: one of both must not be seen."""
    source = node.generators[0].iter
    if not lazy.is_lazy(a, source):
        return
    methods = [inner.func for inner in ast.walk(node) if isinstance(inner, ast.Call)]
    if any(isinstance(method, ast.Attribute) and method.attr in lazy.MUTATORS for method in methods):
        raise Refused("changes something inside a comprehension over a lazy value", node)
    alone = total.lazy_is_total(a, source) and total.is_plain(a, source)
    beside = total.comprehension_is_total(a, node) and (total.lazy_is_total(a, source) or total.is_closed(a, node))
    if not alone and not beside:
        raise Refused("makes a comprehension over a lazy value that may fail or be seen at work", node)


def list_comp(a: Analysis, node: ast.ListComp) -> Kinds:
    """`[… for x in y]`."""
    before = a.scope
    comprehension(a, node)
    items = a.value(node.elt)
    a.scope = before
    check_interleaved(a, node)
    return a.holding(node, "list", items)


def set_comp(a: Analysis, node: ast.SetComp) -> Kinds:
    """`{… for x in y}`."""
    before = a.scope
    comprehension(a, node, ordered=False)
    items = a.value(node.elt)
    a.scope = before
    check_interleaved(a, node)
    if not total.comprehension_is_total(a, node):
        comprehension(a, node)  # the order in which elements are made can be seen
        a.scope = before
    check_hashable(a, items, node)
    return a.holding(node, "set", items)


def dict_comp(a: Analysis, node: ast.DictComp) -> Kinds:
    """`{…: … for x in y}`."""
    before = a.scope
    comprehension(a, node)
    named, values = a.value(node.key), a.value(node.value)
    a.scope = before
    check_interleaved(a, node)
    return a.holding(node, "dict", values, named, origin=node.key)
