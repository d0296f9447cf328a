"""The standard streams of a script: UTF-8 over descriptors 0, 1 and 2, a line at a time."""

from __future__ import annotations

import codecs
import contextlib
import io
import sys

REPLACE = "paddock.replace"
"""The error handler that puts U+FFFD where a character has no UTF-8: a lone surrogate must not stop a print."""


def _replace(error: UnicodeError) -> tuple[str | bytes, int]:
    if isinstance(error, UnicodeEncodeError):
        return "\ufffd".encode() * (error.end - error.start), error.end  # bytes: text would have to be ASCII
    return codecs.replace_errors(error)


codecs.register_error(REPLACE, _replace)


def install() -> None:
    """Give `sys` new streams. Those of the zygote may hold bytes, locks and an encoding of its own."""
    sys.stdin = sys.__stdin__ = _stream(0, "r", "<stdin>")  # type: ignore[misc]
    sys.stdout = sys.__stdout__ = _stream(1, "w", "<stdout>")  # type: ignore[misc]
    sys.stderr = sys.__stderr__ = _stream(2, "w", "<stderr>")  # type: ignore[misc]
    _own[:] = [sys.stdout, sys.stderr]


_own: list[io.TextIOWrapper] = []


def _stream(descriptor: int, mode: str, name: str) -> io.TextIOWrapper:
    raw = io.FileIO(descriptor, mode, closefd=False)
    raw.name = name
    buffer = io.BufferedReader(raw) if mode == "r" else io.BufferedWriter(raw)
    newline = None if mode == "r" else "\n"
    stream = io.TextIOWrapper(buffer, "utf-8", REPLACE, newline, line_buffering=mode == "w")
    stream.mode = mode  # type: ignore[misc]
    return stream


def say(text: str) -> None:
    """Write a line to stderr, wherever the script has that go. `print` may be its own by now."""
    with contextlib.suppress(AttributeError, OSError, ValueError):
        sys.stderr.write(f"{text}\n")
        sys.stderr.flush()


def flush() -> None:
    """Write out what was printed. A stream that the script has closed has nothing left to say."""
    for stream in _own:
        with contextlib.suppress(OSError, ValueError, RuntimeError):
            stream.flush()


def flush_all() -> None:
    """Write out what was printed, also to streams that the script put in the place of ours."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(BaseException):
            stream.flush()
    flush()
