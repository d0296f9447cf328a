"""Writes Python stubs: TypedDicts and `async def`s that ty and Monty's checker both understand."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from keyword import iskeyword

from paddock.tools.schema_types import Choice, Either, Field, ListOf, MapOf, Named, Plain, Record, Shape
from paddock.tools.stubs import OWN_TYPES, Signature

_HEADER = '''"""What Paddock defines in a script. Declarations only; await every call."""

from typing import Any, Literal, NotRequired, TypedDict, overload
'''
_BUILT_IN = {
    "files": "files: list[AttachedFile]",
    "report_progress": (
        'async def report_progress(done: float, total: float | None = None, message: str = "") -> None: ...'
    ),
    "create_artifact": (
        "async def create_artifact(filename: str, content: str | bytes, file_type: str | None = None)"
        " -> CreatedArtifact: ..."
    ),
    "read_artifact": "async def read_artifact(ref: str) -> ArtifactContent: ...",
}
_ANY_CALL = (
    "async def call_tool(name: str, params: dict[str, Any] | None = None, "
    "arguments: dict[str, Any] | None = None) -> Any: ..."
)
_PLAIN = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None", "any": "Any"}
_ANNOTATION_NAMES = frozenset({*_PLAIN.values(), "list", "dict", "Literal", "NotRequired", "TypedDict"})
# Comments that a type checker or a linter would obey.
_PRAGMA = re.compile(
    r"(?:^|#)[#\s]*(?=(?:type|ty|mypy|pyright|pyre|ruff|flake8|fmt|isort|pylint)\s*:|noqa\b)", re.IGNORECASE
)


class Writer:
    """Writes `.pyi`."""

    ARGUMENTS = "Arguments"
    TYPE_NAMES = tuple(record.name for record in OWN_TYPES)

    def declare(self, signature: Signature) -> str:
        """Declare the types of a tool and its functions."""
        parts = _records(signature.records)
        call = f"call_tool({_literal(signature.tool.full_name)}, {{...}})"
        text = "\n".join(f"    {line}".rstrip() for line in signature.documentation(call)).lstrip()
        heads = [_head(name, signature) for name in signature.names]
        parts += [f'{head}:\n    """{_quoted(text)}\n    """\n' for head in heads[:1]]
        parts += [f"{head}: ...\n" for head in heads[1:]]
        return "\n".join(parts)

    def module(self, signatures: Sequence[Signature], *, typed_calls: bool, rebound: Collection[str]) -> str:
        """Write the whole file. A name that the script assigns itself is declared as Any."""
        names = [*_BUILT_IN, "call_tool", *(name for signature in signatures for name in signature.names)]
        listed = "".join(f"    {_literal(name)},\n" for name in [*names, *rebound])
        parts = [_HEADER, f"__all__ = [\n{listed}]", *_records(OWN_TYPES)]
        parts += ["\n".join(text for name, text in _BUILT_IN.items() if name not in rebound)]
        parts += [self.declare(signature) for signature in signatures]
        parts.append("" if "call_tool" in rebound else _calls(signatures if typed_calls else ()))
        parts.append("\n".join(f"{name}: Any" for name in rebound))
        return "\n\n".join(part.strip("\n") for part in parts if part.strip()) + "\n"


def _head(name: str, signature: Signature, parameter: str = "arguments") -> str:
    optional = " | None = None" if signature.is_optional else ""
    return f"async def {name}({parameter}: {_type(signature.arguments)}{optional}) -> {_type(signature.result)}"


def _calls(signatures: Sequence[Signature]) -> str:
    overloads = []
    for signature in filter(lambda one: one.call_names, signatures):
        names = ", ".join(_literal(name) for name in signature.call_names)
        overloads.append(f"{_head('call_tool', signature, f'name: Literal[{names}], params')}: ...")
    return "\n".join(f"@overload\n{text}" for text in [*overloads, _ANY_CALL]) if overloads else _ANY_CALL


def _records(records: Sequence[Record]) -> list[str]:
    names = {record.name for record in records} | _ANNOTATION_NAMES
    return [_record(record, names) for record in records]


def _record(record: Record, names: Collection[str]) -> str:
    extra = "" if record.extra is None else f", extra_items={_type(record.extra)}"
    if not all(_is_plain_key(field.name) and field.name not in names for field in record.fields):
        return _record_by_call(record, extra)
    body = "".join(f"    {field.name}: {_field_type(field)}{_comment(field.note)}\n" for field in record.fields)
    return f"class {record.name}(TypedDict{extra}):\n" + (body or "    pass\n")


def _record_by_call(record: Record, extra: str) -> str:
    """The functional form, which allows any key: `from`, `a-b`, or `list`, which in a class would hide that type."""
    body = "".join(
        f"        {_literal(field.name)}: {_field_type(field)},{_comment(field.note)}\n" for field in record.fields
    )
    last = f"    {extra.removeprefix(', ')},\n" if extra else ""
    return f"{record.name} = TypedDict(\n    {_literal(record.name)},\n    {{\n{body}    }},\n{last})\n"


def _is_plain_key(key: str) -> bool:
    # Python mangles names that begin with two underscores inside a class, and normalises some that are not ASCII.
    return key.isascii() and key.isidentifier() and not iskeyword(key) and not key.startswith("__")


def _field_type(field: Field) -> str:
    text = _type(field.shape)
    return text if field.is_required else f"NotRequired[{text}]"


def _type(shape: Shape) -> str:
    match shape:
        case Plain(name):
            return _PLAIN[name]
        case Choice(values):
            return f"Literal[{', '.join(_literal(value) for value in values)}]"
        case ListOf(item):
            return f"list[{_type(item)}]"
        case MapOf(value):
            return f"dict[str, {_type(value)}]"
        case Either(members):
            return " | ".join(_type(member) for member in members)
        case Named(name):
            return name


def _literal(value: str | int | bool) -> str:
    """A literal without invisible characters."""
    text = repr(value)
    return f'"{text[1:-1]}"' if text.startswith("'") and '"' not in text and "\\'" not in text else text


def _comment(note: str) -> str:
    safe = _PRAGMA.sub("- ", note)
    return f"  # {safe}" if safe else ""


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"""', "'''")
