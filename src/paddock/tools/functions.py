"""Python functions as tools: their schemas from annotations and docstrings, and how they are called."""

from __future__ import annotations

import asyncio
import builtins
import contextvars
import inspect
import json
import re
import threading
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import cached_property
from keyword import iskeyword
from typing import Any, get_type_hints

from paddock.errors import UnknownTool
from paddock.model.events import Answer
from paddock.model.tools import Hints, Tool
from paddock.planning.plan import BRIDGE_NAMES

Function = Callable[..., Any]
RESERVED = frozenset({*BRIDGE_NAMES, "files"})
"""Names that are defined in every script."""
LISTED_ERRORS = 20
"""How many wrong values of one argument the error of a call lists."""
# The usual styles of docstrings describe a parameter as `name: text`, `name (type): text` or `:param type name: text`.
_SECTION = re.compile(r"^\s*(args|arguments|parameters|params)\s*:?\s*$", re.IGNORECASE)
_OTHER_SECTION = re.compile(r"^\s*(returns?|raises|yields?|examples?|notes?)\s*:?\s*$", re.IGNORECASE)
_PARAMETER = re.compile(r"^\s*(?::param\s+(?:[^:\s]+\s+)?)?\*{0,2}(\w+)\s*(?:\([^)]*\))?\s*:\s*(\S.*)$")


class FunctionTool:
    """One function as a tool. Its schemas are computed on first use."""

    def __init__(self, name: str, function: Function) -> None:
        self.name = name
        self.function = function

    @cached_property
    def tool(self) -> Tool:
        summary, described = _docstring(self.function)
        hints = getattr(self.function, "hints", None)
        return Tool(
            server="",
            name=self.name,
            description=summary,
            input_schema=self._parameters.schema(described),
            output_schema=_output_schema(self.function),
            hints=hints if isinstance(hints, Hints) else Hints(),
        )

    @cached_property
    def _parameters(self) -> _Parameters:
        return _Parameters(self.function)

    async def call(self, arguments: Mapping[str, Any]) -> Any:
        """Call the function with arguments that its schema allows. Raises what the function raises."""
        values = self._parameters.values(arguments)
        if inspect.iscoroutinefunction(self.function):
            return await self.function(**values)
        # The function may block, and the event loop must not.
        value = await _in_thread(self.function, values)
        return await value if inspect.isawaitable(value) else value


async def _in_thread(function: Function, arguments: Mapping[str, Any]) -> Any:
    """Call `function` in its own daemon thread. A cancelled caller stops waiting; the thread continues.

    asyncio's executor is not used: it has few threads and waits for them at exit, so a tool that never returns would
    occupy one of them and keep the host from exiting.
    """
    loop = asyncio.get_running_loop()
    done: asyncio.Future[tuple[Any, BaseException | None]] = loop.create_future()
    context = contextvars.copy_context()

    def settle(value: Any, problem: BaseException | None) -> None:
        if not done.done():
            done.set_result((value, problem))  # a future cannot raise StopIteration

    def run() -> None:
        value, problem = None, None
        try:
            value = context.run(function, **arguments)
        except BaseException as raised:  # noqa: BLE001
            problem = raised
        with suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(settle, value, problem)

    threading.Thread(target=run, name="paddock-tool", daemon=True).start()
    value, problem = await done
    if problem is not None:
        raise problem
    return value


def by_name(functions: Iterable[Function]) -> dict[str, FunctionTool]:
    """The functions as tools, by name. Raises UnknownTool for a function that a script could not call."""
    tools: dict[str, FunctionTool] = {}
    if not isinstance(functions, Iterable):
        raise UnknownTool(f"tools must be a list of functions, not {functions!r}")
    for function in functions:
        name = getattr(function, "__name__", "")
        if not callable(function) or not name.isidentifier() or iskeyword(name) or name.startswith("__paddock"):
            raise UnknownTool(f"{function!r} has no name that a script could call it by; give it one with `def`")
        if name in RESERVED or hasattr(builtins, name):
            raise UnknownTool(f"a tool named {name!r} would hide a name that every script already has; rename it")
        if name in tools:
            raise UnknownTool(f"two tools are named {name!r}; rename one")
        tools[name] = FunctionTool(name, function)
    return tools


def to_answer(value: object) -> Answer:
    """A function's return value as the script gets it: an object as itself, anything else under `result`."""
    given = value if isinstance(value, dict) else _plain(value)
    return Answer(_ENCODER.encode(given if isinstance(given, dict) else {"result": given}))


