"""The script's standard streams: UTF-8 over descriptors 0, 1 and 2, line buffered."""

from __future__ import annotations

import codecs
import contextlib
import io
import sys

REPLACE = "paddock.replace"
"""An error handler that writes U+FFFD for what UTF-8 cannot encode: a lone surrogate must not make `print` fail."""


def _replace(error: UnicodeError) -> tuple[str | bytes, int]:
    if isinstance(error, UnicodeEncodeError):
        return "\ufffd".encode() * (error.end - error.start), error.end  # bytes: text would have to be ASCII
    return codecs.replace_errors(error)


codecs.register_error(REPLACE, _replace)


def install() -> None:
    """Replace the streams in `sys`: the zygote's streams may have buffered bytes, locks and another encoding."""
    sys.stdin = sys.__stdin__ = _stream(0, "r", "<stdin>")  # type: ignore[misc]
    sys.stdout = sys.__stdout__ = _stream(1, "w", "<stdout>")  # type: ignore[misc]
    sys.stderr = sys.__stderr__ = _stream(2, "w", "<stderr>")  # type: ignore[misc]
    _streams[:] = [sys.stdout, sys.stderr]


_streams: list[io.TextIOWrapper] = []


def _stream(descriptor: int, mode: str, name: str) -> io.TextIOWrapper:
    raw = io.FileIO(descriptor, mode, closefd=False)
    raw.name = name
    buffer = io.BufferedReader(raw) if mode == "r" else io.BufferedWriter(raw)
    newline = None if mode == "r" else "\n"
    stream = io.TextIOWrapper(buffer, "utf-8", REPLACE, newline, line_buffering=mode == "w")
    stream.mode = mode  # type: ignore[misc]
    return stream


def write_line(text: str) -> None:
    """Write a line to the script's stderr. `print` is not used, because a script may have replaced it."""
    with contextlib.suppress(AttributeError, OSError, ValueError):
        sys.stderr.write(f"{text}\n")
        sys.stderr.flush()


def clean(text: str) -> str:
    """The text with lone surrogates replaced."""
    return text.encode("utf-8", REPLACE).decode()


def flush() -> None:
    """Flush the streams that `install` created. Skips streams that the script has closed."""
    for stream in _streams:
        with contextlib.suppress(OSError, ValueError, RuntimeError):
            stream.flush()


def flush_all() -> None:
    """Flush the streams that `install` created, and the streams that the script replaced them with."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(BaseException):
            stream.flush()
    flush()
