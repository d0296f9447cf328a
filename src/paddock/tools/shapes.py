"""Types as far as Python and TypeScript both have them: what schemas are read into and stubs are written from."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

MEMBERS = 20
CHOICES = 100
CHOICE_CHARACTERS = 100
NAME_CHARACTERS = 80
_EXACT_INTEGERS = 2**53
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")


@dataclass(frozen=True, slots=True)
class Plain:
    """A type that has a name in every language: string, integer, number, boolean, null, any."""

    name: str


@dataclass(frozen=True, slots=True)
class Choice:
    """One of these values."""

    values: tuple[str | int | bool, ...]


@dataclass(frozen=True, slots=True)
class ListOf:
    item: Shape


@dataclass(frozen=True, slots=True)
class MapOf:
    """An object whose keys are not known."""

    value: Shape


@dataclass(frozen=True, slots=True)
class Either:
    members: tuple[Shape, ...]


@dataclass(frozen=True, slots=True)
class Named:
    """The record of this name."""

    name: str


Shape: TypeAlias = Plain | Choice | ListOf | MapOf | Either | Named
ANY, NULL = Plain("any"), Plain("null")


@dataclass(frozen=True, slots=True)
class Field:
    name: str
    shape: Shape
    is_required: bool
    note: str


@dataclass(frozen=True, slots=True)
class Record:
    """An object with known fields. `extra` is what others may hold; None: there are no others."""

    name: str
    fields: tuple[Field, ...]
    extra: Shape | None = None


class Names:
    """Hands out names of types, each once."""

    def __init__(self, taken: Iterable[str]) -> None:
        self._taken = set(taken)

    def take(self, wanted: str) -> str:
        name, number = wanted, 2
        while name in self._taken:
            name, number = f"{wanted}{number}", number + 1
        self._taken.add(name)
        return name

    def release(self, name: str) -> None:
        self._taken.discard(name)


def type_name(text: str) -> str:
    """`text` as it would be part of a type's name: `order-lines` is `OrderLines`."""
    return "".join(word[0].upper() + word[1:].lower() for word in _WORDS.findall(text[:NAME_CHARACTERS]))


def either(shapes: Iterable[Shape]) -> Shape:
    """One of `shapes`: nothing twice, nothing that another includes, null last."""
    flat = [inner for shape in shapes for inner in (shape.members if isinstance(shape, Either) else (shape,))]
    choices = [shape for shape in flat if isinstance(shape, Choice)]
    if len(choices) > 1:
        together = choice([value for shape in choices for value in shape.values])
        flat = [together, *(shape for shape in flat if not isinstance(shape, Choice))]
    members = dict.fromkeys(flat)
    if ANY in members or len(members) > MEMBERS:
        return ANY
    if Plain("number") in members:
        members.pop(Plain("integer"), None)
    if NULL in members:
        members[NULL] = members.pop(NULL)
    return next(iter(members)) if len(members) == 1 else Either(tuple(members)) if members else ANY


def choice(values: list[Any]) -> Shape:
    """These values where they can be written down; else their types."""
    if len(values) > 10 * CHOICES:
        return ANY
    shown = [value for value in values if value is not None]
    distinct = {(type(value), value): value for value in shown if isinstance(value, str | int)}
    if len(distinct) > CHOICES or not all(_is_writable(value) for value in shown):
        return either(Plain(_type_of(value)) for value in values) if values else ANY
    chosen: list[Shape] = [Choice(tuple(distinct.values()))] if distinct else []
    return either(chosen + [NULL] * (len(shown) < len(values)))


def _is_writable(value: object) -> bool:
    if isinstance(value, str):
        return len(value) <= CHOICE_CHARACTERS
    return isinstance(value, int) and abs(value) < _EXACT_INTEGERS


def _type_of(value: object) -> str:
    if value is None:
        return "null"
    for kinds, name in ((bool, "boolean"), (str, "string"), (int, "integer"), (float, "number")):
        if isinstance(value, kinds):
            return name
    return "any"
