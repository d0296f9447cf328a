"""Serialises a script's value as JSON: plain values with the C encoder, others as the nearest JSON value.

docs/values.md has the rules. All of this runs under the script's own limits, because a value can be exponentially
larger as text, and because its `__repr__` or `__iter__` can do anything.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import dataclasses
import datetime as dt
import decimal
import enum
import fractions
import inspect
import io
import json
import re
import sys
import uuid
from collections import deque
from collections.abc import ItemsView, Iterable, Iterator, KeysView, Mapping, Sequence, ValuesView
from collections.abc import Set as AnySet
from json.encoder import encode_basestring_ascii as _quote
from pathlib import PurePath
from typing import Any

from paddock.guest.python import errors, limits, notices, tables, tasks
from paddock.guest.python.tables import Pairs

CHECKED_CONTAINERS = 500
SECONDS = "A timedelta is a number of seconds in the result."
_LISTS = (list, tuple, set, frozenset, range, deque, KeysView, ValuesView, ItemsView)
_TEXTS = (PurePath, decimal.Decimal, uuid.UUID, fractions.Fraction)
_KEEP = {
    "matplotlib": "keep a figure with `fig.savefig('a.png')`, then `await create_artifact('a.png', <its bytes>)`.",
    "PIL": "keep an image with `image.save('a.png')`, then `await create_artifact('a.png', <its bytes>)`.",
    "plotly": "keep a figure with `await create_artifact('a.html', fig.to_html())`.",
}
shows_figures = False
"""Whether figures and images are shown, so that a script need not keep them."""
_SHOWN = ("matplotlib", "PIL")
_PLAIN = frozenset({dict, list, tuple, set, Pairs})
_NOT_FINITE = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}
_UNIFORM: tuple[set[type], ...] = (set(), {str}, {int})
"""Key types of most dicts. Keys of only one of these types never collide."""
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
_CONSTANTS: dict[object, str] = {None: "null", True: "true", False: "false"}
# A lone surrogate in JSON text: not part of a pair, and not after an escaped backslash.
_SURROGATES = re.compile(r"\\\\|\\ud[89ab][0-9a-f]{2}\\ud[c-f][0-9a-f]{2}|(\\ud[89a-f][0-9a-f]{2})")


class _NotPlain(Exception):
    """The value contains something that is not JSON."""


def _refuse(value: object) -> object:
    raise _NotPlain


_encode_plain = json.JSONEncoder(allow_nan=False, default=_refuse).encode


def text_of(value: object, depth: int) -> str:
    """The JSON text of `value`, which may be nested about `depth` levels deep."""
    limits.allow_recursion(depth)
    sys.set_int_max_str_digits(sys.int_info.default_max_str_digits)  # the host decodes no more digits
    # Since 3.12 the C encoder has its own recursion limit; the slow path obeys only ours.
    with contextlib.suppress(_NotPlain, TypeError, ValueError, RecursionError):
        text = without_surrogates(_encode_plain(value))
        if type(value) is dict or type(value) is list:
            _find_colliding_keys(value)
        return text
    limits.allow_recursion(2 * depth)  # the slow path needs two frames per level
    writer = _Writer()
    writer.write(value)
    return without_surrogates("".join(writer.parts))


def without_surrogates(text: str) -> str:
    """Replace each lone surrogate in JSON text with U+FFFD, because readers reject them."""
    if "\\ud" not in text:
        return text
    return _SURROGATES.sub(lambda match: r"\ufffd" if match[1] else match[0], text)


class _Writer:
    """Writes a value as JSON, piece by piece."""

    __slots__ = ("_in_table", "_open_ids", "parts")

    def __init__(self) -> None:
        self.parts: list[str] = []
        self._open_ids: set[int] = set()
        self._in_table = False  # a missing number of a table is null, as a missing date is

    def write(self, value: Any) -> None:
        if value is None:
            self.parts.append("null")
        elif isinstance(value, str):
            self.parts.append(_quote(value))
        elif isinstance(value, bool):
            self.parts.append("true" if value else "false")
        elif isinstance(value, int):
            self.parts.append(int.__repr__(value))
        elif isinstance(value, float):
            self.parts.append(self._float(value))
        elif id(value) in self._open_ids:
            raise ValueError("the result contains itself")
        else:
            self._open_ids.add(id(value))
            was_in_table = self._in_table
            plain = _to_plain(value)
            if isinstance(plain, (Pairs, list)):
                self._in_table = was_in_table or (type(value) not in _PLAIN and tables.is_table_type(type(value)))
            if isinstance(plain, Pairs):
                self._write_pairs(plain.pairs)
            elif isinstance(plain, list):
                self._write_items(plain)
            else:
                self.write(plain)
            self._in_table = was_in_table
            self._open_ids.discard(id(value))

    def _write_pairs(self, pairs: Iterable[tuple[Any, Any]]) -> None:
        separator = "{"
        texts: list[str] = []
        has_other_keys = False
        for key, item in pairs:
            text = _key(key)
            texts.append(text)
            has_other_keys = has_other_keys or not isinstance(key, str)
            self.parts.append(f"{separator}{_quote(text)}: ")
            self.write(item)
            separator = ", "
        self.parts.append("{}" if separator == "{" else "}")
        if has_other_keys and len(set(texts)) < len(texts):
            _warn_of_colliding_keys(texts)

    def _write_items(self, items: Iterable[Any]) -> None:
        separator = "["
        try:
            for item in items:
                self.parts.append(separator)
                self.write(item)
                separator = ", "
        except MemoryError:
            self.parts.clear()  # CPython needs some memory to raise it through all the frames
            raise
        self.parts.append("[]" if separator == "[" else "]")

    def _float(self, value: float) -> str:
        text = float.__repr__(value)
        name = _NOT_FINITE.get(text)
        if name is None:
            return text
        if not self._in_table:
            notices.warn(f'{name} in the result is the text "{name}", because JSON has no such number.')
            return f'"{name}"'
        if text != "nan":
            notices.warn(f"{name} in a table is null in the result, because JSON has no such number.")
        return "null"


def _warn_of_colliding_keys(texts: list[str]) -> None:
    text = next(text for text in texts if texts.count(text) > 1)
    notices.warn(f"Two keys of a dict are both {_quote(text[:50])} as text; only the last one is in the result.")


def _find_colliding_keys(value: object) -> None:
    """Warn if two keys of a dict have the same text, such as 1 and "1". Looks into the first containers only."""
    stack = [value]
    for _ in range(CHECKED_CONTAINERS):
        if not stack:
            return
        item = stack.pop()
        if type(item) is dict:
            if set(map(type, item)) not in _UNIFORM:
                texts = [_key(key) for key in item]
                if len(set(texts)) < len(texts):
                    _warn_of_colliding_keys(texts)
            item = item.values()
        stack.extend(inner for inner in item if type(inner) is dict or type(inner) is list)  # type: ignore[attr-defined]


def _key(key: object) -> str:
    if isinstance(key, str):
        return key
    if isinstance(key, float):
        text = float.__repr__(key)
        return _NOT_FINITE.get(text, text)
    if isinstance(key, enum.Enum):
        return _key(key.value)
    if key is None or isinstance(key, bool):
        return _CONSTANTS[key]
    return int.__repr__(key) if isinstance(key, int) else str(key)


def _to_plain(value: Any) -> Any:
    """Convert `value` to Pairs, a list or a simpler value."""
    kind = type(value)
    if kind is Pairs:
        return value
    if issubclass(kind, (dict, Mapping)):
        return Pairs(value.items())
    if issubclass(kind, _LISTS):
        return list(value)
    if tables.is_table_type(kind):
        plain = tables.to_plain(value)
        if "imedelta" in kind.__name__ and plain is not None:
            notices.warn(SECONDS)
        return _text_of_object(value, kind) if plain is tables.NO_FORM else plain
    if issubclass(kind, (dt.date, dt.time)):
        return value.isoformat()
    if issubclass(kind, dt.timedelta):
        notices.warn(SECONDS)
        return value.total_seconds()
    if issubclass(kind, (bytes, bytearray, memoryview)):
        return {"type": "bytes", "base64": base64.b64encode(bytes(value)).decode()}
    if issubclass(kind, enum.Enum):
        return value.value
    if issubclass(kind, _TEXTS):
        return str(value)
    if inspect.iscoroutine(value) or asyncio.isfuture(value):
        raise tasks.never_awaited(value)
    return _object_to_plain(value, kind)


def _object_to_plain(value: Any, kind: type) -> Any:
    if issubclass(kind, type):
        return _text_of_object(value, kind)
    if dataclasses.is_dataclass(kind):
        return Pairs((field.name, getattr(value, field.name)) for field in dataclasses.fields(value))
    if callable(dump := getattr(kind, "model_dump", None)):
        return dump(value)
    for names in ("__struct_fields__", "__attrs_attrs__"):
        if isinstance(fields := getattr(kind, names, None), tuple):
            field_names = [field if isinstance(field, str) else field.name for field in fields]
            return Pairs((name, getattr(value, name)) for name in field_names)
    if issubclass(kind, (AnySet, Sequence)) or (issubclass(kind, Iterator) and not issubclass(kind, io.IOBase)):
        return list(value)
    return repr(value) if issubclass(kind, complex) else _text_of_object(value, kind)


def _text_of_object(value: Any, kind: type) -> str:
    """The text of a value that has no JSON form, without an address. Warns about it."""
    text = without_address(repr(value))
    library = str(getattr(kind, "__module__", "")).partition(".")[0]
    if shows_figures and library in _SHOWN:
        return text
    advice = _KEEP.get(library, "return its data instead, for example as a dict.")
    notices.warn(f"{without_form(kind)}, so the result has only its text: {advice}")
    return text


def without_form(kind: type) -> str:
    """How the warning about a value of this type begins."""
    what = "A class" if issubclass(kind, type) else f"An object of type {errors.name_of(kind)}"
    return f"{what} has no JSON form"


def without_address(text: str) -> str:
    """The `repr()` of an object without its address and its module `__main__`."""
    return _ADDRESS.sub("", text).replace("<__main__.", "<")


def json_default(value: Any) -> Any:
    """Convert a numpy number or array in a tool's arguments. Raises TypeError for other values that are not JSON."""
    if tables.is_table_type(type(value)) and type(value).__module__.partition(".")[0] == "numpy":
        plain = tables.to_plain(value)
        if not isinstance(plain, str) and plain is not tables.NO_FORM:
            return plain
    raise TypeError(f"Object of type {type(value).__name__} is not JSON serializable")
