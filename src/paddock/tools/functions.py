"""Python functions as tools: what they take and give, by their annotations and docstrings, and how they are called."""

from __future__ import annotations

import builtins
import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from keyword import iskeyword
from typing import Any, get_type_hints

from paddock.errors import UnknownTool
from paddock.model.tools import Hints, Tool
from paddock.planning.plan import BRIDGE_NAMES
from paddock.tools.threads import in_thread

Function = Callable[..., Any]
RESERVED = frozenset({*BRIDGE_NAMES, "files"})
"""Names that every script finds defined."""
# `name: text`, `name (type): text`, `:param type name: text`, as the usual styles of docstrings have it.
_SECTION = re.compile(r"^\s*(args|arguments|parameters|params)\s*:?\s*$", re.IGNORECASE)
_OTHER_SECTION = re.compile(r"^\s*(returns?|raises|yields?|examples?|notes?)\s*:?\s*$", re.IGNORECASE)
_PARAMETER = re.compile(r"^\s*(?::param\s+(?:[^:\s]+\s+)?)?\*{0,2}(\w+)\s*(?:\([^)]*\))?\s*:\s*(\S.*)$")


class FunctionTool:
    """One function. What it looks like from outside is found out when somebody first asks: that takes a while."""

    def __init__(self, name: str, function: Function) -> None:
        self.name = name
        self.function = function

    @cached_property
    def tool(self) -> Tool:
        summary, described = _docstring(self.function)
        said = getattr(self.function, "hints", None)
        return Tool(
            server="",
            name=self.name,
            description=summary,
            input_schema=self._taken.schema(described),
            output_schema=_given(self.function),
            hints=said if isinstance(said, Hints) else Hints(),
        )

    @cached_property
    def _taken(self) -> _Taken:
        return _Taken(self.name, self.function)

    @cached_property
    def _is_coroutine(self) -> bool:
        return inspect.iscoroutinefunction(self.function)

    async def call(self, arguments: Mapping[str, Any]) -> Any:
        """What the function returns for arguments that its schema allows. Raises what the function raises."""
        values = self._taken.values(arguments)
        if self._is_coroutine:
            return await self.function(**values)
        # It may block; the event loop may not.
        value, problem = await in_thread(lambda: _kept(self.function, values))
        if problem is not None:
            is_plain = isinstance(problem, Exception) and not isinstance(problem, StopIteration)
            raise problem if is_plain else Left(problem)
        return await value if inspect.isawaitable(value) else value


class Left(Exception):
    """Stands for what cannot be raised through a future: StopIteration, SystemExit, KeyboardInterrupt."""


def _kept(function: Function, arguments: Mapping[str, Any]) -> tuple[Any, BaseException | None]:
    try:
        return function(**arguments), None
    except BaseException as problem:  # noqa: BLE001
        return None, problem


def by_name(functions: Iterable[Function]) -> dict[str, FunctionTool]:
    """The tools that `functions` are, each under its own name, by which a script calls it."""
    tools: dict[str, FunctionTool] = {}
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
        tools[name] = FunctionTool(name, function)
    return tools


class _Taken:
    """What a function takes: as a schema, and as the values that its annotations ask for."""

    def __init__(self, name: str, function: Function) -> None:
        self._parameters: dict[str, inspect.Parameter] = {}
        self._hints = _annotations(function)
        try:
            self._parameters = dict(inspect.signature(function).parameters)
            self._is_open = any(p.kind is p.VAR_KEYWORD for p in self._parameters.values())
        except (TypeError, ValueError):  # some builtins do not say what they take
            self._is_open = True
        named = {key: p for key, p in self._parameters.items() if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)}
        self._adapters = {key: _adapter(self._hints.get(key, Any)) for key in named}
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
        """The arguments as the function wants them: an annotated dataclass gets an instance, not a dict."""
        adapters = self._adapters
        return {
            name: value if (adapter := adapters.get(name)) is None else adapter.validate_python(value)
            for name, value in arguments.items()
        }


def _given(function: Function) -> dict[str, Any] | None:
    """What a script gets: an object as itself, anything else under `result`."""
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
    """Pydantic's account of an annotation; None where it has none, and any JSON is taken as it is."""
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
    except (TypeError, NameError, AttributeError):  # what it names is not there, or not yet
        return {}


def _docstring(function: Function) -> tuple[str, dict[str, str]]:
    """What a docstring says of the function, and of each parameter."""
    said = inspect.getdoc(function) or ""
    if isinstance(function, type) or said == (inspect.getdoc(type(function)) or ""):
        said = ""
    summary: list[str] = []
    parameters: dict[str, str] = {}
    section, last = "summary", ""
    for line in said.splitlines():
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
