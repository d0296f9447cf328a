"""Output for people: the terminal, progress lines, results and errors.

Text from a script or a server is untrusted, so it is escaped on a terminal.
"""

from __future__ import annotations

import json
import os
import re
import select
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING, Any, TextIO

from paddock.errors import HostError
from paddock.model import envelope
from paddock.model.network import DENIED
from paddock.model.outputs import KEPT_TYPES

if TYPE_CHECKING:
    from paddock.model.events import Progress
    from paddock.model.result import RunResult

WIDTH = 100
_FLAGS = {"packages: ": "--with", "network=": "--network"}
_OPTION = re.compile(r'pass (packages: |network=)\["([^"]*)"\]')
"""How a hint names an option of the library or of `run_code` that the command has as a flag."""
_NOT_KEPT = " not kept: "
"""In a warning that names files which are lost."""
SIGNAL_SECONDS = 0.5
"""How long one wait for a slow reader lasts. A signal that arrives just before a wait is noticed after it."""
_COLOURS = {"red": "31", "green": "32", "yellow": "33", "cyan": "36", "dim": "2", "bold": "1"}
# Escape sequences, C1 controls, a bare carriage return and text that changes direction can hide or forge what the
# reader sees, or make the terminal act.
_UNSAFE = re.compile(
    "\r(?!\n)|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)


def safe(text: str) -> str:
    """Escape everything in `text` that a terminal would act on, except newline and tab."""
    return _UNSAFE.sub(lambda match: match[0].encode("unicode_escape", "surrogatepass").decode(), text)


class Screen:
    """One of the command's output streams. It escapes text and adds colours only on a terminal."""

    def __init__(self, stream: TextIO | None) -> None:
        self._fd = None if stream is None else stream.fileno()
        self._encoding = "utf-8" if stream is None else stream.encoding
        self.is_terminal = stream is not None and stream.isatty()
        plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
        self.is_styled = self.is_terminal and not plain
        self._at_line_start = True

    def write(self, text: str) -> None:
        """Write `text` without adding a line end."""
        if text:
            self._at_line_start = text.endswith("\n")
            self._put_text(safe(text) if self.is_terminal else text)

    def line(self, text: str, colour: str = "") -> None:
        """Write `text` on a separate line."""
        self.spans((text, colour))

    def spans(self, *parts: tuple[str, str]) -> None:
        """Write a line made of (text, colour) pairs."""
        self.end_line()
        text = "".join(self._paint(safe(text) if self.is_terminal else text, colour) for text, colour in parts)
        self._put_text(f"{text}\n")

    def fact(self, name: str, value: str | None, width: int) -> None:
        """Write one indented `name  value` line, or nothing if there is no value."""
        if value:
            self.line(f"  {name:<{width}}  {' '.join(value.split())}")

    def block(self, name: str, text: str, colour: str = "") -> None:
        """Write a heading and `text` indented below it, so that its lines cannot be mistaken for Paddock's."""
        if text:
            self.line(f"  {name}")
            for line in text.splitlines():
                self.line(f"    {line}".rstrip(), colour)

    def document(self, text: str) -> None:
        """Write `text`, which is JSON, for a program to read: UTF-8, whatever the terminal's encoding."""
        if self.is_terminal:  # JSON may contain C1 controls and DEL as they are
            text = _UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
        self._put_bytes(f"{text}\n".encode(errors="backslashreplace"))

    def status(self, text: str) -> None:
        """Replace the current line of a styled terminal with `text`, until the next status or line replaces it."""
        columns = (os.get_terminal_size(self._fd).columns if self._fd is not None else 0) or WIDTH
        self._put_text(f"\r\x1b[2K{safe(text)[: columns - 1]}")

    def image(self, sequence: str) -> None:
        """Write what makes the terminal show an image."""
        self.end_line()
        self._put_bytes(sequence.encode("ascii"))

    def end_line(self) -> None:
        """Start a new line, unless the current one is empty."""
        if not self._at_line_start:
            self.write("\n")

    def _paint(self, text: str, colour: str) -> str:
        return f"\x1b[{_COLOURS[colour]}m{text}\x1b[0m" if self.is_styled and colour else text

    def _put_text(self, text: str) -> None:
        self._put_bytes(text.encode(self._encoding, "backslashreplace"))

    def _put_bytes(self, data: bytes) -> None:
        # Unbuffered, because an interrupted write must not be repeated when the process exits.
        remaining = memoryview(data if self._fd is not None else b"")
        while remaining and self._fd is not None:
            try:
                # A writable pipe accepts PIPE_BUF bytes without blocking.
                if select.select([], [self._fd], [], SIGNAL_SECONDS)[1]:
                    remaining = remaining[os.write(self._fd, remaining[: select.PIPE_BUF]) :]
            except BlockingIOError:
                continue
            except BrokenPipeError:
                raise
            except OSError as problem:
                raise HostError(unwritable(problem)) from None


def stdout() -> Screen:
    """Return the command's standard output."""
    return Screen(sys.stdout)


def stderr() -> Screen:
    """Return the command's standard error."""
    return Screen(sys.stderr)


def unwritable(problem: OSError) -> str:
    """The error message for an output stream that cannot be written."""
    return f"the output could not be written: {problem.strerror}"


@contextmanager
def progress() -> Iterator[Callable[[str], None]]:
    """Yield a function that shows a progress line on stderr; it may be called from any thread.

    On a terminal each line replaces the one before and the last is erased; elsewhere they are plain lines.
    """
    screen = stderr()
    if not screen.is_styled:
        yield screen.line
        return
    has_shown = False

    def show(line: str) -> None:
        nonlocal has_shown
        has_shown = True
        screen.status(line.strip())

    try:
        yield show
    finally:
        if has_shown:
            screen.status("")


@contextmanager
def build_progress() -> Iterator[Callable[[], None]]:
    """Show on stderr how an environment is built, until the block exits or the yielded function is called."""
    import logging

    class Handler(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            with suppress(HostError, OSError):  # a build must not fail because its progress cannot be shown
                if record.levelno < logging.WARNING:
                    show(record.getMessage())
                else:
                    stack.close()
                    stderr().line(f"Warning: {record.getMessage()}", "yellow")

    log = logging.getLogger("paddock.jail")
    # Child loggers are left out: they report best-effort guarantees, which `paddock doctor` and servers show.
    with ExitStack() as stack:
        show, handler, level = stack.enter_context(progress()), Handler(), log.level
        handler.addFilter(lambda record: record.name == log.name)
        log.addHandler(handler)
        log.setLevel(logging.INFO)
        stack.callback(log.setLevel, level)
        stack.callback(log.removeHandler, handler)
        yield stack.close


def progress_text(progress: Progress) -> str:
    """Return one line for a progress report of a script or a tool."""
    from paddock.tools.sanitize import one_line

    total = "" if progress.total is None else f"/{progress.total:g}"
    number = f"{progress.done:g}{total}" if progress.done or total else ""
    return f"{number} {one_line(progress.message)}".strip()


def show_result(result: RunResult, code: str, out: Screen, err: Screen) -> None:
    """Write the script's value to `out`, or its error to `err`; its own output has been shown already."""
    if result.error is not None:
        if out.is_terminal and err.is_terminal:
            out.end_line()  # both streams are on one screen
        *lines, last = error_lines(result, code)
        for line in lines:
            err.line(line)
        err.line(last, "red")
        if result.engine == "monty" and result.engine_reason not in (None, "requested"):
            err.line(f"This ran on monty, which supports a subset of Python; {result.engine_reason}", "yellow")
    elif result.output_json not in (None, "null"):
        rich = next((output for output in result.outputs if output.is_result), None)
        if rich is None or (rich.type == "table" and not out.is_terminal):
            out.line(value_text(result.output))
        elif rich.type not in KEPT_TYPES:
            out.line(rich.text)


def show_remedies(result: RunResult, err: Screen) -> None:
    """Write what was lost, and what an option would change: a host that was denied, or a package that is missing."""
    for text in (*result.warnings, *(() if result.error is None else result.error.hints)):
        remedy = _OPTION.sub(lambda found: f"pass {_FLAGS[found[1]]} {found[2]}", text)
        if remedy != text or text.startswith(DENIED) or _NOT_KEPT in text:
            err.line(remedy, "yellow")
    session = result.session
    if session is not None and result.error is not None and result.error.type != "SessionEnded":
        is_cut_short = result.verdict not in ("raised", "rejected", "denied")
        said = "the session is kept" if session.kept and is_cut_short else session.reason
        if said:
            err.line(said, "yellow")


def value_text(value: Any) -> str:
    """Return a script's value: text as it is, anything else as JSON."""
    return value if isinstance(value, str) else short_json(value)


def error_lines(result: RunResult, code: str) -> list[str]:
    """Return the lines of an error: the traceback, or the script's rejected line; then the error's type and message."""
    error = result.error
    if error is None:
        return [""]
    summary = f"{error.type}: {error.message}" if error.message else error.type
    last = summary if result.verdict == "raised" else f"{result.verdict}: {summary}"
    if error.traceback:
        shown = envelope.shorten(summary)  # at the end of Python's tracebacks, at the start of JavaScript's
        frames = error.traceback.rstrip("\n").removeprefix(f"{shown}\n")
        if frames.endswith(shown):
            frames, _, module = frames.removesuffix(shown).rpartition("\n")  # such as `json.decoder.`
            last = f"{module}{last}" if result.verdict == "raised" else last
        return [*frames.split("\n"), last]
    lines = code.splitlines()
    if error.line is None or not 1 <= error.line <= len(lines):
        return [last]
    text = lines[error.line - 1]
    file = "main.py" if result.session is None else f"cell {result.session.cell}"
    excerpt = [f'  File "{file}", line {error.line}', f"    {text.strip()}"]
    if result.verdict == "rejected" and error.column is not None:
        indent = len(text) - len(text.lstrip())
        column = min(error.column, len(text) + 1)  # a hostile guest may report any column
        excerpt.append(f"    {' ' * max(0, column - 1 - indent)}^")
    return [*excerpt, last]


def short_json(value: Any) -> str:
    """Return `value` as JSON: on one line if it fits, else indented."""
    line = json.dumps(value, ensure_ascii=False)
    return line if len(line) <= WIDTH else json.dumps(value, ensure_ascii=False, indent=2)


def to_json(value: Any) -> str:
    """Return `value` as an indented JSON document whose unprintable characters are escaped."""
    text = json.dumps(value, ensure_ascii=False, indent=2)
    return "".join(letter if letter.isprintable() or letter == "\n" else json.dumps(letter)[1:-1] for letter in text)


def local_time(seconds: float) -> str:
    """Return a time stamp in the user's time zone."""
    from datetime import UTC, datetime

    return f"{datetime.fromtimestamp(seconds, UTC).astimezone():%Y-%m-%d %H:%M:%S}"
