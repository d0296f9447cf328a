"""Which findings of the type checker are certain where the types of tools are concerned.

Those types come from schemas, and a value of the right shape may have another type: a dict that a script puts together
is no TypedDict, a field that may be null often is not, and a result may be changed. None of that is to stop a script.
The wording is that of the checker in the pinned version of Monty.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from paddock.planning.python_source import Source

_UNKNOWN_KEY = re.compile(r'Unknown key "(?P<key>.*?)" for TypedDict `(?P<record>\w+)`(?P<rest>.*)', re.DOTALL)
_VALUE = re.compile(r"Invalid argument to key .* with declared type `(?P<declared>.*)` on .* type `(?P<found>.*)`")
_EXPECTED = re.compile(r"Expected `(?P<expected>.*)`, found `(?P<found>.*)`")
_ASSIGNED = re.compile(r"Object of type `(?P<found>.*)` is not assignable to `(?P<expected>.*)`")
_RECORD = re.compile(r"^(?:class (\w+)\(TypedDict|(\w+) = TypedDict\()", re.MULTILINE)
_OPEN = re.compile(r"^(?:class (\w+)\(TypedDict|(\w+) = TypedDict\().*extra_items", re.MULTILINE)
_COROUTINE = "CoroutineType[Any, Any, "
_DICT = re.compile(r"(?:dict|Mapping|MutableMapping)\b")


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that the checker has to say, with its place in the script."""

    line: int
    column: int
    rule: str
    text: str


def certain(findings: Iterable[Finding], tree: ast.AST, stubs: str) -> list[Finding]:
    """The findings that hold whatever the tools answer."""
    records = {name for pair in _RECORD.findall(stubs) for name in pair if name}
    open_records = {name for pair in _OPEN.findall(stubs) for name in pair if name}
    stored = {key for node in ast.walk(tree) if (key := _stored_key(node)) is not None}
    spread = {line for node in ast.walk(tree) for line in _spread_lines(node)}
    return [
        finding
        for finding in findings
        if not _is_doubtful(finding.text, records, open_records, stored)
        and not (finding.rule == "missing-typed-dict-key" and finding.line in spread)
    ]


def about_tools(findings: Iterable[Finding], tools: Collection[str], stubs: str) -> list[Finding]:
    """The findings that speak of a tool, of what it takes or of what it gives. The others show when the script runs."""
    records = {name for pair in _RECORD.findall(stubs) for name in pair if name}
    spoken = re.compile(rf"\b(?:{'|'.join(map(re.escape, sorted(records)))})\b") if records else None
    functions = {f"function `{name}`" for name in (*tools, "call_tool")}
    return [
        finding
        for finding in findings
        if (spoken is not None and spoken.search(finding.text))
        or any(function in finding.text for function in functions)
        or (_COROUTINE in finding.text and f"{_COROUTINE}Unknown" not in finding.text)
    ]


def unawaited(source: Source, tools: Collection[str]) -> list[Finding]:
    """Calls of tools that are returned as they are. To the checker a return is an assignment, and that may be right."""
    rebound = {
        node.id for node in ast.walk(source.tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    names = set(tools).difference(rebound)
    return [
        Finding(
            call.lineno, call.col_offset + 1, "unused-awaitable", f"function `{call.func.id}` is called and not awaited"
        )
        for node in source.returns
        if isinstance(call := node.value, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in names
    ]


def _is_doubtful(text: str, records: set[str], open_records: set[str], stored: set[str]) -> bool:
    if found := _UNKNOWN_KEY.fullmatch(text):
        # Of one of several types, of one that may have others too, or put there by the script itself.
        is_open = found["record"] in open_records
        return is_open or "subscripted object" in found["rest"] or found["key"] in stored
    if found := _VALUE.fullmatch(text):
        return " | " in found["found"] or (
            found["declared"].startswith("Literal[") and "Literal[" not in found["found"]
        )
    if found := _EXPECTED.search(text) or _ASSIGNED.search(text):
        given, expected = found["found"], found["expected"]
        if given in records:
            return bool(_DICT.match(expected))
        # What is wrong inside a literal dict is a finding of its own.
        return bool(_DICT.match(given)) and any(part in records for part in expected.split(" | "))
    return " | None`" in text or "on `None` in union" in text


def _stored_key(node: ast.AST) -> str | None:
    """The key of `x["key"] = …`, and of whatever else gives a dict a key."""
    match node:
        case ast.Subscript(slice=ast.Constant(str(key)), ctx=ast.Store() | ast.Del()):
            return key
        case ast.Call(ast.Attribute(attr="setdefault"), [ast.Constant(str(key)), *_]):
            return key
        case ast.keyword(str(key)):
            return key
    return None


def _spread_lines(node: ast.AST) -> range:
    """The lines of a literal dict that takes in another one, whose keys are not known."""
    if isinstance(node, ast.Dict) and None in node.keys:
        return range(node.lineno, (node.end_lineno or node.lineno) + 1)
    return range(0)
