"""How the values of a script's variables look in a hint: short, and read without calling code of the script."""

from __future__ import annotations

import contextlib
import datetime as dt
import re
import sys
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Iterable
from decimal import Decimal
from itertools import islice
from json import JSONDecoder
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

from paddock.guest.python import errors, tables
from paddock.guest.python.answers import WrappedAnswer

MAX_CHARACTERS = 100
MAX_CANDIDATES = 5000
SHOWN_KEYS = 5
SEARCHED_ITEMS = 1000
VALUE_CHARACTERS = 40
MAX_JSON = 200_000
"""Characters of a text that is tried as JSON."""
DICTS = (dict, OrderedDict, defaultdict, Counter, WrappedAnswer)
PLAIN = (str, int, float, bool, type(None))
_decode = JSONDecoder().decode
_WITH_REPR = (dt.date, dt.time, dt.timedelta, Decimal)
_CALLED = (FunctionType, BuiltinFunctionType, MethodType, ModuleType)
_mro = type.__dict__["__mro__"].__get__
_module_dict = vars(ModuleType)["__dict__"].__get__
_module = type.__dict__["__module__"].__get__  # a metaclass may define its own


def sample(value: object) -> str:
    """A plain value, or the type and the parts of another; empty for functions, modules and classes."""
    kind: Any = type(value)
    if kind in (*PLAIN, bytes):
        text = repr(value[:VALUE_CHARACTERS] if isinstance(value, (str, bytes)) else value)
        return text if len(text) <= VALUE_CHARACTERS + 3 else f"{text[:VALUE_CHARACTERS]}…"
    name, module = errors.name_of(kind), _module(kind)
    if kind is dt.datetime:
        return f"the datetime {value}"[:VALUE_CHARACTERS]
    if kind in _WITH_REPR:
        return repr(value)[: 2 * VALUE_CHARACTERS]
    if kind in DICTS or _is_row(kind):
        keys = key_texts(value)
        return f"a {name} with the keys {_listed(keys)}{_only_part(value)}" if keys else f"an empty {name}"
    if kind in (list, tuple, set, frozenset, deque):
        return _collection(value, name)
    if is_frame(value):
        return _table(value, name)
    if (module, name) == ("numpy", "ndarray"):
        return f"an array of shape {value.shape}, {value.dtype}"  # type: ignore[attr-defined]
    return "" if kind in _CALLED or type in _mro(kind) else f"a {name}"


def _only_part(value: Any) -> str:
    """What is in a dict that has one key only, if it is text or a list: the script may take the dict for it."""
    part = next(iter(dict.values(value))) if type(value) in DICTS and dict.__len__(value) == 1 else None
    if type(part) is not str:
        return " (a list)" if type(part) is list else ""
    if len(part) <= MAX_JSON and part.lstrip()[:1] in ("[", "{"):
        with contextlib.suppress(ValueError, RecursionError):
            _decode(part)
            return " (JSON text)"
    return " (text)"


def _collection(value: Any, name: str) -> str:
    """Size and first item: the others are usually like it."""
    if not value:
        return f"an empty {name}"
    text, first = f"a {name} of {len(value)}", next(iter(value))
    if type(first) in PLAIN:
        return f"{text}, first {sample(first)}"
    if type(first) in DICTS:
        return f"{text} dicts with the keys {_listed(key_texts(first))}"
    return f"{text}, first a {errors.name_of(type(first))}"


def _table(value: Any, name: str) -> str:
    if name == "Series":
        return f"a column of {value.dtype}{_text_in(value)}"
    rows = "" if "GroupBy" in name else f" of {len(value)} rows"
    return f"a table{rows} with the columns {_listed(key_texts(value))}"


def _text_in(column: Any) -> str:
    """A text of a column that is not a number, rather one with digits than 'n/a'; else its first text."""
    if str(column.dtype) not in ("str", "object", "string"):
        return ""
    texts = [item for item in islice(column, SEARCHED_ITEMS) if type(item) is str]
    others = [text for text in texts if not re.fullmatch(r"-?\d+(\.\d+)?", text)] or texts
    chosen = next((text for text in others if re.search(r"\d", text)), next(iter(others), None))
    return "" if chosen is None else f" such as {chosen[:VALUE_CHARACTERS]!r}"


def _listed(names: list[str]) -> str:
    return ", ".join(names[:SHOWN_KEYS]) + (", …" if len(names) > SHOWN_KEYS else "")


def key_texts(value: object) -> list[str]:
    """The keys of a plain dict or of a row, or the columns of a table."""
    kind: Any = type(value)
    keys: Iterable[Any] = ()
    if kind in DICTS:
        keys = islice(dict.keys(value), MAX_CANDIDATES)  # type: ignore[arg-type]
    elif _is_row(kind):
        keys = value.keys()  # type: ignore[attr-defined]
    elif is_frame(value):
        labels = "index" if errors.name_of(kind) == "Series" else "columns"
        table = getattr(value, "obj", value) if "GroupBy" in errors.name_of(kind) else value
        keys = islice(getattr(table, labels, ()), MAX_CANDIDATES)
    return [str(key)[:MAX_CHARACTERS] for key in keys if type(key) in PLAIN]


def is_frame(value: object) -> bool:
    """Whether it is a table of a library that Paddock knows."""
    kind = type(value)
    name, module = errors.name_of(kind), _module(kind)
    if name not in ("DataFrame", "DataFrameGroupBy", "Series") or type(module) is not str:
        return False
    owner = sys.modules.get(module) if module.startswith(tuple(tables.LIBRARIES)) else None
    return type(owner) is ModuleType and _module_dict(owner).get(name) is kind  # a script's class may claim the name


def _is_row(kind: type) -> bool:
    return errors.name_of(kind) == "Row" and _module(kind) == "sqlite3"
