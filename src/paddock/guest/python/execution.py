"""Runs a script, describes how it ended, shuts down as Python does, and sends the RESULT."""

from __future__ import annotations

import asyncio
import atexit
import builtins
import contextlib
import sys
import threading
import traceback
from collections.abc import Sequence
from dataclasses import dataclass, field
from os import _exit
from types import TracebackType
from typing import Any, NoReturn

from paddock.guest.python import errors, facts, limits, notices, streams, tasks, values
from paddock.guest.python.channel import Channel
from paddock.guest.python.returns import NAME
from paddock.guest.python.script import Script
from paddock.jail import wire
from paddock.jail.wire import Kind

EXEC_DEPTH = 1 if sys.version_info < (3, 12) else 0
"""Recursion depth that exec() itself takes; since 3.12 only Python frames count."""
ERROR_BYTES = 24 * 1024
"""How much of a message or a traceback fits into the header. Longer texts go into the body."""
TASK_GROUP = "unhandled errors in a TaskGroup"
FACT_BYTES = 4 * 1024
"""How much of a list of warnings or names is sent."""
_exec, _eval = builtins.exec, builtins.eval


@dataclass(slots=True)
class Outcome:
    """How a script ended; `text` is the JSON of its value."""

    status: str  # ok, raised, rejected, exited
    text: str = "null"
    error: dict[str, Any] = field(default_factory=dict)
    exit_code: int | None = None
    facts: dict[str, list[str]] = field(default_factory=dict)  # for the hint: names and keys of `guest.python.facts`


def run(
    script: Script,
    names: dict[str, Any],
    recursion: int | None,
    channel: Channel,
    refused: Sequence[str] = (),
    *,
    is_script: bool,
    runner: asyncio.Runner | None = None,
) -> Outcome:
    """Run the script to its end. Whatever it raises becomes its outcome. No hint names a module that is `refused`.

    `runner` is the session's. Its loop stays open, and the next run may await what this one leaves in variables.
    """
    reserve = limits.reserve()
    builtins.__dict__[NAME] = script.result
    depth = limits.DEFAULT_RECURSION if recursion is None else recursion
    scanned = names if runner is None else {}
    try:
        if script.is_async:
            with asyncio.Runner() if runner is None else contextlib.nullcontext(runner) as loop:
                text = loop.run(_run_async(script, names, depth, channel, scanned))
        else:
            limits.allow_recursion(depth + EXEC_DEPTH)
            _exec(*(script.code, names))  # a plain call takes one frame more or less, depending on specialisation
            if not is_script:
                tasks.settle_loops(channel)
            text = "null" if is_script else _value(script, scanned, depth)
    except SystemExit as error:
        return _describe_exit(error)
    except BaseException as error:  # noqa: BLE001 (a script may raise anything)
        reserve.close()
        if not is_script:
            with contextlib.suppress(Exception):  # there may be no memory left
                tasks.note_coroutines(scanned)
        return _describe_raised(error, refused, is_script=is_script)
    finally:
        limits.allow_recursion(max(depth, limits.DEFAULT_RECURSION))
    ended = {"near": [script.result.assigned]} if script.result.assigned else {}
    return Outcome("ok", text, exit_code=0 if is_script else None, facts=ended)


async def _run_async(
    script: Script, names: dict[str, Any], depth: int, channel: Channel, scanned: dict[str, Any]
) -> str:
    limits.allow_recursion(depth)
    coroutine = _eval(script.code, names)
    if coroutine is not None:
        await coroutine
    await tasks.settle(channel)
    return _value(script, scanned, depth)


def _value(script: Script, names: dict[str, Any], depth: int) -> str:
    """The JSON of the script's value. Raises the exception of a task that failed unnoticed."""
    tasks.check(names)
    return values.text_of(script.result.value, max(depth, limits.DEFAULT_RECURSION))


