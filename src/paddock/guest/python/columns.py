"""The columns of the tables that pandas was working on when it failed, read from its own frames.

The source of a line names a table only if it is a variable; these frames have it in any case.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from types import TracebackType
from typing import Any

from paddock.guest.python import errors
from paddock.guest.python.samples import is_frame, key_texts

MAX_FRAMES = 60
SHOWN = 8
_TABLES = ("self", "obj", "df", "data", "frame")
_NAMES = ("names", "columns", "orig_names")
_LABEL = r"^'?(?:Columns? not found: |Index )'?([^',\]]+?)(?: invalid)?'?$|'([^']+)'\]?[^']*$"


def label(message: object) -> str:
    """The first label that a message of pandas says is missing; empty if it names none."""
    if type(message) is list and all(type(name) is str for name in message):
        return message[0] if message else ""
    found = re.search(_LABEL, message[:500]) if type(message) is str else None
    return next(filter(None, found.groups()), "") if found else ""


def of(error: BaseException) -> list[str]:
    """The columns of the innermost table or file; none if there is no table."""
    for name, local in _frames(error):
        if name.startswith("pandas.io.parsers"):
            for key in _NAMES:
                if texts := _texts(local.get(key)):
                    return texts
        for key in _TABLES:
            if is_frame(value := local.get(key)):
                return key_texts(value)
    return []


def of_both(error: BaseException) -> list[str]:
    """The columns of both tables of a merge, as values with the names `left` and `right`."""
    for _, local in _frames(error):
        if is_frame(local.get("left")) and is_frame(local.get("right")):
            return [f"{side} = {', '.join(key_texts(local[side])[:SHOWN])}" for side in ("left", "right")]
    return []


def _texts(value: object) -> list[str]:
    """The names in a plain list, or in pandas' index of columns."""
    if type(value) is not list and errors.name_of(type(value)) != "Index":
        return []
    return [name for name in islice(value, SHOWN * 4) if type(name) is str]  # type: ignore[call-overload]


def _frames(error: BaseException) -> Iterator[tuple[str, dict[str, Any]]]:
    """The modules and local variables of pandas' own frames, innermost first."""
    entry = errors.innermost(error.__traceback__)
    trace: TracebackType | None = None if entry is None else entry.tb_next
    found: list[tuple[str, Any]] = []
    while trace is not None and len(found) < MAX_FRAMES:
        name = trace.tb_frame.f_globals.get("__name__")
        if type(name) is str and name.startswith("pandas."):
            found.append((name, trace.tb_frame))
        trace = trace.tb_next
    return ((name, frame.f_locals) for name, frame in reversed(found))
