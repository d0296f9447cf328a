"""The prompt that explains code tools to an agent: a Jinja template with two variables.

`code_execution_stubs` maps each definition's name to the typed stubs of its linked tools. `input.files` lists the
attached files (`element_id`, `file_name`, `file_type`). A template may come from a user: Jinja's sandbox denies it
access to Python's internals, and the bounds below limit its time and output. Memory is not limited, so a template from
a stranger must be rendered in a jail.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial, wraps
from importlib import resources
from types import FrameType
from typing import TYPE_CHECKING, Any

from jinja2 import StrictUndefined, TemplateRuntimeError
from jinja2.sandbox import ImmutableSandboxedEnvironment

from paddock.definitions.definition import Definition
from paddock.errors import RequestError, UnknownTool
from paddock.model.files import File
from paddock.tools.sanitize import fenced

if TYPE_CHECKING:
    from paddock.run import Paddock

TEMPLATE_CHARACTERS = 64 * 1024
RENDER_SECONDS = 2.0
TEXT_CHARACTERS = 4 * 1024 * 1024
MAX_NUMBER = 10_000
"""The largest number that a template may pass to a function or filter, repeat a text by, or use as an exponent."""


async def code_execution_prompt(
    paddock: Paddock,
    linked: Mapping[str, Iterable[str] | None] | None = None,
    *,
    files: Iterable[File | Mapping[str, str]] = (),
    template: str | None = None,
) -> str:
    """Render the prompt for an agent that has code tools. Raises RequestError for a template that fails.

        await code_execution_prompt(paddock, {"totals": ["shop.*"]})

    `linked` maps the name of each code tool to the names or patterns of the tools that its scripts may call; None means
    all tools. The default is one code tool, `code_execution`, with all tools. `template` replaces the shipped template.
    """
    links = {"code_execution": None} if linked is None else linked
    stubs = {name: await paddock.tool_stubs(tools, whole=False) for name, tools in links.items()}
    return await asyncio.to_thread(render_prompt, stubs, [_entry(file) for file in files], template)


async def linked_stubs(paddock: Paddock, definition: Definition) -> str:
    """Typed declarations of the tools that a definition links. If one is missing, a comment that says so."""
    language = "python" if definition.is_python else "typescript"
    try:
        return await paddock.tool_stubs(definition.tools, language=language, whole=False)
    except UnknownTool as problem:
        return f"{'#' if definition.is_python else '//'} {' '.join(str(problem).split())}\n"


def render_prompt(stubs: Mapping[str, str], files: Sequence[Mapping[str, str]], template: str | None = None) -> str:
    """Render a template with these values. Call it in a separate thread: see `_render_bounded`."""
    source = template
    if source is None:
        source = (resources.files("paddock.definitions") / "prompt.jinja").read_text(encoding="utf-8")
    if len(source) > TEMPLATE_CHARACTERS:
        raise RequestError(f"the template is longer than {TEMPLATE_CHARACTERS} characters; make it shorter")
    environment = _Environment()
    environment.filters |= {"fenced": fenced, "quoted": partial(json.dumps, ensure_ascii=False)}
    values = {"code_execution_stubs": dict(stubs), "input": {"files": [dict(file) for file in files]}}
    try:
        return _render_bounded(environment, source, values)
    except Exception as problem:  # noqa: BLE001  a template is a program, which may raise anything
        raise RequestError(f"the template cannot be rendered: {type(problem).__name__}: {problem}") from None


class _Environment(ImmutableSandboxedEnvironment):
    """Jinja's sandbox without the operations that make a huge text from a short template."""

    intercepted_binops = frozenset({"*", "**", "%"})

    def __init__(self) -> None:
        # No HTML escaping: a model reads the text, and the filters quote untrusted text.
        super().__init__(undefined=StrictUndefined, autoescape=False)
        self.filters = {name: _with_small_numbers(each) for name, each in self.filters.items() if name != "format"}

    def wrap_str_format(self, value: Any) -> Callable[..., str] | None:
        if super().wrap_str_format(value) is not None:
            raise TemplateRuntimeError("format is not available on strings; join them with ~")
        return None

    def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
        if operator == "%" and isinstance(left, str):
            raise TemplateRuntimeError("% is not available on strings; join them with ~")
        if not all(isinstance(each, int | float) for each in (left, right)) or operator == "**":
            _check_numbers([left, right])
        return super().call_binop(context, operator, left, right)

    def call(self, __context: Any, __obj: Any, *arguments: Any, **named: Any) -> Any:
        if __obj is not self.globals["range"]:  # the sandbox limits range() already
            _check_numbers([*arguments, *named.values()])
        return super().call(__context, __obj, *arguments, **named)


def _render_bounded(environment: _Environment, source: str, values: Mapping[str, Any]) -> str:
    """Render with limits on time and output. It sets its thread's trace function, so it needs its own thread."""
    template = environment.from_string(source)
    pieces, size, deadline = [], 0, time.monotonic() + RENDER_SECONDS

    def check_deadline(frame: FrameType, event: str, argument: object) -> Any:
        if time.monotonic() > deadline:
            raise TemplateRuntimeError(f"rendering takes longer than {RENDER_SECONDS:g} s")
        return check_deadline

    previous_trace = sys.gettrace()
    sys.settrace(check_deadline)
    try:
        for piece in template.generate(values):
            size += len(piece)
            if size > TEXT_CHARACTERS:
                raise TemplateRuntimeError(f"its output has more than {TEXT_CHARACTERS} characters")
            pieces.append(piece)
    finally:
        sys.settrace(previous_trace)
    return "".join(pieces)


def _with_small_numbers(function: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a filter so that it refuses large numbers, such as widths."""

    @wraps(function)
    def checked(*arguments: Any, **named: Any) -> Any:
        _check_numbers([*arguments[1:], *named.values()])
        return function(*arguments, **named)

    return checked


def _check_numbers(arguments: list[Any]) -> None:
    for each in arguments:
        if isinstance(each, int | float) and abs(each) > MAX_NUMBER:
            raise TemplateRuntimeError(f"a number may be at most {MAX_NUMBER} here, not {each:g}")


def _entry(file: File | Mapping[str, Any]) -> dict[str, str]:
    if isinstance(file, File):
        return {"element_id": file.element_id, "file_name": file.file_name, "file_type": file.file_type}
    return {name: str(file.get(name) or "") for name in ("element_id", "file_name", "file_type")}
