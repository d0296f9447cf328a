"""Writes TypeScript stubs: interfaces and declared functions, for `tsc --strict` and readers of JavaScript."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Sequence

from paddock.tools.schema_types import Choice, Either, ListOf, MapOf, Named, Plain, Record, Shape
from paddock.tools.stubs import OWN_TYPES, Signature

_HEADER = "// What Paddock defines in a script. Declarations only; await every call.\n"
_BUILT_IN = {
    "files": "declare const files: AttachedFile[];",
    "reportProgress": "declare function reportProgress(done: number, total?: number, message?: string): Promise<void>;",
    "codeExec": """declare const codeExec: {
  createArtifact(filename: string, content: string | Uint8Array, fileType?: string): Promise<CreatedArtifact>;
  /** By id, file name or URL. */
  readArtifact(ref: string): Promise<ArtifactContent>;
};""",
}
_ANY_CALL = "declare function callTool(server: string, tool: string, args?: Record<string, any>): Promise<any>;"
_PLAIN = {
    "string": "string",
    "integer": "number",
    "number": "number",
    "boolean": "boolean",
    "null": "null",
    "any": "any",
}
_KEY = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*")
_TAG = re.compile(r"(?<!\w)@(?=\w)")


class Writer:
    """Writes `.d.ts`."""

    ARGUMENTS = "Args"
    TYPE_NAMES = (
        *(record.name for record in OWN_TYPES),
        # Built-in types: a tool's type must not have such a name, because TypeScript merges equal interfaces.
        *("ClassAccessorDecoratorResult", "IteratorResult", "IteratorReturnResult", "IteratorYieldResult"),
        *("PromiseFulfilledResult", "PromiseRejectedResult", "PromiseSettledResult"),
    )

    def declare(self, signature: Signature) -> str:
        """Declare the types of a tool and its functions."""
        parts = [_record(record) for record in signature.records if record.fields]
        tool = signature.tool
        where = [_literal(name) for name in (tool.server, tool.name) if name]
        call = f"callTool({', '.join(where)}, {{...}})"
        text = "\n".join(f" * {_escape_comment(line)}".rstrip() for line in signature.documentation(call))
        types = f"({_arguments(signature)}): Promise<{_type(signature.result)}>;"
        functions = [f"declare function {name}{types}\n" for name in signature.names]
        parts += [f"/**\n{text}\n */\n{functions[0]}", *functions[1:]] if functions else []
        return "\n".join(parts)

    def module(self, signatures: Sequence[Signature], *, typed_calls: bool, rebound: Collection[str]) -> str:
        """Write the whole file, without the names that the script declares itself."""
        parts = [_HEADER, *map(_record, OWN_TYPES), *(text for name, text in _BUILT_IN.items() if name not in rebound)]
        parts += [self.declare(signature) for signature in signatures]
        callable_signatures = [one for one in signatures if one.call_names and one.tool.server] if typed_calls else []
        parts.append("\n".join([*map(_call, callable_signatures), _ANY_CALL]) if "callTool" not in rebound else "")
        return "\n\n".join(part.strip("\n") for part in parts if part.strip()) + "\n"


def _call(signature: Signature) -> str:
    tool = signature.tool
    where = f"server: {_literal(tool.server)}, tool: {_literal(tool.name)}"
    return f"declare function callTool({where}, {_arguments(signature)}): Promise<{_type(signature.result)}>;"


def _arguments(signature: Signature) -> str:
    empty = {record.name for record in signature.records if not record.fields}
    shape = signature.arguments
    # An interface without fields would accept anything.
    text = "Record<string, never>" if isinstance(shape, Named) and shape.name in empty else _type(shape)
    return f"args{'?' if signature.is_optional else ''}: {text}"


def _record(record: Record) -> str:
    body = "".join(
        f"{_comment(field.note)}  {_key(field.name)}{'' if field.is_required else '?'}: {_type(field.shape)};\n"
        for field in record.fields
    )
    extra = "" if record.extra is None else f"  [key: string]: {_type(record.extra)};\n"
    return f"interface {record.name} {{\n{body}{extra}}}\n"


def _type(shape: Shape) -> str:
    match shape:
        case Plain(name):
            return _PLAIN[name]
        case Choice(values):
            return " | ".join(_literal(value) for value in values)
        case ListOf(Plain() | Named() as item):
            return f"{_type(item)}[]"
        case ListOf(item):
            return f"Array<{_type(item)}>"
        case MapOf(value):
            return f"Record<string, {_type(value)}>"
        case Either(members):
            return " | ".join(dict.fromkeys(_type(member) for member in members))
        case Named(name):
            return name


def _key(key: str) -> str:
    return key if _KEY.fullmatch(key) else _literal(key)


def _literal(value: str | int | bool) -> str:
    """A literal without invisible characters."""
    if not isinstance(value, str):
        return json.dumps(value)
    text = json.dumps(value, ensure_ascii=False)
    return "".join(letter if letter.isprintable() else f"\\u{{{ord(letter):x}}}" for letter in text)


def _comment(note: str) -> str:
    return f"  /** {_escape_comment(note)} */\n" if note else ""


def _escape_comment(text: str) -> str:
    """Escape `text` so that it neither ends the comment nor acts as a directive such as `@ts-ignore`."""
    return _TAG.sub("@ ", text.replace("*/", "*\\/").replace("/*", "/\\*"))
