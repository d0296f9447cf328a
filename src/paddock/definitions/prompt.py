"""What an agent's prompt says of the code tools that it has: a template of Jinja, with two variables.

`code_execution_stubs` has the typed stubs of the linked tools by the name of the definition that links them, and
`input.files` the files that are attached (`element_id`, `file_name`, `file_type`).
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from importlib import resources
from typing import TYPE_CHECKING, Any

from paddock.definitions.definition import Definition
from paddock.errors import RequestError, UnknownTool
from paddock.model.files import File

if TYPE_CHECKING:
    from paddock.run import Paddock

TEMPLATE_BYTES = 64 * 1024


async def code_execution_prompt(
    paddock: Paddock,
    linked: Mapping[str, Iterable[str] | None] | None = None,
    *,
    files: Iterable[File | Mapping[str, str]] = (),
    template: str | None = None,
) -> str:
    """The prompt for an agent that has code tools; `linked` has the names or patterns of what each may call.

    By default there is one, `code_execution`, which may call everything. `template` takes the place of the one that
    comes with Paddock; `RequestError` where it cannot be rendered.
    """
    asked = {"code_execution": None} if linked is None else linked
    stubs = {name: await paddock.tool_stubs(tools, whole=False) for name, tools in asked.items()}
    return await asyncio.to_thread(render, stubs, [_entry(file) for file in files], template)


async def stubs_of(paddock: Paddock, definition: Definition) -> str:
    """The tools that a definition links, declared with their types; where one is not there now, that is said."""
    language = "python" if definition.language in ("python", None) else "typescript"
    try:
        return await paddock.tool_stubs(definition.tools, language=language, whole=False)
    except UnknownTool as problem:
        return f"{'#' if language == 'python' else '//'} {' '.join(str(problem).split())}\n"


def render(stubs: Mapping[str, str], files: Sequence[Mapping[str, str]], template: str | None = None) -> str:
    """The text of a template. It runs in Jinja's sandbox: it sees these values, can change nothing, and ends soon."""
    from jinja2 import TemplateError

    from paddock.definitions.template import Environment, rendered

    source = _shipped() if template is None else template
    if len(source) > TEMPLATE_BYTES:
        raise RequestError(f"the template is larger than {TEMPLATE_BYTES} bytes")
    environment = Environment()
    environment.filters |= {"fenced": fenced, "quoted": quoted}
    try:
        values = {"code_execution_stubs": dict(stubs), "input": {"files": [dict(file) for file in files]}}
        return rendered(environment, source, values)
    except (TemplateError, TypeError, ValueError, ArithmeticError, LookupError, RecursionError, MemoryError) as problem:
        raise RequestError(f"the template cannot be rendered: {type(problem).__name__}: {problem}") from None


def fenced(text: str, language: str = "") -> str:
    """A block of markdown that nothing in `text` can end."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"


def quoted(text: str) -> str:
    """A name that somebody else chose, on one line and in quotes."""
    return json.dumps(text, ensure_ascii=False)


def _shipped() -> str:
    return (resources.files("paddock.definitions") / "prompt.jinja").read_text(encoding="utf-8")


def _entry(file: File | Mapping[str, Any]) -> dict[str, str]:
    if isinstance(file, File):
        return {"element_id": file.element_id, "file_name": file.file_name, "file_type": file.file_type}
    return {name: str(file.get(name, "")) for name in ("element_id", "file_name", "file_type")}
