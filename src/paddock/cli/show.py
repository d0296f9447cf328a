"""How results and errors look to a person. What a script wrote is never trusted with the terminal."""

from __future__ import annotations

import json
import os
import re
import select
from typing import Any, TextIO

from paddock.errors import HostError
from paddock.model.result import RunResult, Verdict

WIDTH = 100
SIGNAL_SECONDS = 0.5
"""How long a signal that comes just before a wait for the reader may go unseen."""
_COLOURS = {"red": "31", "green": "32", "yellow": "33", "cyan": "36", "dim": "2", "bold": "1"}
# Escape sequences, C1 controls, a bare carriage return and text that changes direction can hide or forge what the
# reader sees, or make the terminal act.
_UNSAFE = re.compile(
    "\r(?!\n)|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)


def safe(text: str) -> str:
    """`text` with everything that a terminal would act on, but newline and tab, written out as an escape."""
    return _UNSAFE.sub(lambda match: match[0].encode("unicode_escape", "surrogatepass").decode(), text)


class Screen:
    """One of the command's streams: escapes what a script wrote, and colours, on a terminal only."""

    def __init__(self, stream: TextIO | None) -> None:
        self._fd = None if stream is None else stream.fileno()
        self.encoding = "utf-8" if stream is None else stream.encoding
        self.is_terminal = stream is not None and stream.isatty()
        plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
        self.is_styled = self.is_terminal and not plain
        self._at_line_start = True

    def write(self, text: str) -> None:
        """Show text of the script as it comes."""
        if text:
            self._at_line_start = text.endswith("\n")
            self.draw(safe(text) if self.is_terminal else text)

    def line(self, text: str, colour: str = "") -> None:
        """Show `text` on a line of its own, whatever came before."""
        self.spans((text, colour))

    def spans(self, *parts: tuple[str, str]) -> None:
        """Show a line made of texts, each with its colour."""
        self.end_line()
        shown = "".join(self._paint(safe(text) if self.is_terminal else text, colour) for text, colour in parts)
        self.draw(f"{shown}\n")

    def end_line(self) -> None:
        """Begin a new line, unless there is nothing on this one."""
        if not self._at_line_start:
            self.write("\n")

    def draw(self, text: str) -> None:
        """Write `text` as it is, escape sequences included: none of it may be a script's own."""
        self._put(text.encode(self.encoding, "backslashreplace"))

    def document(self, text: str) -> None:
        """Write `text` for a program to read: UTF-8 whatever the terminal speaks."""
        self._put(f"{text}\n".encode(errors="backslashreplace"))

    def _paint(self, text: str, colour: str) -> str:
        return f"\x1b[{_COLOURS[colour]}m{text}\x1b[0m" if self.is_styled and colour else text

    def _put(self, data: bytes) -> None:
        # Unbuffered: what is interrupted here must not be tried again when the process exits.
        rest = memoryview(data if self._fd is not None else b"")
        while rest and self._fd is not None:
            try:
                if select.select([], [self._fd], [], SIGNAL_SECONDS)[1]:  # then a pipe takes PIPE_BUF without a wait
                    rest = rest[os.write(self._fd, rest[: select.PIPE_BUF]) :]
            except BlockingIOError:
                continue
            except BrokenPipeError:
                raise
            except OSError as problem:
                raise HostError(unwritable(problem)) from None


def unwritable(problem: OSError) -> str:
    return f"the output could not be written: {problem.strerror}"


def show_result(result: RunResult, code: str, out: Screen, err: Screen) -> None:
    """The script's value on `out`, or what went wrong on `err`; its own output has been shown already."""
    if result.error is not None:
        if out.is_terminal and err.is_terminal:
            out.end_line()  # the two streams meet on one screen
        for line in error_lines(result, code):
            err.line(line)
        err.line(last_line(result), "red")
    elif result.output_json not in (None, "null"):
        out.line(value_text(result))


def value_text(result: RunResult) -> str:
    """A text as it is, anything else as JSON: on one line where it fits, indented where not."""
    try:
        value = result.output
        if isinstance(value, str):
            return value
        short = json.dumps(value, ensure_ascii=False)
        return short if len(short) <= WIDTH else json.dumps(value, ensure_ascii=False, indent=2)
    except (ValueError, RecursionError):  # JSON that this Python cannot hold: a huge number, a very deep list
        return result.output_json or ""


def error_lines(result: RunResult, code: str) -> list[str]:
    """What leads up to the last line of an error: the traceback, or the place in the script that was refused."""
    error = result.error
    if error is None:
        return []
    if error.traceback:
        traceback, summary = error.traceback.rstrip("\n"), _summary(error.type, error.message)
        return traceback.removesuffix(summary).rstrip("\n").split("\n")
    lines = code.splitlines()
    if error.line is None or error.line > len(lines):
        return []
    text = lines[error.line - 1]
    shown = [f'  File "main.py", line {error.line}', f"    {text.strip()}"]
    if result.verdict is Verdict.REJECTED and error.column is not None:
        indent = len(text) - len(text.lstrip())
        shown.append(f"    {' ' * max(0, error.column - 1 - indent)}^")
    return shown


def last_line(result: RunResult) -> str:
    error = result.error
    if error is None:
        return ""
    summary = _summary(error.type, error.message)
    return summary if result.verdict is Verdict.RAISED else f"{result.verdict}: {summary}"


def _summary(kind: str, message: str) -> str:
    return f"{kind}: {message}" if message else kind


def to_json(value: Any) -> str:
    """`value` as an indented JSON document."""
    return json.dumps(value, ensure_ascii=False, indent=2)