def _plain(value: object) -> Any:
    """The JSON form of a dataclass, a pydantic model or a date."""
    if value is None or isinstance(value, str | int | float | list | tuple):
        return value
    from pydantic_core import to_jsonable_python

    return to_jsonable_python(value)


_ENCODER = json.JSONEncoder(allow_nan=False, default=_plain)


class _Parameters:
    """The parameters of a function: their schema, and the conversion of arguments to the annotated types."""

    def __init__(self, function: Function) -> None:
        hints = _annotations(function)
        try:
            parameters = dict(inspect.signature(function).parameters)
            self._is_open = any(p.kind is p.VAR_KEYWORD for p in parameters.values())
        except (TypeError, ValueError):  # some builtins have no signature
            parameters, self._is_open = {}, True
        named = {key: p for key, p in parameters.items() if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)}
        self._adapters = {key: _adapter(hints.get(key, Any)) for key in named}
        self._required = [key for key, p in named.items() if p.default is p.empty]
        self._defaults = {key: p.default for key, p in named.items() if p.default is not p.empty}

    def schema(self, described: Mapping[str, str]) -> dict[str, Any]:
        definitions: dict[str, Any] = {}
        properties = {}
        for name, adapter in self._adapters.items():
            found = adapter.json_schema() if adapter is not None else {}
            definitions |= found.pop("$defs", {})
            if name in described:
                found["description"] = described[name]
            if name in self._defaults and _is_json(self._defaults[name]):
                found["default"] = self._defaults[name]
            properties[name] = found
        schema: dict[str, Any] = {"type": "object", "properties": properties, "required": self._required}
        schema["additionalProperties"] = self._is_open
        return schema | ({"$defs": definitions} if definitions else {})

    def values(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments as annotated: a dataclass parameter gets an instance, not a dict."""
        return {name: _converted(name, value, self._adapters.get(name)) for name, value in arguments.items()}


def _converted(name: str, value: Any, adapter: Any) -> Any:
    if adapter is None:
        return value
    from pydantic import ValidationError

    try:
        return adapter.validate_python(value)
    except ValidationError as problem:
        count = problem.error_count()
        if count <= LISTED_ERRORS:
            raise
    # The text of a million errors takes seconds and hundreds of megabytes.
    raise ValueError(f"{count:,} values in '{name}' do not have the annotated type")


def _output_schema(function: Function) -> dict[str, Any] | None:
    """The schema of what a script gets: an object as itself, anything else under `result`."""
    hint = _annotations(function).get("return", Any)
    adapter = None if hint in (Any, inspect.Signature.empty) else _adapter(hint)
    if adapter is None:
        return None
    schema = adapter.json_schema(mode="serialization")
    if schema.get("type") == "object" or "$ref" in schema:
        return dict(schema)
    definitions = schema.pop("$defs", None)
    wrapped = {"type": "object", "properties": {"result": schema}, "required": ["result"]}
    return wrapped | ({"$defs": definitions} if definitions else {})


def _adapter(hint: Any) -> Any:
    """A pydantic adapter for an annotation. None if pydantic does not support it: any JSON is then accepted."""
    if hint is Any:
        return None
    from pydantic import TypeAdapter
    from pydantic.errors import PydanticUserError

    try:
        adapter = TypeAdapter(hint)
        adapter.json_schema()
    except (PydanticUserError, TypeError, NameError):
        return None
    return adapter


def _annotations(function: Function) -> dict[str, Any]:
    try:
        return get_type_hints(inspect.unwrap(function), include_extras=True)
    except (TypeError, NameError, AttributeError):  # an annotation names something undefined
        return {}


def _docstring(function: Function) -> tuple[str, dict[str, str]]:
    """The summary of a docstring, and its text for each parameter."""
    text = inspect.getdoc(function) or ""
    if isinstance(function, type) or text == (inspect.getdoc(type(function)) or ""):
        text = ""
    summary: list[str] = []
    parameters: dict[str, str] = {}
    section, last = "summary", ""
    for line in text.splitlines():
        if _SECTION.match(line):
            section = "parameters"
        elif _OTHER_SECTION.match(line) or line.lstrip().startswith((":return", ":rtype", ":raises")):
            section = "other"
        elif (section == "parameters" or line.lstrip().startswith(":param")) and (found := _PARAMETER.match(line)):
            section, last = "parameters", found[1]
            parameters[last] = found[2].strip()
        elif section == "parameters" and last and line.strip():
            parameters[last] += f" {line.strip()}"
        elif section == "summary":
            summary.append(line)
    return "\n".join(summary).strip(), parameters


def _is_json(value: object) -> bool:
    if isinstance(value, list | tuple):
        return all(map(_is_json, value))
    return value is None or isinstance(value, str | int | float | bool)
