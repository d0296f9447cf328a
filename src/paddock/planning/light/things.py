"""Kinds of value, as the analysis sees them.

A kind is a name (`"int"`, `"str"`, `"datetime.date"`, `"any"` for what cannot be told) or a `Thing`: all the values that
one place in the script makes, with what they hold.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import Union

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

    shape: str  # list, tuple, dict, set, lazy, function, class, instance, module, builtin, …
    items: set[Kind] = field(default_factory=set)  # elements of a sequence, values of a dict
    keys: set[Kind] = field(default_factory=set)
    fields: dict[object, set[Kind]] = field(default_factory=dict)  # by constant key, position or attribute
    name: str = ""
    node: ast.AST | None = None
    scope: object = None
    of: Thing | None = None  # the class of an instance, the instance of a bound method

    def held(self) -> set[Kind]:
        """Everything that iterating, or reading any key, can give."""
        if not self.fields or self.shape not in ("dict", "tuple", "defaultdict", "Counter", "record value"):
            return self.items
        return self.items.union(*self.fields.values())


ORDERLESS = frozenset({"set", "frozenset"})
CALLABLE = frozenset({"function", "class", "builtin", "bound", "type", "record", "partial"})


def shape_of(kind: Kind) -> str:
    return kind if isinstance(kind, str) else kind.shape
