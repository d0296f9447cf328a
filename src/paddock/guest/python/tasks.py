"""Finds what a script started and did not await: coroutines, tasks that still wait for a call, tasks that failed.

A coroutine that was never awaited becomes a warning. When the script ends, tasks that wait for a call may finish. If a
task failed and nothing retrieved its exception, the run fails with that exception.
"""

from __future__ import annotations

import asyncio
import asyncio.runners
import math
import sys
import time
import warnings
from collections.abc import Iterator
from types import CoroutineType
from typing import Any, NamedTuple

from paddock.guest.python import errors, notices, streams
from paddock.guest.python.channel import Channel
from paddock.guest.python.errors import RUNTIME_FOLDER, Source

TURNS = 20
"""Turns of the event loop in which a task may continue after a call was answered, until it makes its next call."""
CALLS_SHARE = 0.9
"""Share of a run's time after which the calls of a script that has ended are no longer waited for."""
SCANNED_ITEMS = 1000
GATHER = "threads cannot await it, so use `await asyncio.gather(*calls)` instead"
NAME_CHARACTERS = 80
_CONTAINERS = (list, tuple, set, dict)
_cancel_tasks = asyncio.runners._cancel_all_tasks  # type: ignore[attr-defined]  # noqa: SLF001
_handle_exception = asyncio.BaseEventLoop.default_exception_handler


class _Call(NamedTuple):
    """What a script called without `await`."""

    name: str
    line: int | None
    is_tool: bool


_unawaited: dict[_Call, int] = {}
_failures: list[tuple[BaseException, int | None]] = []
_lines: dict[int, int] = {}


class _Watch:
    """Whether a script is being watched, and the channel that it calls tools over."""

    is_on = False
    channel: Channel
    calls_until = math.inf  # when the calls of a script that has ended are no longer waited for


def install(channel: Channel) -> None:
    """Put the hooks of this module in place. They do nothing until `start`."""
    _Watch.channel = channel
    asyncio.runners._cancel_all_tasks = _settle_and_cancel  # type: ignore[attr-defined]  # noqa: SLF001 (asyncio.run does)
    asyncio.BaseEventLoop.default_exception_handler = _note_failure  # type: ignore[method-assign,assignment]


def start(wall_seconds: float | None) -> None:
    """From now on, note the coroutines that are never awaited and the tasks that fail unnoticed."""
    _Watch.calls_until = time.monotonic() + (math.inf if wall_seconds is None else wall_seconds * CALLS_SHARE)
    sys.set_coroutine_origin_tracking_depth(1)
    warnings._warn_unawaited_coroutine = _note_coroutine  # type: ignore[attr-defined]  # noqa: SLF001 (CPython calls it)
    _Watch.is_on = True


def forget() -> None:
    """Forget what the session's earlier runs started."""
    _unawaited.clear()
    _failures.clear()
    _lines.clear()


def cancel(loop: asyncio.AbstractEventLoop) -> None:
    """Cancel the tasks that a run of a session has left in the loop."""
    _cancel_tasks(loop)


def _settle_and_cancel(loop: asyncio.AbstractEventLoop) -> None:
    """Called by asyncio when `asyncio.run` ends."""
    try:
        if _Watch.is_on and sys.exc_info()[0] is None and asyncio.all_tasks(loop):
            loop.run_until_complete(settle(_Watch.channel))
    finally:
        _cancel_tasks(loop)


async def settle(channel: Channel) -> None:
    """Wait for the calls of the running loop's other tasks. Raises the exception of a task that failed."""
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    if not tasks:
        return
    before = -1
    while await channel.wait_for_answers(_Watch.calls_until - time.monotonic()) or channel.settled != before:
        before = channel.settled
        for _ in range(TURNS):
            await asyncio.sleep(0)
    for task in tasks:
        _note_task(task)
    _raise_failure()


def settle_loops(channel: Channel) -> None:
    """Wait for the calls of loops that the script has stopped. Raises the exception of a task that failed."""
    for loop in channel.idle_loops():
        loop.run_until_complete(settle(channel))


def check(names: dict[str, Any]) -> None:
    """Look for coroutines and tasks in the script's variables. Raises the exception of a task that failed."""
    note_coroutines(names)
    for value in _values(names):
        if asyncio.isfuture(value):
            _note_task(value)
    _raise_failure()


def note_coroutines(names: dict[str, Any]) -> None:
    """Look in the script's variables for coroutines that were never awaited."""
    for value in _values(names):
        is_unstarted = type(value) is CoroutineType and value.cr_frame is not None
        if is_unstarted and not value.cr_running and not value.cr_suspended:
            _note_coroutine(value)


def _raise_failure() -> None:
    """Raise the exception of the first task that failed unnoticed, if there is one."""
    if not _failures:
        return
    error, line = _failures[0]
    if len(_failures) > 1:
        notices.warn(f"{len(_failures)} tasks that were never awaited failed; this is the error of one of them.")
    _failures.clear()
    if errors.script_frames(error.__traceback__) is None:
        _set_line(error, line)
    raise error


