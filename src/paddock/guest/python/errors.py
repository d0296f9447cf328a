"""Describes a script's exception as CPython would: type, message, line, traceback, without frames of the runtime."""

from __future__ import annotations

import io
import json
import linecache
import re
import sys
import traceback
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Any

FILE_NAME = "main.py"
NAME_CHARACTERS = 500
MESSAGE_CHARACTERS = 64 * 1024
SHOWN_ENTRIES = 20
"""How many entries a long traceback shows at each end."""
RUNTIME_FOLDER = str(Path(__file__).parent)
SUGGESTED_CHARACTERS = 200
_print_exception = sys.__excepthook__
_encode = json.JSONEncoder().encode
_class_name = type.__dict__["__name__"].__get__  # a metaclass may define its own `__name__`


class Source:
    """The names under which code of the script's author was compiled: a script has one, a session one for each cell."""

    name = FILE_NAME  # of the code that runs now
    names = frozenset({FILE_NAME})  # of all code so far

    @classmethod
    def begin(cls, name: str) -> None:
        """Compile what follows under this name."""
        cls.name = name
        cls.names |= {name}


_lines: list[str] = []  # of the script


def describe(error: BaseException) -> dict[str, Any]:
    """The RESULT fields for an uncaught exception."""
    line, column = _position(error.__traceback__)
    return {
        "type": name_of(type(error)),
        "message": cut(_message(error)),
        "line": line,
        "column": column,
        "traceback": cut(text_of(error, carets=False)),
    }


def describe_rejected(error: SyntaxError) -> dict[str, Any]:
    """The RESULT fields for a script that does not compile."""
    if error.text is None and error.lineno:
        error.text = source_line(error.lineno)  # the compiler would read it from a file
    error.__context__ = error.__traceback__ = None
    return {
        "type": name_of(type(error)),
        "message": cut(error.msg or "invalid syntax"),
        "line": error.lineno,
        "column": error.offset,
        "traceback": cut(_as_cpython_prints(error).rstrip("\n")),
    }


def _as_cpython_prints(error: BaseException) -> str:
    """What CPython prints for an uncaught exception. `traceback` does not always format it in the same way."""
    before, sys.stderr = sys.stderr, io.StringIO()
    try:
        _print_exception(type(error), error, error.__traceback__)
        return sys.stderr.getvalue()
    finally:
        sys.stderr = before


def name_of(kind: type) -> str:
    """The name of a class, shortened."""
    name: str = _class_name(kind)
    return name if len(name) <= NAME_CHARACTERS else f"{name[:NAME_CHARACTERS]}…"


def _message(error: BaseException) -> str:
    try:
        text = str(error)
        return _hide_folders(text if type(text) is str else str.__str__(text))
    except BaseException:  # noqa: BLE001 (whatever the script's own __str__ does)
        return f"<unprintable {name_of(type(error))}>"


def _hide_folders(text: str) -> str:
    """`text` without the folders of Python's own modules and packages, which are the host's."""
    for entry in sorted((entry for entry in sys.path if type(entry) is str and "/python" in entry), key=len)[::-1]:
        text = text.replace(f"{entry}/", "")
    return text


def _relative_path(path: str) -> str:
    """A module's path, relative to the entry of `sys.path` that it lies in."""
    roots = [entry for entry in sys.path if type(entry) is str and path.startswith(f"{entry}/")]
    return path[len(max(roots, key=len)) + 1 :] if roots else path


def cut(text: str) -> str:
    """Shorten `text` to the length that an error may have, and replace lone surrogates."""
    if len(text) > MESSAGE_CHARACTERS:
        text = f"{text[:MESSAGE_CHARACTERS]}… ({len(text)} characters)"
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def encode(value: object) -> bytes:
    """Encode `value` as JSON in UTF-8, as in frame headers."""
    return _encode(value).encode()


