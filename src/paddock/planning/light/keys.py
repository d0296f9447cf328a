"""Keys that may be equal without being alike: of two such keys CPython keeps the first, and Monty the last."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import TYPE_CHECKING

from paddock.planning.light import depths, objects, sources, unlike
from paddock.planning.light.refusal import Refused
from paddock.planning.light.things import NUMBERS, STR, Kind, Kinds, Thing, in_order, shape_of
from paddock.planning.light.unlike import LOOKS, KeyUse

if TYPE_CHECKING:
    from paddock.planning.light.analysis import Analysis

ALIKE = frozenset({"str", "none", "bytes"})
"""Kinds whose values are alike where they are equal."""
SIGNED = "-"
"""Stands for floats as keys, among which 0.0 and -0.0 may be."""
Origins = tuple[ast.expr | None, ...]


def check(a: Analysis, made: Thing, node: ast.AST, stored: Kinds | None = None, origins: Origins = (None,)) -> None:
    """Refuse keys of `made` that are certain to clash; remember it where one that may clash is `stored` again.

    `stored`: the kinds of the keys that may take the place of others; all where it is None.
    `origins`: the expressions that these keys are in the script; None for what is not one.
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
    if made.keys <= ALIKE:
        return
    if "float" in made.keys and stored != frozenset():
        _grow(a, {SIGNED}, made.doubts)
    if not has_unknown(made.keys):
        return
    for origin in origins:
        _grow(a, sources.of_key(a, origin), made.sources)
    if not (made.keys if stored is None else stored) <= ALIKE:
        _grow(a, made.sources | _numbers_beside(made.keys), made.doubts)


def read(a: Analysis, thing: Thing, node: ast.AST) -> None:
    """Refuse to look at keys that may have been replaced by others, equal but not alike."""
    if thing.replaced:
        raise Refused(LOOKS, node)
    doubt(a, thing.doubts, node)


def doubt(a: Analysis, fields: set[str] | frozenset[str], node: ast.AST) -> None:
    """Remember that keys that come from these fields are looked at: the text that is given must not hold such."""
    if fields:
        _grow(a, fields, a.doubts)
        a.doubted = a.doubted or node


def use_of(a: Analysis) -> KeyUse | None:
    """What is to be asked of the text that the script is given, once all of it was interpreted."""
    if a.doubted is None:
        return None
    if sources.is_composed(a.facts):
        raise Refused(LOOKS, a.doubted)
    fields = frozenset(field for field in a.doubts if field[0] not in "=-")
    anywhere = a.scattered or unlike.ANYWHERE in fields
    if anywhere:
        fields |= {unlike.ANYWHERE}
    kinds = {field[1:] for field in a.doubts if field.startswith("=")}
    for name, lost in a.lost_numbers.items():
        if unlike.ANYWHERE in fields or name in (unlike.ANYWHERE, *fields):
            kinds |= lost
    if anywhere and a.asks:
        raise Refused(LOOKS, a.doubted)  # what a tool answers comes too late for another engine
    if len(kinds) > 1:
        raise Refused(LOOKS, a.doubted)
    if anywhere and a.divides:
        kinds.add("float")
    line = getattr(a.doubted, "lineno", None)
    signed = SIGNED in a.doubts
    computes = anywhere and (a.computes or a.facts.calculates)
    return unlike.KeyUse(line, fields, frozenset(kinds), computes=computes, signed=signed)


def lose_numbers(a: Analysis, kinds: Kinds | set[Kind], name: object) -> None:
    """Numbers of these kinds are put into a value of unknown kind, under this name."""
    place = name if isinstance(name, str) else unlike.ANYWHERE
    a.lost_numbers.setdefault(place, set()).update(
        "float" if kind == "dyadic" else str(kind) for kind in kinds & NUMBERS
    )


def _numbers_beside(kinds: Kinds | set[Kind], depth: int = 0) -> set[str]:
    """The kinds of number that the script itself puts beside values of unknown kind, each with a mark before it."""
    found: set[str] = set()
    if "any" in kinds:
        found |= {"=float" if kind == "dyadic" else f"={kind}" for kind in kinds & NUMBERS}
    rows = [kind for kind in kinds if isinstance(kind, Thing) and kind.shape in ("tuple", "record value", "instance")]
    columns: dict[object, set[Kind]] = {}
    for row in rows:
        for place, inside in row.fields.items():
            columns.setdefault(place, set(row.items)).update(inside)
        columns.setdefault(None, set()).update(row.items)
    if depth < 4:
        for column in columns.values():
            found |= _numbers_beside(column, depth + 1)
    return found


def _grow(a: Analysis, names: Iterable[str], cell: set[str]) -> None:
    before = len(cell)
    cell.update(names)
    a.changed = a.changed or len(cell) != before


def has_unknown(kinds: Kinds | set[Kind], depth: int = 0) -> bool:
    """Whether a value of unknown kind may be, or be part of, values of these kinds."""
    if "any" in kinds or depth > 4:
        return True
    shapes = ("tuple", "record value", "frozenset", "instance")
    things = [kind for kind in kinds if isinstance(kind, Thing) and kind.shape in shapes]
    return any(has_unknown(thing.items.union(*thing.fields.values()), depth + 1) for thing in things)


def inherit(a: Analysis, into: Thing, source: Thing) -> None:
    """Let `into`, which gets the keys of `source`, be as doubtful."""
    if source.replaced and not into.replaced:
        into.replaced = a.changed = True
    _grow(a, source.sources, into.sources)
    _grow(a, source.doubts, into.doubts)


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
