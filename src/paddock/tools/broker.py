"""Answers a script's tool calls. Every failure of a call is an error envelope; nothing else reaches the script."""

from __future__ import annotations

import asyncio
import inspect
import json
import time
from collections.abc import Callable, Mapping
from typing import Any

from paddock.model.envelope import envelope
from paddock.model.events import Answer, ToolCall
from paddock.model.result import Call

Function = Callable[..., Any]


class Broker:
    """Answers the calls of one run, in whatever order they finish, and remembers each."""

    def __init__(self, tools: Mapping[str, Function], call_limit: int) -> None:
        self._tools = tools
        self._call_limit = call_limit
        self._calls: dict[int, Call] = {}

    async def answer(self, call: ToolCall) -> Answer:
        """What `call` comes to. Never raises for what a tool does."""
        started = time.perf_counter()
        answer = await self._answer(call)
        milliseconds = (time.perf_counter() - started) * 1000
        status = "error" if answer.failed else "ok"
        self._calls[call.id] = Call(call.id, call.tool, json.loads(call.arguments_json), status, round(milliseconds, 3))
        return answer

    def calls(self) -> tuple[Call, ...]:
        """The finished calls, in the order of the program."""
        return tuple(self._calls[number] for number in sorted(self._calls))

    async def _answer(self, call: ToolCall) -> Answer:
        if call.id > self._call_limit:
            summary = f"The run may make {self._call_limit} tool calls and this was one more."
            hints = ["Ask for more in one call, or raise limits.calls."]
            return _failed("sandbox_runtime", call.tool, summary, "CALL_LIMIT_EXCEEDED", hints)
        function = self._tools.get(call.tool)
        if function is None:
            return self._not_found(call.tool)
        try:
            value = await _called(function, json.loads(call.arguments_json))
            return Answer(json.dumps(value if isinstance(value, dict) else {"result": value}, allow_nan=False))
        except Exception as problem:  # noqa: BLE001  a tool is foreign code; what it raises belongs to the script
            return _failed("internal_error", call.tool, f"{type(problem).__name__}: {problem}", "INTERNAL_ERROR")

    def _not_found(self, name: str) -> Answer:
        from difflib import get_close_matches

        hints = [f"Did you mean '{near}'?" for near in get_close_matches(name, self._tools, 3)]
        return _failed("tool_not_found", name, f"There is no tool '{name}'.", "TOOL_NOT_FOUND", hints)


async def _called(function: Function, arguments: dict[str, Any]) -> Any:
    if inspect.iscoroutinefunction(function):
        return await function(**arguments)
    value = await asyncio.to_thread(function, **arguments)  # a plain function may block; the event loop may not
    return await value if inspect.isawaitable(value) else value


def _failed(kind: str, tool: str, summary: str, code: str, hints: list[str] | None = None) -> Answer:
    return Answer(json.dumps(envelope(kind, tool, summary, code, hints=hints or [])), failed=True)
