"""`match` patterns, over kinds of value."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from paddock.planning.light import attributes, keys
from paddock.planning.light.refusal import Refused
from paddock.planning.light.things import ANY, Kind, Kinds, Thing, in_order

if TYPE_CHECKING:
    from paddock.planning.light.analysis import Analysis


def bind_pattern(a: Analysis, pattern: ast.pattern, subject: Kinds) -> None:
    """Bind the names that `pattern` captures from values of kinds `subject`."""
    if isinstance(pattern, ast.MatchValue):
        a.value(pattern.value)
    elif isinstance(pattern, ast.MatchOr):
        for inner in pattern.patterns:
            bind_pattern(a, inner, subject)
    elif isinstance(pattern, ast.MatchAs):
        if pattern.pattern is not None:
            bind_pattern(a, pattern.pattern, subject)
        if pattern.name is not None:
            a.flow(subject, a.scope.cell(pattern.name))
    elif isinstance(pattern, ast.MatchSequence):
        _sequence(a, pattern, subject)
    elif isinstance(pattern, ast.MatchMapping):
        _mapping(a, pattern, subject)
    elif isinstance(pattern, ast.MatchClass):
        _class(a, pattern, subject)


def _sequence(a: Analysis, pattern: ast.MatchSequence, subject: Kinds) -> None:
    items: set[Kind] = set()
    for kind in in_order(subject):
        if kind == "any":
            items |= ANY
        elif isinstance(kind, Thing) and kind.shape in ("list", "tuple"):
            items |= kind.held()
        elif isinstance(kind, Thing) and kind.shape not in ("dict", "instance", "set"):
            raise Refused(f"matches a {kind.shape} against a sequence", pattern)
    for inner in pattern.patterns:
        if isinstance(inner, ast.MatchStar):
            if inner.name is not None:
                a.flow(a.holding(inner, "list", items), a.scope.cell(inner.name))
        else:
            bind_pattern(a, inner, frozenset(items))


def _mapping(a: Analysis, pattern: ast.MatchMapping, subject: Kinds) -> None:
    for key in pattern.keys:
        a.value(key)
    held: set[Kind] = set()
    names: set[Kind] = set()
    for kind in in_order(subject):
        if kind == "any":
            held |= ANY
            names |= keys.of_unknown(a)
        elif isinstance(kind, Thing) and kind.shape == "dict":
            held |= kind.held()
            names |= kind.keys
            if pattern.rest is not None:
                keys.read(a, kind, pattern)
    for inner in pattern.patterns:
        bind_pattern(a, inner, frozenset(held))
    if pattern.rest is not None:
        a.flow(a.holding(pattern, "dict", held, names), a.scope.cell(pattern.rest))


PLAIN = frozenset({"int", "float", "str", "bool", "list", "dict", "tuple"})


def _class(a: Analysis, pattern: ast.MatchClass, subject: Kinds) -> None:
    for kind in in_order(a.value(pattern.cls)):
        if isinstance(kind, Thing) and kind.shape == "builtin" and kind.name in PLAIN:
            if pattern.kwd_patterns or len(pattern.patterns) > 1:
                raise Refused("matches attributes of a builtin", pattern)
            for inner in pattern.patterns:
                bind_pattern(a, inner, subject)
        elif isinstance(kind, Thing) and kind.shape == "class" and not pattern.patterns:
            instances = [one for one in subject if isinstance(one, Thing) and one.of is kind]
            for name, inner in zip(pattern.kwd_attrs, pattern.kwd_patterns, strict=True):
                found = [attributes.of_instance(one, name, pattern) for one in instances]
                bind_pattern(a, inner, frozenset().union(*found))
        else:
            raise Refused("matches a class in an unusual way", pattern)
