"""The values of expressions in a script's failing code, read without calling any code of the script."""

from __future__ import annotations

import ast
import contextlib
import inspect
from types import FrameType, GetSetDescriptorType, ModuleType, TracebackType
from typing import Any

from paddock.guest.python import errors, functions
from paddock.guest.python.samples import DICTS, PLAIN, is_frame, key_texts

SOURCE_CHARACTERS = 1000
SOURCE_LINES = 20
NOT_FOUND = object()
mro = type.__dict__["__mro__"].__get__
class_dict = type.__dict__["__dict__"].__get__
module_dict = vars(ModuleType)["__dict__"].__get__


def failing_tree(entry: TracebackType) -> ast.AST:
    """The expression or statement that failed; an empty one if it cannot be parsed."""
    text = failing_text(entry).strip()
    for source in (f"({text})", f"{text.rstrip(':')}:\n    pass", text):  # an expression, `for x in y:`, a statement
        with contextlib.suppress(SyntaxError, ValueError, RecursionError, MemoryError):
            return ast.parse(source)
    return ast.Module([], [])


def failing_text(entry: TracebackType) -> str:
    """The source of the expression that failed."""
    line, end_line, start, end = errors.span(entry)
    if line is None or end_line is None or start is None or end is None or end_line - line > SOURCE_LINES:
        return ""
    lines = [errors.source_line(number).encode(errors="replace") for number in range(line, end_line + 1)]
    lines[-1] = lines[-1][:end]
    lines[0] = lines[0][start:]
    return b"".join(lines).decode(errors="replace")[:SOURCE_CHARACTERS]


def local_names(frame: FrameType) -> Any:
    """The local variables; none in a class body with a custom namespace."""
    is_function = frame.f_code.co_flags & inspect.CO_OPTIMIZED
    return frame.f_locals if is_function or type(frame.f_locals) is dict else {}


def resolved(node: ast.AST, names: tuple[Any, ...]) -> object:
    """The value of a variable or of a part of it; None if there is none."""
    found = found_value(node, names)
    return None if found is NOT_FOUND else found


def found_value(node: ast.AST, names: tuple[Any, ...]) -> object:
    """The value of a variable or of a part of it, read without calling any code, or `NOT_FOUND`."""
    if isinstance(node, ast.Name):
        return next((space[node.id] for space in names if node.id in space), NOT_FOUND)
    if isinstance(node, ast.Await):
        return dict.fromkeys(functions.last_keys)  # of the answer to the last call
    if isinstance(node, ast.Attribute):
        holder = found_value(node.value, names)
        column = _column(holder, node.attr)  # unless it is a method of tables
        is_column = column is not NOT_FOUND and not any(node.attr in class_dict(base) for base in mro(type(holder)))
        return column if is_column else instance_dict(holder).get(node.attr, NOT_FOUND)
    if isinstance(node, ast.Subscript):
        owner = sections(found_value(node.value, names))
        index = node.slice.value if isinstance(node.slice, ast.Constant) else found_value(node.slice, names)
        if type(index) is str and (column := _column(owner, index)) is not NOT_FOUND:
            return column
        if type(owner) in DICTS and type(index) in PLAIN:
            return dict.get(owner, index, NOT_FOUND)  # type: ignore[call-overload]
        if (type(owner) is list or type(owner) is tuple) and type(index) is int and -len(owner) <= index < len(owner):
            return owner[index]
    return NOT_FOUND


def _column(table: object, name: str) -> object:
    is_table = errors.name_of(type(table)) == "DataFrame" and is_frame(table)
    return table[name] if is_table and name in key_texts(table) else NOT_FOUND  # type: ignore[index]


def sections(value: object) -> object:
    """The sections of a configuration as a dict; any other value as it is."""
    is_parser = errors.name_of(type(value)) in ("ConfigParser", "RawConfigParser")
    return instance_dict(value).get("_sections") if is_parser else value


def instance_dict(value: object) -> dict[str, Any]:
    """The `__dict__` of an instance, unless its class overrides `__dict__`."""
    classes = [class_dict(base) for base in mro(type(value))]
    if all(type(names.get("__dict__")) in (GetSetDescriptorType, type(None)) for names in classes):
        with contextlib.suppress(AttributeError):
            found = object.__getattribute__(value, "__dict__")
            return found if type(found) is dict else {}
    return {}
