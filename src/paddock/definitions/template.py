"""A template of Jinja that somebody else wrote: it sees the values that it is given, and ends soon, with little text.

Jinja's sandbox keeps it from Python's objects. It does not bound how long a template takes and how much it makes, so
each line of it looks at the clock, and what repeats a text or asks for a width is refused. That is no wall around its
memory: texts that are joined again and again still grow. A template of a stranger's belongs in the jail.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping
from functools import wraps
from types import FrameType
from typing import Any

from jinja2 import StrictUndefined, TemplateRuntimeError
from jinja2.sandbox import ImmutableSandboxedEnvironment

SECONDS = 2.0
TEXT_CHARACTERS = 4 * 1024 * 1024
MOST_NUMBER = 10_000
"""A larger number is no argument of a function or of a filter, and neither repeats a text nor is an exponent."""


class Environment(ImmutableSandboxedEnvironment):
    """Compiles templates that are rendered by `rendered`."""

    intercepted_binops = frozenset({"*", "**", "%"})

    def __init__(self) -> None:
        # Not HTML: what goes in is shown to a model, and filters keep it apart from the template's own words.
        super().__init__(undefined=StrictUndefined, autoescape=False)
        self.filters = {name: _modest(each) for name, each in self.filters.items() if name != "format"}

    def wrap_str_format(self, value: Any) -> Callable[..., str] | None:
        if super().wrap_str_format(value) is not None:
            raise TemplateRuntimeError("a text is not filled in with format; use ~")
        return None

    def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
        if operator == "%" and isinstance(left, str):
            raise TemplateRuntimeError("a text is not filled in with %; use ~")
        if not all(isinstance(each, int | float) for each in (left, right)) or operator == "**":
            _check([left, right])
        return super().call_binop(context, operator, left, right)

    def call(self, __context: Any, __obj: Any, *arguments: Any, **named: Any) -> Any:
        if __obj is not self.globals["range"]:  # which has a limit of its own
            _check([*arguments, *named.values()])
        return super().call(__context, __obj, *arguments, **named)


def rendered(environment: Environment, source: str, values: Mapping[str, Any]) -> str:
    """The text; `TemplateRuntimeError` where it takes too long or is too much. Belongs in a thread of its own."""
    template = environment.from_string(source)
    pieces, size, until = [], 0, time.monotonic() + SECONDS

    def look(frame: FrameType, event: str, argument: object) -> Any:
        if time.monotonic() > until:
            raise TemplateRuntimeError(f"it takes longer than {SECONDS:g} s")
        return look

    before = sys.gettrace()
    sys.settrace(look)
    try:
        for piece in template.generate(values):
            size += len(piece)
            if size > TEXT_CHARACTERS:
                raise TemplateRuntimeError(f"it makes more than {TEXT_CHARACTERS} characters")
            pieces.append(piece)
    finally:
        sys.settrace(before)
    return "".join(pieces)


def _modest(function: Callable[..., Any]) -> Callable[..., Any]:
    """A filter that takes no large number."""

    @wraps(function)
    def called(*arguments: Any, **named: Any) -> Any:
        _check([*arguments[1:], *named.values()])
        return function(*arguments, **named)

    return called


def _check(arguments: list[Any]) -> None:
    for each in arguments:
        if isinstance(each, int | float) and abs(each) > MOST_NUMBER:
            raise TemplateRuntimeError(f"a number of at most {MOST_NUMBER} is taken there, not {each:g}")
