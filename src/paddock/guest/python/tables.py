"""Converts numpy, pandas and polars values to lists, records and numbers, without importing those libraries."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

from paddock.guest.python import notices

_bases = type.__dict__["__mro__"].__get__  # a metaclass may define its own `__mro__`
LIBRARIES = frozenset({"numpy", "pandas", "polars"})


class Pairs:
    """Key-value pairs that become a JSON object, in order, duplicate keys included."""

    __slots__ = ("pairs",)

    def __init__(self, pairs: Iterable[tuple[Any, Any]]) -> None:
        self.pairs = pairs


def is_table_type(kind: type) -> bool:
    """Whether a type belongs to one of LIBRARIES, or inherits from one of their types."""
    modules = (getattr(base, "__module__", None) for base in _bases(kind))
    return any(isinstance(module, str) and module.partition(".")[0] in LIBRARIES for module in modules)


NO_FORM = object()
"""What `to_plain` returns for a value that has no JSON form."""


def to_plain(value: Any) -> Any:
    """Convert `value` to Pairs, a list or a simpler value; NO_FORM if nothing fits."""
    names = {base.__name__ for base in _bases(type(value))}
    if names & {"NaTType", "NAType"}:
        return None
    if "DataFrame" in names:
        return _records(value)
    if "Series" in names:
        return _series(value)
    if names & {"Timestamp", "Timedelta"}:
        return value.isoformat() if "Timestamp" in names else value.total_seconds()
    if names & {"datetime64", "timedelta64"}:
        return _time(value)
    if names & {"Period", "Interval"}:
        return str(value)
    if names & {"ndarray", "generic"}:
        return list(value) if value.dtype.kind in "mM" and value.ndim else _from_numpy(value)
    if names & {"Index", "ExtensionArray"}:
        return list(value)
    return NO_FORM


def _from_numpy(value: Any) -> Any:
    """A numpy array or number as plain Python values, or its `repr()` if it has no plain form."""
    plain = value.tolist()
    return repr(value) if type(plain) is type(value) else plain


def _time(value: Any) -> Any:
    numpy = sys.modules["numpy"]
    if numpy.isnat(value):
        return None
    return str(value) if type(value).__name__ == "datetime64" else float(value / numpy.timedelta64(1, "s"))


def _records(frame: Any) -> Any:
    """A list of records. The index becomes a column unless it is the default index."""
    if hasattr(frame, "to_dicts"):  # polars
        return list(frame.to_dicts())
    if not _is_default_index(frame.index):
        frame = frame.reset_index(allow_duplicates=True)
    columns = list(frame.columns)
    if len(set(map(str, columns))) < len(columns):
        notices.warn("Two columns of a table have the same name; in each record of the result one hides the other.")
    return [Pairs(zip(columns, row, strict=True)) for row in frame.itertuples(index=False, name=None)]


def _series(series: Any) -> Any:
    """A list if the series has the default index, else an object."""
    if hasattr(series, "to_list") and not hasattr(series, "index"):  # polars
        return list(series.to_list())
    if _is_default_index(series.index):
        return list(series)
    return Pairs(zip(list(series.index), list(series), strict=True))


def _is_default_index(index: Any) -> bool:
    return type(index).__name__ == "RangeIndex" and index.name is None and (index.start, index.step) == (0, 1)
