"""The functions that are defined for a script: tools, progress, artifacts.

Arguments must be JSON values; numpy numbers and arrays are converted.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Coroutine, Iterable, Mapping
from itertools import islice
from typing import Any

from paddock.guest.python import answers, left_files, notices, streams, values
from paddock.guest.python.channel import Channel
from paddock.guest.python.errors import Source
from paddock.jail import wire
from paddock.jail.wire import Kind

TYPE_CHARACTERS = 200
TOOL_NAME_CHARACTERS = 600
"""Longer than any tool's full name. A longer name is cut, and the host answers that there is no such tool."""
FILE_NAME_CHARACTERS = 4096
MESSAGE_CHARACTERS = 1000
SHOWN_CHARACTERS = 100
_arguments_text = json.JSONEncoder(allow_nan=False, default=values.json_default).encode
_json_text = json.JSONEncoder(allow_nan=False, ensure_ascii=False, default=values.json_default).encode
_decode = json.JSONDecoder().decode
KEPT_KEYS = 20
last_keys: list[str] = []
"""Keys of the answer to the last call, for a hint."""
Function = Callable[..., Coroutine[Any, Any, Any]]
Functions = dict[str, Function]  # by name


def make_functions(channel: Channel) -> Functions:
    """The functions that every script has. They work over this channel."""

    async def call_tool(
        name: str, params: Mapping[str, Any] | None = None, arguments: Mapping[str, Any] | None = None
    ) -> Any:
        """Call a tool with one dict of arguments. A failed call raises RuntimeError with the envelope as its text."""
        params_or_arguments = arguments if params is None else params
        if not isinstance(name, str) or not (params_or_arguments is None or isinstance(params_or_arguments, dict)):
            raise TypeError("call_tool takes the tool's name and one dict of arguments")
        text = values.without_surrogates(_arguments_text(params_or_arguments or {}))
        header = {"tool": streams.clean(name[:TOOL_NAME_CHARACTERS]), "function": isinstance(name, _FunctionName)}
        answer = await channel.request(Kind.CALL, header, text.encode())
        if _decode(answer.header.decode()).get("failed"):
            raise RuntimeError(answer.body.decode())
        result = _decode(answer.body.decode())
        last_keys[:] = islice(result, KEPT_KEYS) if type(result) is dict else ()
        return answers.wrapped(result)

    async def report_progress(done: float, total: float | None = None, message: str = "") -> None:
        """Report the script's progress."""
        if not isinstance(done, int | float) or not (total is None or isinstance(total, int | float)):
            raise TypeError("report_progress takes numbers: report_progress(done, total, message)")
        try:
            done_number, total_number = float(done), None if total is None else float(total)
        except OverflowError:
            raise TypeError("report_progress: the number is too large") from None
        if math.isfinite(done_number) and (total_number is None or math.isfinite(total_number)):
            text = str(message)[:MESSAGE_CHARACTERS] if isinstance(message, str) else ""
            channel.send(Kind.PROGRESS, 0, {"done": done_number, "total": total_number, "message": streams.clean(text)})

    async def create_artifact(filename: str, content: Any, file_type: str | None = None) -> dict[str, Any]:
        """Store text, bytes or, in a JSON file, a dict or list. A failure is `{"success": False, "error": …}`."""
        try:
            body = _artifact_body(filename, content, file_type)
        except (TypeError, ValueError, RecursionError) as error:
            return _no_artifact(filename, _failure(str(error)))
        if len(body) > wire.ARTIFACT_BYTES:
            max_mb = wire.ARTIFACT_BYTES // 2**20
            return _no_artifact(filename, _failure(f"an artifact may be at most {max_mb} MB; this one is larger"))
        header = {"do": "create", "filename": streams.clean(filename), "mime_type": streams.clean(file_type or "")}
        answer = await channel.request(Kind.ARTIFACT, header, body)
        result: dict[str, Any] = _decode(answer.header.decode())
        if not result.get("success"):
            return _no_artifact(filename, result)
        left_files.note_kept(filename, body)
        return result

    async def read_artifact(ref: str) -> dict[str, Any]:
        """The content of an artifact: a str if it is text, otherwise bytes."""
        if not isinstance(ref, str) or len(ref) > FILE_NAME_CHARACTERS:
            return _NothingRead(_failure("read_artifact takes the id or the name of an artifact"))
        answer = await channel.request(Kind.ARTIFACT, {"do": "read", "ref": streams.clean(ref)})
        result: dict[str, Any] = _decode(answer.header.decode())
        if not result.get("success"):
            return _NothingRead(result)
        content = answer.body.decode() if result.pop("text", False) else answer.body
        return {"success": True, "content": content, **{k: v for k, v in result.items() if k != "success"}}

    common: tuple[Function, ...] = (call_tool, report_progress, create_artifact, read_artifact)
    for function in common:
        function.__qualname__ = function.__name__  # messages of CPython show it
    return {function.__name__: function for function in common}


def link_tools(functions: Functions, tools: Iterable[str]) -> Functions:
    """One function for each of these tools."""
    return {name: _tool_function(name, functions["call_tool"]) for name in tools}


class _FunctionName(str):
    """The name of a tool's function. The host knows which tool it stands for."""

    __slots__ = ()


def _tool_function(tool: str, call_tool: Function) -> Function:
    name = _FunctionName(tool)

    async def tool_function(arguments: Mapping[str, Any] | None = None, **fields: Any) -> Any:
        return await call_tool(name, {**(arguments or {}), **fields} if fields else arguments)

    tool_function.__name__ = tool_function.__qualname__ = tool
    tool_function.__doc__ = f"Call the tool {tool!r} with one dict of arguments."
    return tool_function


class _NothingRead(dict[str, Any]):
    """The answer of a failed `read_artifact`. A script that takes the content without a check gets the reason."""

    def __missing__(self, key: object) -> Any:
        raise KeyError(f"{key!r}: {self.get('error')}")

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"{name!r}: {self.get('error')}")


def _failure(error: str) -> dict[str, Any]:
    return {"success": False, "error": error}


def _no_artifact(filename: object, failure: dict[str, Any]) -> dict[str, Any]:
    """`failure`, which is also a warning, because a script may ignore it."""
    caller = sys._getframe(1).f_back  # noqa: SLF001 (what awaits create_artifact)
    line = f" on line {caller.f_lineno}" if caller is not None and caller.f_code.co_filename == Source.name else ""
    name = repr(filename[:SHOWN_CHARACTERS]) if isinstance(filename, str) else ""
    notices.warn(f"create_artifact({name}){line} created no artifact: {failure.get('error')}.")
    return failure


def _artifact_body(filename: object, content: object, file_type: object) -> bytes:
    """The bytes of an artifact. Raises an error that says what is wrong."""
    if not isinstance(filename, str) or len(filename) > FILE_NAME_CHARACTERS:
        raise TypeError("an artifact needs a file name")
    if file_type is not None and (not isinstance(file_type, str) or len(file_type) > TYPE_CHARACTERS):
        raise TypeError("the type of an artifact must be a MIME type, such as text/csv")
    is_json = "json" in file_type.lower() if file_type else filename.lower().endswith(".json")
    if is_json and isinstance(content, dict | list):
        content = _json_text(content)
    if isinstance(content, str):
        return content.encode("utf-8", streams.REPLACE)
    if isinstance(content, bytes | bytearray | memoryview):
        return bytes(content)
    advice = ": pass x.to_csv(index=False)" if hasattr(content, "to_csv") else ""
    raise TypeError(f"the content of an artifact must be text or bytes, not {type(content).__name__}{advice}")
