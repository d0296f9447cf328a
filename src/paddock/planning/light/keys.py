"""Keys that may be equal without being alike: of two such keys CPython keeps the first, and Monty the last."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from paddock.planning.light import depths, objects
from paddock.planning.light.refusal import Refused
from paddock.planning.light.things import NUMBERS, STR, Kind, Kinds, Thing, in_order, shape_of

if TYPE_CHECKING:
    from paddock.planning.light.analysis import Analysis

ALIKE = frozenset({"str", "none", "bytes"})
"""Kinds whose values are alike where they are equal."""


def check(a: Analysis, made: Thing, node: ast.AST, stored: Kinds | None = None) -> None:
    """Refuse keys of `made` that are certain to clash; remember it where one that may clash is `stored` again.

    `stored`: the kinds of the keys that may take the place of others; all where it is None.
    """
    if len(made.keys & NUMBERS) > 1:
        raise Refused("mixes kinds of number as keys", node)
    objects.check_key(made.keys, node)
    depths.check_nested(a, made.keys, node, "hashes")
    for key in made.keys:
        if key in ("re.Match", "re.Pattern", "text file", "binary file"):
            raise Refused(f"uses a value of kind {key} as a key", node)
        if shape_of(key) in ("list", "dict", "set", "any", "instance"):
            a.diverges(node, "TypeError", "an unhashable key")
    if not made.replaced and not (made.keys if stored is None else stored) <= ALIKE and _may_clash(a, made.keys):
        made.replaced = a.changed = True


def read(thing: Thing, node: ast.AST) -> None:
    """Refuse to look at keys that may have been replaced by others, equal but not alike."""
    if thing.replaced:
        raise Refused("looks at keys that may be equal to others without being alike", node)


def inherit(a: Analysis, into: Thing, source: Thing) -> None:
    """Let `into`, which gets the keys of `source`, be as doubtful."""
    if source.replaced and not into.replaced:
        into.replaced = a.changed = True


def of_unknown(a: Analysis) -> Kinds:
    """The kinds of the keys of a dict of unknown kind: text in JSON, and what the script itself put there."""
    return STR | a.lost_keys


def lose(a: Analysis, keys: Kinds | set[Kind]) -> None:
    """Keys of these kinds are put into a value of unknown kind."""
    a.flow(keys, a.lost_keys)


def _may_clash(a: Analysis, kinds: Kinds | set[Kind], depth: int = 0) -> bool:
    """Whether two values of these kinds may be equal without being alike."""
    if not kinds or kinds <= ALIKE:
        return False
    if len(kinds & NUMBERS) > 1 or depth > 4:
        return True
    if "any" in kinds and a.facts.has_unlike_numbers:
        return True
    if "float" in kinds and (a.facts.has_negatives or a.facts.subtracts):
        return True  # 0.0 and -0.0
    things = [kind for kind in in_order(kinds) if isinstance(kind, Thing)]
    rows = [thing for thing in things if thing.shape in ("tuple", "record value")]
    if len({thing if thing.shape == "record value" else None for thing in rows}) > 1:
        return True
    for thing in things:
        if thing.shape == "instance" and (objects.has(thing, "__eq__") or _clashing_fields(a, [thing], depth)):
            return True
    elements = [thing.items for thing in things if thing.shape == "frozenset"]
    return _may_clash(a, frozenset().union(*elements), depth + 1) or _clashing_fields(a, rows, depth)


def _clashing_fields(a: Analysis, things: list[Thing], depth: int) -> bool:
    """Whether what the same place of these tuples or objects holds may clash."""
    if any(thing.items for thing in things):
        return _may_clash(a, frozenset().union(*(thing.held() for thing in things)), depth + 1)
    columns: dict[tuple[int, object], set[Kind]] = {}
    for thing in things:
        for place, kinds in thing.fields.items():
            columns.setdefault((len(thing.fields), place), set()).update(kinds)
    return any(_may_clash(a, kinds, depth + 1) for kinds in columns.values())
