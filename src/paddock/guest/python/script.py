"""Compiles a script, also one that was pasted with markdown fences or indentation. Syntax errors are CPython's own."""

from __future__ import annotations

import ast
import builtins
import inspect
import json
import re
import resource
import sys
import textwrap
import warnings
from dataclasses import dataclass
from types import CodeType
from typing import Any

from paddock.guest.python import errors, outline, returns
from paddock.guest.python.errors import Source

CHECK_MEMORY_BYTES = 2 * 1024**3
"""A syntax tree can take hundreds of times the memory of its source."""
_compile = builtins.compile
_FLAGS = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
_NEED_LOOP = frozenset({"create_task", "ensure_future", "gather", "get_running_loop"})
_OWN_LOOP = frozenset({"run", "Runner", "run_until_complete", "run_forever"})
"""Names of asyncio that need a running event loop, and names that fail if one is running."""
_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})[\w+.#-]*[ \t]*$")


@dataclass(frozen=True, slots=True)
class Script:
    """A compiled script."""

    source: str  # as it was compiled
    code: CodeType
    is_async: bool  # whether it needs a running event loop
    result: returns.ResultSlot
    outline: dict[str, Any] | None = None


def compile_script(source: str, *, is_expression: bool, with_outline: bool = False) -> Script:
    """Compile `source`, or raise SyntaxError. With `is_expression`, it may `await` and `return` at the top level.

    A BOM, markdown fences around the source and indentation that all its lines have are ignored.
    """
    source = source.removeprefix("\ufeff")
    try:
        return _compile_source(source, is_expression=is_expression, with_outline=with_outline)
    except SyntaxError:
        other = repaired(source)
        if other == source:
            raise
        return _compile_source(other, is_expression=is_expression, with_outline=with_outline)


def repaired(source: str) -> str:
    """The source without markdown fences and common indentation. Each line keeps its number."""
    lines = source.split("\n")
    used = [number for number, line in enumerate(lines) if line.strip()]
    if used and _FENCE.match(lines[used[0]].rstrip("\r")):
        lines[used[0]] = ""
        if lines[used[-1]].strip() in ("```", "~~~", "````"):
            lines[used[-1]] = ""
    text = "\n".join(lines)
    first = next((line for line in lines if line.strip()), "")
    if first[:1] in (" ", "\t"):
        return textwrap.dedent(text)
    if first.rstrip().endswith((":", "\\", "(", "[", "{", ",")):
        return text
    rest = text.index(first) + len(first)  # the first line may have lost its indentation when it was copied
    return text[:rest] + textwrap.dedent(text[rest:])


def _compile_source(source: str, *, is_expression: bool, with_outline: bool) -> Script:
    errors.register_source(source)
    result = returns.ResultSlot()
    outline_json = None
    try:
        if is_expression:
            tree = _compile(source, Source.name, "exec", _FLAGS | ast.PyCF_ONLY_AST, dont_inherit=True)
            outline_json = outline.describe(tree) if with_outline else None
            result.assigned = returns.last_assigned(tree.body)
            code = _compile_expression(source, tree)
        else:
            code = _compile(source, Source.name, "exec", 0, dont_inherit=True)
    except (RecursionError, MemoryError):
        raise SyntaxError("the source is nested too deeply to be parsed") from None
    except (ValueError, OverflowError) as error:  # a NUL byte, a number that is too long
        raise SyntaxError(str(error)) from None
    return Script(source, code, is_expression and _needs_loop(code), result, outline_json)


def _needs_loop(code: CodeType) -> bool:
    """Whether the script awaits at the top level, or starts tasks there without its own loop."""
    names = frozenset(code.co_names)
    return bool(code.co_flags & inspect.CO_COROUTINE) or bool(names & _NEED_LOOP and not names & _OWN_LOOP)


def _compile_expression(source: str, tree: ast.Module) -> CodeType:
    try:
        returns.store_result(tree, may_return="return" in source)
        code: CodeType = _compile(tree, Source.name, "exec", _FLAGS, dont_inherit=True)
    except SyntaxError as error:
        error.filename = Source.name
        # The parser counts characters, the compiler UTF-8 bytes.
        error.offset = errors.character(errors.source_line(error.lineno or 0), (error.offset or 1) - 1)
        raise
    return code


def check(mode: str) -> None:
    """The main function of a process that compiles a script and never runs it: `entry_point.py compile MODE`.

    The source is read from stdin. The syntax error is printed as JSON, or `{}` if there is none. The process is jailed
    before this is called, because the source may be hostile.
    """
    resource.setrlimit(resource.RLIMIT_DATA, (CHECK_MEMORY_BYTES, CHECK_MEMORY_BYTES))
    warnings.simplefilter("ignore")
    report = {}
    try:
        compile_script(sys.stdin.buffer.read().decode(), is_expression=mode == "expression")
    except SyntaxError as error:
        description = errors.describe_rejected(error)
        report = {name: description[name] for name in ("message", "line", "column")}
    sys.stdout.write(json.dumps(report))