def shortened(text: str, size: int) -> str:
    """The beginning of `text`, at most `size` bytes as JSON."""
    while len(encode(text)) > size:
        text = text[: max(size // 12, len(text) // 2)]
    return text


def fitting(texts: list[str], size: int) -> list[str]:
    """The first of `texts`, at most `size` bytes of JSON in total."""
    kept: list[str] = []
    for text in map(cut, texts):
        size -= len(encode(text)) + 2
        if size < 0:
            break
        kept.append(text)
    return kept


def script_frames(trace: TracebackType | None) -> TracebackType | None:
    """The traceback from the script's first frame on; the frames before it are the runtime's."""
    while trace is not None and trace.tb_frame.f_code.co_filename not in Source.names:
        trace = trace.tb_next
    return trace


def first_of(group: BaseExceptionGroup[BaseException]) -> tuple[BaseException, int]:
    """The first exception in a group that is not a group itself, and how many of these there are."""
    found: list[BaseException] = []
    stack: list[BaseException] = [group]
    while stack:
        error = stack.pop()
        if isinstance(error, BaseExceptionGroup):
            stack += reversed(error.exceptions)
        else:
            found.append(error)
    return found[0], len(found)


def innermost(trace: TracebackType | None) -> TracebackType | None:
    """The last entry of a traceback that is in the script itself."""
    found = None
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == Source.name:
            found = trace
        trace = trace.tb_next
    return found


def _position(trace: TracebackType | None) -> tuple[int | None, int | None]:
    """Line and column of the innermost frame of the script itself."""
    entry = innermost(trace)
    if entry is None:
        return None, None
    line, _, offset, _ = span(entry)
    column = None if line is None or offset is None else character(source_line(line), offset)
    return entry.tb_lineno, column


def span(entry: TracebackType) -> tuple[int | None, int | None, int | None, int | None]:
    """First line, last line, start and end of the code that failed, as far as they are known."""
    positions = entry.tb_frame.f_code.co_positions()
    return next(islice(positions, entry.tb_lasti // 2, None), (None, None, None, None))


def text_of(error: BaseException, *, carets: bool) -> str:
    """The traceback as CPython prints it, with causes, contexts, notes and groups."""
    try:
        report = traceback.TracebackException(type(error), error, error.__traceback__)
        if carets and sys.version_info < (3, 12):
            _add_suggestions(report, error)
        _clean(report, set(), carets=carets)
        return _hide_folders("".join(report.format()).rstrip("\n"))
    except BaseException:  # noqa: BLE001 (formatting runs code of the script's exception)
        name, message = name_of(type(error)), _message(error)
        return f"{name}: {message}" if message else name


def _add_suggestions(report: traceback.TracebackException, error: BaseException, depth: int = 5) -> None:
    """Add "Did you mean", which only CPython's own printer knew before 3.12, to this report and its causes."""
    if isinstance(error, NameError | AttributeError):
        pattern = re.escape(str(error)[-SUGGESTED_CHARACTERS:]) + r"(\. Did you mean: '\w+'\?)$"
        match = re.search(pattern, _as_cpython_prints(error), re.MULTILINE)
        report._str += match[1] if match else ""  # type: ignore[attr-defined]  # noqa: SLF001
    for other, its_error in ((report.__cause__, error.__cause__), (report.__context__, error.__context__)):
        if other is not None and its_error is not None and depth > 0:
            _add_suggestions(other, its_error, depth - 1)


class _Stack(traceback.StackSummary):
    """The frames of a traceback. The middle of a long traceback is left out."""

    def format(self, **options: Any) -> list[str]:
        entries = super().format(**options)
        if len(entries) > 2 * SHOWN_ENTRIES:
            hidden = len(entries) - 2 * SHOWN_ENTRIES
            entries = [*entries[:SHOWN_ENTRIES], f"  [{hidden} more frames]\n", *entries[-SHOWN_ENTRIES:]]
        return entries


def _clean(report: traceback.TracebackException, seen: set[int], *, carets: bool) -> None:
    """Remove the runtime's frames and the frames they called, from this report and from every linked exception."""
    if id(report) in seen:
        return
    seen.add(id(report))
    shown = _Stack()
    in_runtime = False  # from a frame of the runtime until the next frame of the script
    for entry in report.stack:
        in_runtime = entry.filename not in Source.names and (in_runtime or entry.filename.startswith(RUNTIME_FOLDER))
        if not in_runtime:
            if not carets:
                entry.colno = entry.end_colno = None
            entry.filename = _relative_path(entry.filename)  # safe: the source line was read already
            shown.append(entry)
    report.stack = shown
    for other in (report.__cause__, report.__context__, *(report.exceptions or ())):
        if other is not None:
            _clean(other, seen, carets=carets)


def register_source(source: str) -> None:
    """Let tracebacks and `inspect` show the script's lines, although there may be no such file."""
    lines = source.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    _lines[:] = [f"{line}\n" for line in lines]
    linecache.cache[Source.name] = (len(source), None, _lines.copy(), Source.name)


def source_line(number: int) -> str:
    """A line of the script, counted from 1."""
    return _lines[number - 1] if 0 < number <= len(_lines) else ""


def character(line: str, offset: int) -> int:
    """Which character of `line`, counted from 1, begins at byte `offset` of its UTF-8."""
    return len(line.encode(errors="replace")[:offset].decode(errors="replace")) + 1
