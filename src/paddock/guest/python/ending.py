"""How a guest process ends: Python's own shutdown steps, then the RESULT, then exit."""

from __future__ import annotations

import atexit
import contextlib
import threading
import traceback
from collections.abc import Mapping
from os import _exit
from types import TracebackType
from typing import Any, NoReturn

from paddock.guest.python import errors, streams
from paddock.guest.python.channel import Channel
from paddock.guest.python.running import Outcome
from paddock.jail import wire
from paddock.jail.wire import Kind

ERROR_BYTES = 24 * 1024
"""How much of a message or a traceback fits into the header. Longer ones go into the body."""


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


def send_result(channel: Channel, outcome: Outcome) -> None:
    """Send the RESULT. A value larger than a frame is cut; the host's own limit is much lower."""
    body = outcome.text.encode("ascii")[: wire.BODY_BYTES] if outcome.status == "ok" else b""
    error = outcome.error
    if any(len(text) > ERROR_BYTES // 12 and _size(text) > ERROR_BYTES for text in _long_texts(error).values()):
        body = errors.encode(_long_texts(error))
        error = error | {key: errors.shortened(text, ERROR_BYTES) for key, text in _long_texts(error).items()}
    header = {"status": outcome.status, **error, "exit_code": outcome.exit_code}
    channel.send(Kind.RESULT, 0, header, body)


def _long_texts(error: Mapping[str, Any]) -> dict[str, str]:
    return {key: error[key] for key in ("message", "traceback") if error.get(key)}


def _size(text: str) -> int:
    return len(errors.encode(text))


def exit_process(outcome: Outcome) -> NoReturn:
    """Exit with the code that a Python program would have."""
    code = outcome.exit_code
    _exit(code if code is not None else 0 if outcome.status == "ok" else 1)


def show_uncaught(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Print an exception as CPython does, without frames of the runtime."""
    streams.write_line(errors.text_of(error, carets=True))


def show_uncaught_in_thread(report: threading.ExceptHookArgs) -> None:
    """`show_uncaught` for a thread. CPython's own hook looks for the source in a file that may not exist."""
    if report.exc_value is None or isinstance(report.exc_value, SystemExit):
        return
    name = report.thread.name if report.thread is not None else threading.get_ident()
    streams.write_line(f"Exception in thread {name}:\n{errors.text_of(report.exc_value, carets=True)}")