def never_awaited(coroutine: Any) -> TypeError:
    """The error of a script whose value contains this coroutine or task."""
    error = TypeError("the result is a coroutine that was never awaited: write `await` before the call")
    _set_line(error, _line_of_task(coroutine) if asyncio.isfuture(coroutine) else _line(coroutine))
    return error


def _set_line(error: BaseException, line: int | None) -> None:
    if line is not None:
        _lines[id(error)] = line


def line_of(error: BaseException) -> int | None:
    """The line that created the coroutine or task that `error` is about, if there is one."""
    return _lines.get(id(error))


def warn() -> None:
    """Turn the calls and failures noted so far into warnings."""
    for call, count in _unawaited.items():
        position = "" if call.line is None else f" on line {call.line}"
        times = "" if count == 1 else f" ({count} times)"
        effect = "it had no effect" if call.is_tool else "it did not run"
        # Only the main thread records the line.
        advice = GATHER if call.is_tool and call.line is None else "write `await` before it"
        notices.warn(f"{call.name}{position} was never awaited, so {effect}{times}: {advice}.")
    for error, _ in _failures:
        notices.warn(f"A task that was never awaited failed too: {type(error).__name__}.")


def _note_coroutine(coroutine: Any) -> None:
    """Called by CPython when a coroutine that never ran is deleted."""
    try:
        line = _line(coroutine)
        if line is None and not _is_ours(coroutine):
            streams.write_line(f"RuntimeWarning: coroutine {coroutine.__qualname__!r} was never awaited")
            return
        call = _Call(_name(coroutine), line, _is_ours(coroutine))
        _unawaited[call] = _unawaited.get(call, 0) + 1
    except Exception:  # noqa: BLE001 (an exception here would only be printed)
        return


def _note_failure(loop: asyncio.BaseEventLoop, context: dict[str, Any]) -> None:
    """Called by asyncio for an exception that was never retrieved, among others."""
    error, future = context.get("exception"), context.get("future")
    is_unnoticed = _Watch.is_on and future is not None and "never retrieved" in str(context.get("message"))
    if is_unnoticed and isinstance(error, Exception):
        _failures.append((error, _line_of_task(future)))
    else:
        _handle_exception(loop, context)


def _note_task(task: Any) -> None:
    """Note a task that has failed unnoticed, or that will be cancelled because it did not end."""
    if not task.done():
        line = _line_of_task(task)
        if line is not None and not _waits_for_others(task.get_coro()):
            name = _name(task.get_coro())
            notices.warn(
                f"The task {name} of line {line} was still running when the script ended, and was stopped: await it."
            )
    elif getattr(task, "_log_traceback", False) and not task.cancelled():
        error = task.exception()  # from now on it counts as retrieved
        if isinstance(error, Exception):
            _failures.append((error, _line_of_task(task)))


def _waits_for_others(coroutine: Any) -> bool:
    """Whether a task waits for something that only another task could do, such as a worker at an empty queue."""
    while type(getattr(coroutine, "cr_await", None)) is CoroutineType:
        coroutine = coroutine.cr_await
    return str(coroutine.cr_code.co_filename).endswith(("asyncio/queues.py", "asyncio/locks.py"))


def _line_of_task(task: Any) -> int | None:
    """The line that created the task's coroutine; for `gather`, that of its first coroutine."""
    children = getattr(task, "_children", None)
    if isinstance(children, list) and children:
        return _line_of_task(children[0])
    return _line(task.get_coro()) if isinstance(task, asyncio.Task) else None


def _line(coroutine: Any) -> int | None:
    """The line of the script that created the coroutine."""
    origin = getattr(coroutine, "cr_origin", None)
    return origin[0][1] if origin and origin[0][0] == Source.name else None


def _is_ours(coroutine: Any) -> bool:
    return bool(coroutine.cr_code.co_filename.startswith(RUNTIME_FOLDER))


def _name(coroutine: Any) -> str:
    """The call as the script wrote it, with the first argument of one of our functions."""
    name = str(coroutine.__qualname__).rpartition("<locals>.")[2]
    argument = ""
    if _is_ours(coroutine) and coroutine.cr_frame is not None:
        values = coroutine.cr_frame.f_locals
        first = next((values[key] for key in ("name", "filename", "ref") if key in values), None)
        argument = repr(first[:NAME_CHARACTERS]) if type(first) is str else ""
    return f"{name[:NAME_CHARACTERS]}({argument})"


def _values(names: dict[str, Any]) -> Iterator[Any]:
    """The values of the script's variables, and the items of those that are plain containers."""
    for value in list(names.values()):
        kind = type(value)
        if kind not in _CONTAINERS:
            yield value
        elif len(value) <= SCANNED_ITEMS:
            yield from list(value.values()) if kind is dict else list(value)
