"""Runs a script and describes how it ended."""

from __future__ import annotations

import asyncio
import builtins
import contextlib
import sys
from dataclasses import dataclass, field
from typing import Any

from paddock.guest.python import errors, limits, streams, values
from paddock.guest.python.returns import NAME
from paddock.guest.python.script import Script

EXEC_DEPTH = 1 if sys.version_info < (3, 12) else 0
"""Recursion depth that exec() itself takes; since 3.12 only Python frames count."""
_exec, _eval = builtins.exec, builtins.eval


@dataclass(slots=True)
class Outcome:
    """How a script ended; `text` is the JSON of its value."""

    status: str  # ok, raised, rejected, exited
    text: str = "null"
    error: dict[str, Any] = field(default_factory=dict)
    exit_code: int | None = None


def run(script: Script, names: dict[str, Any], recursion: int | None, *, is_script: bool) -> Outcome:
    """Run the script to its end. Whatever it raises becomes its outcome."""
    reserve = limits.reserve()
    builtins.__dict__[NAME] = script.result
    depth = limits.DEFAULT_RECURSION if recursion is None else recursion
    try:
        if script.is_async:
            with asyncio.Runner() as runner:
                text = runner.run(_run_async(script, names, depth))
        else:
            limits.allow_recursion(depth + EXEC_DEPTH)
            _exec(*(script.code, names))  # a plain call counts as a frame or not, depending on specialisation
            text = "null" if is_script else values.text_of(script.result.value, max(depth, limits.DEFAULT_RECURSION))
    except SystemExit as error:
        return describe_exit(error)
    except BaseException as error:  # noqa: BLE001 (a script may raise anything)
        reserve.close()
        return describe_raised(error, is_script=is_script)
    finally:
        limits.allow_recursion(max(depth, limits.DEFAULT_RECURSION))
    return Outcome("ok", text, exit_code=0 if is_script else None)


async def _run_async(script: Script, names: dict[str, Any], depth: int) -> str:
    limits.allow_recursion(depth)
    await _eval(script.code, names)
    return values.text_of(script.result.value, max(depth, limits.DEFAULT_RECURSION))


def describe_raised(error: BaseException, *, is_script: bool) -> Outcome:
    """The outcome of an uncaught exception. A program prints it through `sys.excepthook`."""
    limits.allow_recursion(limits.DECODE_RECURSION)
    if isinstance(error, SystemError) and limits.is_memory_short():
        error = MemoryError().with_traceback(error.__traceback__)  # CPython had no memory for its MemoryError
    if is_script:
        error.__traceback__ = errors.script_frames(error.__traceback__)
        _show(error)
    return Outcome("raised", error=errors.describe(error), exit_code=1 if is_script else None)


def _show(error: BaseException) -> None:
    try:
        sys.excepthook(type(error), error, error.__traceback__)
    except BaseException as another:  # noqa: BLE001 (the script's own hook)
        streams.write_line(f"Error in sys.excepthook:\n{errors.text_of(another, carets=True)}\n")
        streams.write_line(f"Original exception was:\n{errors.text_of(error, carets=True)}")


def describe_exit(error: SystemExit) -> Outcome:
    """The outcome of sys.exit(), with the exit code that CPython would use."""
    code = error.code
    if code is not None and not isinstance(code, int):
        with contextlib.suppress(BaseException):  # whatever the script's own __str__ does
            streams.write_line(str(code))
        code = 1
    return Outcome("exited", error=errors.describe(error), exit_code=(code or 0) & 0xFF)


def describe_rejected(error: SyntaxError, *, is_script: bool) -> Outcome:
    """The outcome of a script that does not compile. A program prints the error on stderr."""
    description = errors.describe_rejected(error)
    if is_script:
        streams.write_line(description["traceback"])
    return Outcome("rejected", error=description, exit_code=1 if is_script else None)
