"""Answers a script's tool calls. Every failure of a call is an error envelope; nothing else reaches the script."""

from __future__ import annotations

import asyncio
import builtins
import inspect
import json
import time
from collections.abc import Callable, Iterable, Mapping
from keyword import iskeyword
from typing import Any

from paddock.model.envelope import envelope
from paddock.model.errors import UnknownTool
from paddock.model.events import Answer, ToolCall
from paddock.model.nesting import is_deeper
from paddock.model.result import Call
from paddock.tools.threads import in_thread

Function = Callable[..., Any]
ARGUMENT_BYTES = 4 * 1024 * 1024
"""Of JSON, over all calls of a run: they are kept in the host's memory until it ends."""
ARGUMENT_DEPTH = 100


RESERVED = frozenset({"call_tool", "report_progress", "create_artifact", "read_artifact", "files"})
"""Names that every script finds defined."""


def by_name(functions: Iterable[Function]) -> dict[str, Function]:
    """The tools that `functions` are, each under its own name, by which a script calls it."""
    tools: dict[str, Function] = {}
    if not isinstance(functions, Iterable):
        raise UnknownTool(f"tools must be a list of functions, not {functions!r}")
    for function in functions:
        name = getattr(function, "__name__", "")
        if not callable(function) or not name.isidentifier() or iskeyword(name) or name.startswith("__paddock"):
            raise UnknownTool(f"{function!r} has no name that a script could call it by; give it one with `def`")
        if name in RESERVED or hasattr(builtins, name):
            raise UnknownTool(f"a tool named {name!r} would hide what a script has under that name; rename it")
        if name in tools:
            raise UnknownTool(f"two tools are named {name!r}; rename one")
        tools[name] = function
    return tools


class Broker:
    """Answers the calls of one run, in whatever order they finish, and remembers each."""

    def __init__(self, tools: Mapping[str, Function], call_limit: int) -> None:
        self._tools = tools
        self._call_limit = call_limit
        self._bytes_left = ARGUMENT_BYTES
        self._calls: dict[int, Call] = {}

    async def answer(self, call: ToolCall) -> Answer:
        """What `call` comes to. Never raises for what a tool or a script does."""
        if call.id > self._call_limit:
            return self._over_limit(call)
        arguments = self._arguments(call)
        started = time.perf_counter()
        answer = _unusable(call.tool) if arguments is None else await self._answer(call.tool, arguments)
        milliseconds = (time.perf_counter() - started) * 1000
        status = "error" if answer.failed else "ok"
        self._calls[call.id] = Call(call.id, call.tool, arguments or {}, status, round(milliseconds, 3))
        return answer

    def calls(self) -> tuple[Call, ...]:
        """The finished calls, in the order of the program. One over the limit was never made, and is not among them."""
        return tuple(self._calls[number] for number in sorted(self._calls))

    def _arguments(self, call: ToolCall) -> dict[str, Any] | None:
        """The arguments, or None where they are too many or nested too deeply to be shown in a result."""
        self._bytes_left -= len(call.arguments_json)
        if self._bytes_left < 0:
            return None
        try:
            arguments: dict[str, Any] = json.loads(call.arguments_json)
        except (ValueError, RecursionError):
            return None
        return None if is_deeper(arguments, ARGUMENT_DEPTH) else arguments

    async def _answer(self, tool: str, arguments: dict[str, Any]) -> Answer:
        function = self._tools.get(tool)
        if function is None:
            return self._not_found(tool)
        try:
            value = await _called(function, arguments)
            return Answer(json.dumps(value if isinstance(value, dict) else {"result": value}, allow_nan=False))
        except asyncio.CancelledError as problem:
            if _is_cancelled():
                raise
            return _internal(tool, problem)  # the tool's own; without an answer the script would wait for ever
        # A tool is foreign code; what it raises belongs to the script. SystemExit too, or it would end the event loop.
        except BaseException as problem:  # noqa: BLE001
            return _internal(tool, problem)

    def _over_limit(self, call: ToolCall) -> Answer:
        summary = f"The run may make {self._call_limit} tool calls and this was one more."
        hints = ["Ask for more in one call, or raise limits.calls."]
        return _failed("sandbox_runtime", call.tool, summary, "CALL_LIMIT_EXCEEDED", hints)

    def _not_found(self, name: str) -> Answer:
        from difflib import get_close_matches

        hints = [f"Did you mean '{near}'?" for near in get_close_matches(name, self._tools, 3)]
        return _failed("tool_not_found", name, f"There is no tool '{name}'.", "TOOL_NOT_FOUND", hints)


async def _called(function: Function, arguments: dict[str, Any]) -> Any:
    if inspect.iscoroutinefunction(function):
        return await function(**arguments)
    value, problem = await in_thread(lambda: _kept(function, arguments))  # it may block; the event loop may not
    if problem is not None:
        raise problem if isinstance(problem, Exception) and not isinstance(problem, StopIteration) else _Left(problem)
    return await value if inspect.isawaitable(value) else value


class _Left(Exception):
    """Stands for what cannot be raised through a future: StopIteration, SystemExit, KeyboardInterrupt."""


def _kept(function: Function, arguments: dict[str, Any]) -> tuple[Any, BaseException | None]:
    try:
        return function(**arguments), None
    except BaseException as problem:  # noqa: BLE001
        return None, problem


def _is_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _internal(tool: str, problem: BaseException) -> Answer:
    if isinstance(problem, _Left):
        problem = problem.args[0]
    try:
        text = str(problem)
    except Exception:  # noqa: BLE001  a foreign __str__ may fail as well
        text = ""
    name = type(problem).__name__
    return _failed("internal_error", tool, f"{name}: {text}" if text else name, "INTERNAL_ERROR")


def _unusable(tool: str) -> Answer:
    size = ARGUMENT_BYTES // (1024 * 1024)
    summary = f"The arguments are nested more than {ARGUMENT_DEPTH} deep, or those of the run exceed {size} MB in all."
    return _failed("sandbox_runtime", tool, summary, "ARGUMENTS_TOO_LARGE", ["Pass less, and flatter, at once."])


def _failed(kind: str, tool: str, summary: str, code: str, hints: list[str] | None = None) -> Answer:
    return Answer(json.dumps(envelope(kind, tool, summary, code, hints=hints or [])), failed=True)
