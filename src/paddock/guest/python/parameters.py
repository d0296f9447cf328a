"""The parameters of functions that a script called with other arguments."""

from __future__ import annotations

import ast
import sys
from types import FunctionType, ModuleType, TracebackType
from typing import Any

from paddock.guest.python import errors
from paddock.guest.python.lookup import class_dict, failing_text, module_dict, mro, resolved

MAX_KEYS = 20
SHOWN_PARAMETERS = 6
WRAPPERS = 3
_CLASSES = ("pandas", "pathlib", "collections")  # whose methods are called on values that have no name


def of_library(entry: TracebackType) -> list[str]:
    """The library's function that the script called and in which the error happened, with its parameters."""
    trace = entry.tb_next
    text = failing_text(entry)
    while trace is not None and not (f"{trace.tb_frame.f_code.co_name}(" in text and _own_parameters(trace)):
        trace = trace.tb_next
    if trace is None or trace.tb_frame.f_code.co_filename.startswith(errors.RUNTIME_FOLDER):
        return []
    return [f"{trace.tb_frame.f_code.co_name}() = {', '.join(_own_parameters(trace))}"]


def _own_parameters(trace: TracebackType) -> list[str]:
    code = trace.tb_frame.f_code
    names = code.co_varnames[: code.co_argcount]
    return [name for name in names[:SHOWN_PARAMETERS] if name not in ("self", "cls")]


def of_call(tree: ast.AST, name: str, names: tuple[Any, ...]) -> list[str]:
    """The parameters of the function of this name that the failing code calls, if it is a Python function."""
    owner, _, method = name.rpartition(".")
    if not owner and type(function := resolved(ast.Name(name), names)) is FunctionType:
        return _parameters_of(function)  # also if something else calls it
    kind = resolved(ast.Name(owner), names) if owner else None
    for module in _CLASSES if owner and kind is None else ():
        kind = kind or (module_dict(sys.modules[module]).get(owner) if module in sys.modules else None)
    if owner and type in mro(type(kind)):
        return _parameters_of(
            next((class_dict(base)[method] for base in mro(kind) if method in class_dict(base)), None)
        )
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute):
            called = node.func.id if isinstance(node.func, ast.Name) else node.func.attr
            if called in name.split("."):
                return _parameters_of(_called(node.func, names))
    return []


def _called(node: ast.Name | ast.Attribute, names: tuple[Any, ...]) -> object:
    if isinstance(node, ast.Name):
        return resolved(node, names)
    owner = resolved(node.value, names)
    if type(owner) is ModuleType:
        return module_dict(owner).get(node.attr)
    bases = mro(owner) if type in mro(type(owner)) else mro(type(owner))
    found = next((class_dict(base)[node.attr] for base in bases if node.attr in class_dict(base)), None)
    return object.__getattribute__(found, "__func__") if type(found) in (staticmethod, classmethod) else found


def _parameters_of(function: object) -> list[str]:
    if type in mro(type(function)):
        bases = [class_dict(base) for base in mro(function)]
        function = next((base["__init__"] for base in bases if "__init__" in base), None)
    for _ in range(WRAPPERS):
        if type(function) is FunctionType:
            function = function.__dict__.get("__wrapped__", function)
    if type(function) is not FunctionType:
        return []
    code = function.__code__
    named = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    return list(named[:MAX_KEYS])
