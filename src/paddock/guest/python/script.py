"""Compiles a script. Errors are CPython's own."""

from __future__ import annotations

import ast
import builtins
import inspect
import linecache
from dataclasses import dataclass
from types import CodeType
from typing import Any

from paddock.guest.python import outline, returns

FILE_NAME = "main.py"
_compile = builtins.compile
_FLAGS = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
_lines: list[str] = []


@dataclass(frozen=True, slots=True)
class Script:
    """A compiled script."""

    code: CodeType
    is_async: bool  # whether it awaits at the top level
    result: returns.ResultSlot
    outline: dict[str, Any] | None = None


def compile_script(source: str, *, is_expression: bool, with_outline: bool = False) -> Script:
    """Compile `source`, or raise SyntaxError. Only expressions may `await` or `return` at the top level."""
    register_source(source)
    result = returns.ResultSlot()
    outline_json = None
    try:
        if is_expression:
            tree = _compile(source, FILE_NAME, "exec", _FLAGS | ast.PyCF_ONLY_AST, dont_inherit=True)
            outline_json = outline.describe(tree) if with_outline else None
            code = _compile_expression(source, tree)
        else:
            code = _compile(source, FILE_NAME, "exec", 0, dont_inherit=True)
    except (RecursionError, MemoryError):
        raise SyntaxError("the source is nested too deeply to be parsed") from None
    except (ValueError, OverflowError) as error:  # a NUL byte, a number that is too long
        raise SyntaxError(str(error)) from None
    return Script(code, bool(code.co_flags & inspect.CO_COROUTINE), result, outline_json)


def _compile_expression(source: str, tree: ast.Module) -> CodeType:
    try:
        returns.store_result(tree, may_return="return" in source)
        code: CodeType = _compile(tree, FILE_NAME, "exec", _FLAGS, dont_inherit=True)
    except SyntaxError as error:
        # The parser counts characters, the compiler UTF-8 bytes.
        error.offset = character(source_line(error.lineno or 0), (error.offset or 1) - 1)
        raise
    return code


def register_source(source: str) -> None:
    """Let tracebacks and `inspect` show the script's lines, although there may be no such file."""
    lines = source.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    _lines[:] = [f"{line}\n" for line in lines]
    linecache.cache[FILE_NAME] = (len(source), None, _lines.copy(), FILE_NAME)


def source_line(number: int) -> str:
    """A line of the script, counted from 1."""
    return _lines[number - 1] if 0 < number <= len(_lines) else ""


def character(line: str, offset: int) -> int:
    """Which character of `line`, counted from 1, begins at byte `offset` of its UTF-8."""
    return len(line.encode(errors="replace")[:offset].decode(errors="replace")) + 1
