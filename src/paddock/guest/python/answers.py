"""Answers of tools whose list or plain value is under `result`.

A script that uses such an answer as the value itself gets no error: `len(answer)` is 1. The answer is a dict that also
notes where the script does that; the result of the run then has a warning.
"""

from __future__ import annotations

import sys
from collections.abc import ItemsView, Iterator, KeysView, ValuesView
from opcode import opmap
from types import FrameType
from typing import Any

from paddock.guest.python import notices
from paddock.guest.python.errors import Source

KEY = "result"
MAX_DOUBTS = 100
MAX_WARNINGS = 3
_KEYS = {KEY, "_attachments"}
_GET_LEN = opmap["GET_LEN"]
_OF_ERRORS = ("error", "errors", "isError")  # a failed call raises, so their absence is as expected
_COMPARED = (str, int, float, bool, type(None))
_notes: dict[int, str] = {}  # by line, the first of each
_doubts: list[tuple[WrappedAnswer, int, str]] = []  # notes on answers whose `result` may never be read


class WrappedAnswer(dict[str, Any]):
    """An answer that has only the key `result`. It equals a dict of the same items, and has their JSON form."""

    __slots__ = ("is_unwrapped",)

    def __len__(self) -> int:
        caller = sys._getframe(1)  # noqa: SLF001
        if caller.f_code.co_code[caller.f_lasti] != _GET_LEN:  # a `case` with a mapping pattern uses it
            _note("len(answer) counts its keys")
        return dict.__len__(self)

    def __iter__(self) -> Iterator[str]:
        _note("iterating over the answer gives its keys")
        return dict.__iter__(self)

    def keys(self) -> KeysView[str]:  # type: ignore[override]
        _note("the table has the one column 'result'", library="pandas.")
        return dict.keys(self)

    def __contains__(self, item: object) -> bool:
        if type(item) in _COMPARED and item != KEY and _has(dict.get(self, KEY), item):
            _note("`in` looks among its keys")
        return dict.__contains__(self, item)

    def __eq__(self, other: object) -> bool:
        if type(other) in _COMPARED and dict.get(self, KEY) == other:
            _note("the answer itself never equals a plain value")
        return dict.__eq__(self, other)

    __hash__ = None

    def __bool__(self) -> bool:
        if not dict.get(self, KEY):
            self._doubt("the answer itself is never empty")
        return True

    def __getitem__(self, key: str) -> Any:
        self.is_unwrapped = True
        return dict.__getitem__(self, key)

    def get(self, key: str, default: Any = None) -> Any:
        if key == KEY:
            self.is_unwrapped = True
        elif key not in _OF_ERRORS and not dict.__contains__(self, key):
            self._doubt("the answer has no such key")
        return dict.get(self, key, default)

    def items(self) -> ItemsView[str, Any]:  # type: ignore[override]
        self.is_unwrapped = True
        return dict.items(self)

    def values(self) -> ValuesView[Any]:  # type: ignore[override]
        self.is_unwrapped = True
        return dict.values(self)

    def _doubt(self, text: str) -> None:
        """Note a use that is right only in a script that also reads `result`."""
        if len(_doubts) < MAX_DOUBTS and (line := _script_line()) is not None:
            _doubts.append((self, line, text))

    def __reduce__(self) -> tuple[type[dict[str, Any]], tuple[dict[str, Any]]]:
        return dict, (dict(self.items()),)  # a copy is an ordinary dict


WrappedAnswer.__name__ = WrappedAnswer.__qualname__ = "dict"  # messages of CPython show it
WrappedAnswer.__module__ = "builtins"


def wrapped(answer: Any) -> Any:
    """The answer as the script gets it."""
    if type(answer) is not dict or KEY not in answer or isinstance(answer[KEY], dict) or answer.keys() - _KEYS:
        return answer
    return WrappedAnswer(answer)


def warn(*, except_line: int | None = None) -> None:
    """Turn the notes into warnings, except those about the line of the run's error, whose hint says the same."""
    for answer, line, text in _doubts:
        if not hasattr(answer, "is_unwrapped"):
            _notes.setdefault(line, text)
    _notes.pop(except_line or 0, None)
    for line, text in sorted(_notes.items())[:MAX_WARNINGS]:
        notices.warn(f'On line {line}, {text}; its value is in answer["{KEY}"].')


def forget() -> None:
    """Forget the notes of the session's earlier runs."""
    _notes.clear()
    _doubts.clear()


def _note(text: str, library: str = "") -> None:
    line = _script_line(library)
    if line is not None:
        _notes.setdefault(line, text)


def _script_line(library: str = "") -> int | None:
    """The line of the script that uses the answer itself, or through this library; None if other code does."""
    frame: FrameType | None = sys._getframe(1)  # noqa: SLF001
    while frame is not None and frame.f_globals is globals():
        frame = frame.f_back
    if library and frame is not None:
        if not str(frame.f_globals.get("__name__")).startswith(library):
            return None
        while frame is not None and frame.f_code.co_filename != Source.name:
            frame = frame.f_back
    return frame.f_lineno if frame is not None and frame.f_code.co_filename == Source.name else None


def _has(value: Any, item: Any) -> bool:
    """Whether the value of the answer has this item: a text in a text, a value in a list."""
    if isinstance(value, str):
        return isinstance(item, str) and item in value
    return isinstance(value, list) and item in value
