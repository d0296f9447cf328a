"""Typed stubs of the tools that a script may call: `.pyi` for Python, `.d.ts` for JavaScript and TypeScript.

Models, editors and type checkers read them. Whatever a server wrote, stubs contain only declarations: its texts appear
in comments, docstrings and string literals, and its names as identifiers. The same tools give the same bytes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from paddock.model.tools import Tool
from paddock.tools.identifiers import linked, own_names, reserved, shared, unique_tools
from paddock.tools.sanitize import lines, one_line
from paddock.tools.schema_types import ANY, Either, Field, MapOf, Named, Names, Plain, Reader, Record, Shape, type_name

if TYPE_CHECKING:
    from paddock.tools import stubs_python, stubs_typescript

TYPED_CALLS = 200
"""With more tools than this, `call_tool` has no overloads, because the list would be too long to be useful."""
CALL_NAME_CHARACTERS = 200
PREFIX_CHARACTERS = 50
DOCUMENTATION_CHARACTERS = 1200
_UNDECLARED = (
    "Result not declared: an object from JSON text (text, with _text: true in the arguments), "
    "else {result: text, list or artifact}; a list of one is its item."
)


def _fields(*, is_required: bool, **kinds: str) -> list[Field]:
    return [Field(name, Plain(kind), is_required, "") for name, kind in kinds.items()]


_SUCCESS = Field("success", Plain("boolean"), is_required=True, note="if false, only `error` is set")
_PATH = Field("path", Plain("string"), is_required=True, note="what to open")
_CONTENT = Field("content", ANY, is_required=False, note="text, or bytes if it is not text")
_FILE = _fields(is_required=True, file_name="string", file_type="string", element_id="string")
_CREATED = _fields(is_required=False, id="string", url="string")
_METADATA = _fields(is_required=False, filename="string", mimeType="string", size="integer", error="string")
OWN_TYPES = (
    Record("AttachedFile", (_PATH, *_FILE)),
    Record("CreatedArtifact", (_SUCCESS, *_CREATED, *_METADATA)),
    Record("ArtifactContent", (_SUCCESS, _CONTENT, *_METADATA)),
)
"""The types of Paddock's own functions in a script."""


@dataclass(frozen=True, slots=True)
class Signature:
    """A tool as a function. The last of `names` belongs to no other tool. `call_names` are for `call_tool`."""

    tool: Tool
    names: tuple[str, ...]
    call_names: tuple[str, ...]
    records: tuple[Record, ...]
    arguments: Shape
    is_optional: bool
    result: Shape

    def documentation(self, call: str) -> list[str]:
        """Lines about the tool: its description, then `call`, which is how to call it by its full name, and effects."""
        description = lines(self.tool.description or self.tool.title, DOCUMENTATION_CHARACTERS)
        tool = f"Or: await {call}" if self.call_names else f"Tool: {one_line(self.tool.full_name)}"
        facts = [f"{tool}{_effects(self.tool)}"]
        if self.tool.server and self.tool.output_schema is None:
            facts.append(_UNDECLARED)
        return [*description, "", *facts] if description else facts


def _effects(tool: Tool) -> str:
    if tool.hints.read_only:
        return " (read-only)"
    return " (destructive)" if tool.hints.destructive else ""


def stubs(
    tools: Iterable[Tool], language: str = "python", *, among: Iterable[Tool] | None = None, is_ordered: bool = False
) -> dict[str, str]:
    """The declarations of each tool, by its unambiguous function name.

    `among` are all tools that the script may call, if `tools` are only some: function names depend on the others.
    `is_ordered` means that a user has linked each tool by its name. A shared name then means the first of its tools.
    """
    writer = _writer(language)
    found = signatures(tools, language, among=among, is_ordered=is_ordered)
    return {one.names[-1]: writer.declare(one) for one in found}


def module(
    tools: Iterable[Tool], language: str = "python", *, rebound: Collection[str] = (), is_ordered: bool = False
) -> str:
    """A whole stub file: the names that every script has, and the tools.

    `rebound` are names that the script assigns itself. A type checker would apply the types declared here to them.
    """
    found = signatures(tools, language, is_ordered=is_ordered)
    known = [*own_names(language), *(name for signature in found for name in signature.names)]
    return _writer(language).module(
        [replace(one, names=tuple(name for name in one.names if name not in rebound)) for one in found],
        typed_calls=len(found) <= TYPED_CALLS,
        rebound=[name for name in known if name in rebound],
    )


def signatures(
    tools: Iterable[Tool], language: str = "python", *, among: Iterable[Tool] | None = None, is_ordered: bool = False
) -> list[Signature]:
    """The signature of each tool in a script of this language, in the order in which they are linked."""
    chosen = unique_tools(tools)
    names = linked(chosen if among is None else [*among, *chosen], language)
    refused = {} if is_ordered else shared(names.values(), language)
    by_tool: dict[str, list[str]] = {}
    for name, tool in names.items():
        if tool.full_name in refused.get(name, ()):
            continue  # a call of it would choose a tool by chance
        by_tool.setdefault(tool.full_name, []).append(name)
    writer = _writer(language)
    types = Names({*names, *reserved(language), *writer.TYPE_NAMES})
    bare = _unambiguous_names(unique_tools(names.values()))
    return [
        _signature(tool, tuple(by_tool[tool.full_name]), types, writer.ARGUMENTS, tool.name in bare) for tool in chosen
    ]


def _signature(tool: Tool, names: tuple[str, ...], types: Names, suffix: str, is_bare: bool) -> Signature:
    prefix = type_name(names[0])[:PREFIX_CHARACTERS]
    prefix = prefix if prefix[:1].isalpha() else f"Tool{prefix}"
    reader = Reader(tool.input_schema, types, f"{prefix}{suffix}")
    arguments = reader.arguments()
    is_optional = _is_optional(arguments, reader.records)
    records = reader.records
    result: Shape = MapOf(ANY)
    if tool.output_schema is not None:
        reader = Reader(tool.output_schema, types, f"{prefix}Result", records)
        result = reader.result()
        records = [*records, *reader.records]
    return Signature(
        tool=tool,
        names=names,
        call_names=_call_names(tool, is_bare),
        records=tuple(records),
        arguments=arguments,
        is_optional=is_optional,
        result=result,
    )


def _call_names(tool: Tool, is_bare: bool) -> tuple[str, ...]:
    """The names for `call_tool` that are declared for this tool; none if its name is too long to read."""
    if len(tool.full_name) > CALL_NAME_CHARACTERS:
        return ()
    return (tool.full_name, tool.name) if is_bare and tool.server else (tool.full_name,)


def _unambiguous_names(tools: Collection[Tool]) -> set[str]:
    """The names that mean exactly one of these tools."""
    times = Counter(name for tool in tools for name in {tool.name, tool.full_name})
    return {name for name, count in times.items() if count == 1}


def _is_optional(arguments: Shape, records: list[Record]) -> bool:
    """Whether a call may omit the arguments because nothing in them is required."""
    members = arguments.members if isinstance(arguments, Either) else (arguments,)
    required = {record.name for record in records if any(field.is_required for field in record.fields)}
    return any(not isinstance(member, Named) or member.name not in required for member in members)


def _writer(language: str) -> stubs_python.Writer | stubs_typescript.Writer:
    from paddock.tools import stubs_python, stubs_typescript

    return stubs_python.Writer() if language == "python" else stubs_typescript.Writer()
