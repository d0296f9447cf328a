"""Values of numpy, pandas and polars as lists, records and numbers, known by their home, never imported here."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

_bases = type.__dict__["__mro__"].__get__  # a metaclass may define another
HOMES = frozenset({"numpy", "pandas", "polars"})


class Pairs:
    """Keys and values that become an object, in their order, two of one name both kept."""

    __slots__ = ("pairs",)

    def __init__(self, pairs: Iterable[tuple[Any, Any]]) -> None:
        self.pairs = pairs


def is_foreign(kind: type) -> bool:
    """Whether a value of this type may be one of those libraries' own."""
    homes = (getattr(base, "__module__", None) for base in _bases(kind))
    return any(isinstance(home, str) and home.partition(".")[0] in HOMES for home in homes)


def nearest(value: Any) -> Any:
    """Pairs, a list, or something nearer to JSON than `value` is; at worst its `repr()`."""
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
        return list(value) if value.dtype.kind in "mM" and value.ndim else _plain(value)
    if names & {"Index", "ExtensionArray"}:
        return list(value)
    return repr(value)


def _plain(value: Any) -> Any:
    """An array or a number of numpy; what is not a plain Python value even so is shown as text."""
    plain = value.tolist()
    return repr(value) if type(plain) is type(value) else plain


def _time(value: Any) -> Any:
    numpy = sys.modules["numpy"]
    if numpy.isnat(value):
        return None
    return str(value) if type(value).__name__ == "datetime64" else float(value / numpy.timedelta64(1, "s"))


def _records(frame: Any) -> Any:
    """A list of records; the index is part of them unless it only counts the rows."""
    if hasattr(frame, "to_dicts"):
        return list(frame.to_dicts())
    if not _only_counts(frame.index):
        frame = frame.reset_index(allow_duplicates=True)
    columns = list(frame.columns)
    return [Pairs(zip(columns, row, strict=True)) for row in frame.itertuples(index=False, name=None)]


def _series(series: Any) -> Any:
    """A list where the index only counts the values, else an object."""
    if hasattr(series, "to_list") and not hasattr(series, "index"):
        return list(series.to_list())
    if _only_counts(series.index):
        return list(series)
    return Pairs(zip(list(series.index), list(series), strict=True))


def _only_counts(index: Any) -> bool:
    return type(index).__name__ == "RangeIndex" and index.name is None and (index.start, index.step) == (0, 1)
