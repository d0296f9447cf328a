"""Kinds of value, as the analysis sees them.

A kind is a name (`"int"`, `"str"`, `"datetime.date"`, `"any"` for what cannot be told) or a `Thing`: all the values
that one place in the script makes, with what they hold.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Union

if TYPE_CHECKING:
    from paddock.planning.light.scopes import Scope

Kind = Union[str, "Thing"]
Kinds = frozenset[Kind]

NOTHING: Kinds = frozenset()
ANY: Kinds = frozenset({"any"})
INT: Kinds = frozenset({"int"})
FLOAT: Kinds = frozenset({"float"})
BOOL: Kinds = frozenset({"bool"})
STR: Kinds = frozenset({"str"})
NONE: Kinds = frozenset({"none"})
NUMBERS = frozenset({"int", "float", "bool", "dyadic"})
"""`dyadic`: a float that may be a binary fraction of 17 digits, whose last digit Monty writes otherwise."""
WHOLE = frozenset({"int", "bool"})


@dataclass(eq=False, slots=True)
class Thing:
    """All the values made at one place: their shape, and the kinds of what they hold."""

    shape: str  # list, tuple, dict, set, function, class, instance, module, builtin, …
    items: set[Kind] = field(default_factory=set)  # elements of a sequence, values of a dict
    keys: set[Kind] = field(default_factory=set)
    fields: dict[object, set[Kind]] = field(default_factory=dict)  # by constant key, position or attribute
    name: str = ""
    node: ast.AST | None = None
    scope: Scope | None = None  # the inside of a function or class
    of: Thing | None = None  # the class of an instance
    replaced: bool = False  # whether a key may have taken the place of one that is equal but not alike
    sources: set[str] = field(default_factory=set)  # the fields of JSON that keys of unknown kind come from
    doubts: set[str] = field(default_factory=set)  # of these, those by which a key may be stored again

    def held(self) -> set[Kind]:
        """Everything that iterating, or reading any key, can give."""
        if not self.fields or self.shape not in ("dict", "tuple", "defaultdict", "Counter", "record value"):
            return self.items
        return self.items.union(*self.fields.values())


ORDERLESS = frozenset({"set", "frozenset"})


def in_order(kinds: Kinds | set[Kind]) -> Iterable[Kind]:
    """`kinds`, always in the same order, so that the reason for a refusal does not depend on hashes."""
    return kinds if len(kinds) < 2 else sorted(kinds, key=_place)


def _place(kind: Kind) -> tuple[str, str, int, int]:
    if isinstance(kind, str):
        return kind, "", 0, 0
    return kind.shape, kind.name, getattr(kind.node, "lineno", 0), getattr(kind.node, "col_offset", 0)


def shape_of(kind: Kind) -> str:
    """The name of a kind, or the shape of a thing."""
    return kind if isinstance(kind, str) else kind.shape
