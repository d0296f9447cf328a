"""Serialises a script's value as JSON: plain values with the C encoder, others as the nearest JSON value.

docs/values.md has the rules. All of this runs under the script's own limits, because a value can be exponentially
larger as text, and because its `__repr__` or `__iter__` can do anything.
"""

from __future__ import annotations

import asyncio
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
from collections.abc import Callable, ItemsView, Iterable, Iterator, KeysView, Mapping, Sequence, ValuesView
from collections.abc import Set as AnySet
from json.encoder import encode_basestring_ascii as _quote
from pathlib import PurePath
from typing import Any

from paddock.guest.python import limits, tables
from paddock.guest.python.tables import Pairs

NEVER_AWAITED = "the result is a coroutine that was never awaited: write `await` before the call"
_LISTS = (list, tuple, set, frozenset, range, deque, KeysView, ValuesView, ItemsView)
_TEXTS = (PurePath, decimal.Decimal, uuid.UUID, fractions.Fraction)
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
    # Since 3.12 the C encoder has a recursion limit of its own; the slow path obeys only ours.
    with contextlib.suppress(_NotPlain, TypeError, ValueError, RecursionError):
        return without_surrogates(_encode_plain(value))
    limits.allow_recursion(2 * depth)  # the slow path needs two frames per level
    parts: list[str] = []
    _write(value, parts.append, set())
    return without_surrogates("".join(parts))


def without_surrogates(text: str) -> str:
    """Replace each lone surrogate in JSON text with U+FFFD, because readers reject them."""
    if "\\ud" not in text:
        return text
    return _SURROGATES.sub(lambda match: r"\ufffd" if match[1] else match[0], text)


def _write(value: Any, write: Callable[[str], object], open_ids: set[int]) -> None:
    """Pass the JSON text of `value` to `write`, in parts. `open_ids` are the ids of the values that contain it."""
    if value is None:
        write("null")
    elif isinstance(value, str):
        write(_quote(value))
    elif isinstance(value, bool):
        write("true" if value else "false")
    elif isinstance(value, int):
        write(int.__repr__(value))
    elif isinstance(value, float):
        write(_float(value))
    elif id(value) in open_ids:
        raise ValueError("the result contains itself")
    else:
        open_ids.add(id(value))
        plain = _to_plain(value)
        if isinstance(plain, Pairs):
            _write_pairs(plain.pairs, write, open_ids)
        elif isinstance(plain, list):
            _write_items(plain, write, open_ids)
        else:
            _write(plain, write, open_ids)
        open_ids.discard(id(value))


def _write_pairs(pairs: Iterable[tuple[Any, Any]], write: Callable[[str], object], open_ids: set[int]) -> None:
    separator = "{"
    for key, item in pairs:
        write(f"{separator}{_quote(_key(key))}: ")
        _write(item, write, open_ids)
        separator = ", "
    write("{}" if separator == "{" else "}")


def _write_items(items: Iterable[Any], write: Callable[[str], object], open_ids: set[int]) -> None:
    separator = "["
    for item in items:
        write(separator)
        _write(item, write, open_ids)
        separator = ", "
    write("[]" if separator == "[" else "]")


def _float(value: float) -> str:
    text = float.__repr__(value)
    return {"nan": '"NaN"', "inf": '"Infinity"', "-inf": '"-Infinity"'}.get(text, text)


def _key(key: object) -> str:
    """The text of a key in a JSON object."""
    if isinstance(key, str):
        return key
    if isinstance(key, float):
        return _float(key).strip('"')
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
        return tables.to_plain(value)
    if issubclass(kind, (dt.date, dt.time)):
        return value.isoformat()
    if issubclass(kind, dt.timedelta):
        return value.total_seconds()
    if issubclass(kind, (bytes, bytearray, memoryview)):
        return bytes(value).decode("utf-8", "replace")
    if issubclass(kind, enum.Enum):
        return value.value
    if issubclass(kind, _TEXTS):
        return str(value)
    if inspect.iscoroutine(value) or asyncio.isfuture(value):
        raise TypeError(NEVER_AWAITED)
    return _object_to_plain(value, kind)


def _object_to_plain(value: Any, kind: type) -> Any:
    if issubclass(kind, type):
        return repr(value)
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
    return repr(value)


def json_default(value: Any) -> Any:
    """Convert a numpy number or array in a tool's arguments. Raises TypeError for other values that are not JSON."""
    if tables.is_table_type(type(value)) and type(value).__module__.partition(".")[0] == "numpy":
        plain = tables.to_plain(value)
        if not isinstance(plain, str):
            return plain
    raise TypeError(f"Object of type {type(value).__name__} is not JSON serializable")