def _describe_raised(error: BaseException, refused: Sequence[str], *, is_script: bool) -> Outcome:
    """The outcome of an uncaught exception. In script mode, `sys.excepthook` prints it."""
    limits.allow_recursion(limits.DECODE_RECURSION)
    if isinstance(error, SystemError) and limits.is_memory_short():
        error = MemoryError().with_traceback(error.__traceback__)  # CPython had no memory for its MemoryError
    if is_script:
        error.__traceback__ = errors.script_frames(error.__traceback__)
        _show(error)
    description = errors.describe(error)
    if not is_script and isinstance(error, BaseExceptionGroup) and str(error.message).startswith(TASK_GROUP):
        first, count = errors.first_of(error)
        position = {key: description[key] for key in ("line", "column", "traceback")}
        description = errors.describe(first)
        description |= position if description["line"] is None else {"traceback": position["traceback"]}
        if count > 1:
            notices.warn(f"{count} tasks of a TaskGroup failed; this is the error of one of them.")
        error = first
    if (line := tasks.line_of(error)) is not None:
        description |= {"line": line, "column": None}
    known = {} if isinstance(error, MemoryError) else facts.of(error, refused)
    return Outcome("raised", error=description, exit_code=1 if is_script else None, facts=known)


def _show(error: BaseException) -> None:
    try:
        sys.excepthook(type(error), error, error.__traceback__)
    except BaseException as another:  # noqa: BLE001 (the script's own hook)
        streams.write_line(f"Error in sys.excepthook:\n{errors.text_of(another, carets=True)}\n")
        streams.write_line(f"Original exception was:\n{errors.text_of(error, carets=True)}")


def _describe_exit(error: SystemExit) -> Outcome:
    """The outcome of sys.exit(), with the exit code that CPython would use."""
    code = error.code
    if code is not None and not isinstance(code, int):
        with contextlib.suppress(BaseException):  # whatever the script's own __str__ does
            streams.write_line(str(code))
        code = 1
    return Outcome("exited", error=errors.describe(error), exit_code=(code or 0) & 0xFF)


def describe_rejected(error: SyntaxError, *, is_script: bool) -> Outcome:
    """The outcome of a script that does not compile. In script mode, the error is printed on stderr."""
    description = errors.describe_rejected(error)
    if is_script:
        streams.write_line(description["traceback"])
    return Outcome("rejected", error=description, exit_code=1 if is_script else None)


def shut_down() -> None:
    """Join the script's threads, run its atexit functions, and flush its output."""
    actions = [atexit._run_exitfuncs]  # noqa: SLF001 (what the interpreter itself calls)
    if threading.active_count() > 1:
        actions.insert(0, threading._shutdown)  # type: ignore[attr-defined] # noqa: SLF001
    for action in actions:
        try:
            action()
        except BaseException:  # noqa: BLE001 (an atexit function may raise anything)
            with contextlib.suppress(BaseException):
                traceback.print_exc()
    streams.flush_all()


def send_result(channel: Channel, outcome: Outcome, tag: int = 0) -> None:
    """Send the RESULT. A value larger than a frame is cut; the host's own limit is much lower."""
    body = outcome.text.encode("ascii")[: wire.BODY_BYTES] if outcome.status == "ok" else b""
    error = outcome.error
    texts = {key: error[key] for key in ("message", "traceback") if error.get(key)}
    if any(len(errors.encode(text)) > ERROR_BYTES for text in texts.values()):
        body = errors.encode(texts)
        error = error | {key: errors.shortened(text, ERROR_BYTES) for key, text in texts.items()}
    header = {"status": outcome.status, **error, "exit_code": outcome.exit_code}
    lists = {"warnings": notices.collected(), **outcome.facts}
    header |= {name: errors.fitting(texts, FACT_BYTES) for name, texts in lists.items() if texts}
    channel.send(Kind.RESULT, tag, header, body)


def exit_process(outcome: Outcome) -> NoReturn:
    """Exit with the code that a Python program would have."""
    code = outcome.exit_code
    _exit(code if code is not None else 0 if outcome.status == "ok" else 1)


def show_uncaught(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Print an exception as CPython does, without frames of the runtime."""
    streams.write_line(errors.text_of(error, carets=True))


def show_uncaught_in_thread(report: threading.ExceptHookArgs) -> None:
    """Print an exception of a thread. CPython's own hook looks for the source in a file that may not exist."""
    if report.exc_value is None or isinstance(report.exc_value, SystemExit):
        return
    name = report.thread.name if report.thread is not None else threading.get_ident()
    streams.write_line(f"Exception in thread {name}:\n{errors.text_of(report.exc_value, carets=True)}")
