"""Facts about an error, for the host's hint: names that the script may have meant, and keys that exist.

Nothing here calls code of the script. Only plain values are inspected: exact dicts and lists, modules, tables.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import difflib
import inspect
import pkgutil
import re
import sys
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Iterable, Iterator
from itertools import islice
from types import (
    BuiltinFunctionType,
    FrameType,
    FunctionType,
    GetSetDescriptorType,
    MethodType,
    ModuleType,
    TracebackType,
)
from typing import Any

from paddock.guest.python import errors, functions, tables

MAX_KEYS = 20
MAX_CANDIDATES = 5000
MAX_CHARACTERS = 100
SOURCE_CHARACTERS = 1000
SOURCE_LINES = 20
SHOWN_ATTRIBUTES = 12
SHOWN_VALUES = 4
VALUE_CHARACTERS = 40
WRAPPERS = 3
_CUTOFF = 0.75
_CALLED = r"(?P<name>[\w.<>]+)\(\) (got|takes|missing)"
_NOT_SHOWN = (FunctionType, BuiltinFunctionType, MethodType, ModuleType)
_DICTS = (dict, OrderedDict, defaultdict, Counter)
_PLAIN_KEYS = (str, int, float, bool, type(None))
_mro = type.__dict__["__mro__"].__get__
_class_dict = type.__dict__["__dict__"].__get__
_module_dict = vars(ModuleType)["__dict__"].__get__


def of(error: BaseException, refused: Iterable[str] = ()) -> dict[str, list[str]]:
    """The lists `near` and `keys` for this error, without empty ones."""
    with contextlib.suppress(Exception):
        return {name: found for name, found in _facts(error, frozenset(refused)) if found}
    return {}


def _facts(error: BaseException, refused: frozenset[str]) -> Iterator[tuple[str, list[str]]]:
    entry = errors.innermost(error.__traceback__)
    if isinstance(error, ModuleNotFoundError):
        yield "near", _near_modules(error.name, refused)
    elif isinstance(error, ImportError):
        yield "near", _near_imported(error)
    elif isinstance(error, NameError) and type(error.name) is str and entry is not None:
        yield "near", _near(error.name, _visible(entry.tb_frame, refused))
    elif isinstance(error, AttributeError) and type(error.name) is str:
        yield "near", _near(error.name, _attributes(error.obj))
        yield "keys", _keys(error.obj, error.name) or _few_attributes(error.obj)
        if error.obj is None and entry is not None:
            yield "keys", _values(_failing_tree(entry), (_locals(entry.tb_frame), entry.tb_frame.f_globals))
    elif isinstance(error, KeyError) and entry is not None and len(error.args) == 1:
        key = error.args[0]
        found = _searched(entry, key)
        yield "keys", _keys(found, key)
        yield "near", _near(key, _key_texts(found)) if type(key) is str else []
    elif entry is not None:
        tree = _failing_tree(entry)
        names = _locals(entry.tb_frame), entry.tb_frame.f_globals, vars(builtins)
        is_plain = type(error) is TypeError and len(error.args) == 1 and type(error.args[0]) is str
        message = error.args[0][:SOURCE_CHARACTERS] if is_plain else ""
        match = re.match(_CALLED, message)
        parameters = _parameters(tree, match["name"], names) if match else []
        yield "keys", parameters or _values(tree, names[:2])
        keyword = re.search(r"unexpected keyword argument '(\w+)'", message)
        yield "near", _near(keyword[1], parameters) if keyword else []


def _near(name: str, candidates: Iterable[str]) -> list[str]:
    """The candidates most like `name`, best first. Those that differ only in case and underscores come first."""
    if len(name) > MAX_CHARACTERS:
        return []
    words = [
        word
        for word in islice(dict.fromkeys(candidates), MAX_CANDIDATES)
        if len(word) <= MAX_CHARACTERS and word != name
    ]
    plain = _squeezed(name)
    same = [word for word in words if plain and _squeezed(word) == plain]
    close = difflib.get_close_matches(name, words, 3, _CUTOFF) if len(name) > 1 else []
    return list(dict.fromkeys([*same, *close]))[:3]


def _squeezed(name: str) -> str:
    return name.replace("_", "").replace("-", "").replace(" ", "").lower()


def _visible(frame: FrameType, refused: frozenset[str]) -> Iterator[str]:
    """The names that code in this frame could use, and the modules that it could import."""
    for names in (_locals(frame), frame.f_globals, vars(builtins)):
        yield from (name for name in list(names) if type(name) is str and not name.startswith("__"))
    yield from (name for name in sys.stdlib_module_names if not name.startswith("_") and name not in refused)


def _near_modules(name: object, refused: frozenset[str]) -> list[str]:
    """Modules that can be imported and have a name like this one."""
    if type(name) is not str or "." in name:
        return []
    installed = (module.name for module in pkgutil.iter_modules([path for path in sys.path if type(path) is str]))
    names = (*sys.stdlib_module_names, *islice(installed, MAX_CANDIDATES))
    return _near(name, (module for module in names if not module.startswith("_") and module not in refused))


def _near_imported(error: ImportError) -> list[str]:
    match = re.match(r"cannot import name '(\w+)' from", str(error)[:SOURCE_CHARACTERS])
    module = sys.modules.get(error.name) if type(error.name) is str else None
    return _near(match[1], _attributes(module)) if match and type(module) is ModuleType else []


def _attributes(value: object) -> Iterator[str]:
    """The names of an object's attributes, found without calling its code; for a table, its columns too."""
    kind = type(value)
    dictionaries = [_class_dict(base) for base in _mro(kind)]
    if kind is ModuleType:
        yield from _public(_module_dict(value))
    elif isinstance(value, type):
        dictionaries += [_class_dict(base) for base in _mro(value)]
    else:
        yield from _public(_instance_dict(value))
    for names in dictionaries:
        yield from _public(names)
    yield from _key_texts(value) if _is_frame(value) else ()


def _few_attributes(value: object) -> list[str]:
    """The attributes of an object that has only a few."""
    names = list(dict.fromkeys(_attributes(value)))
    return names if len(names) <= SHOWN_ATTRIBUTES else []


def _public(names: Any) -> Iterator[str]:
    return (name for name in list(names) if type(name) is str and not name.startswith("_"))


def _keys(value: object, key: object) -> list[str]:
    """The keys of a plain dict or the columns of a table, those like `key` first."""
    texts = _key_texts(value)
    near = _near(key, texts) if type(key) is str else []
    return list(dict.fromkeys([*near, *texts]))[:MAX_KEYS]


def _key_texts(value: object) -> list[str]:
    kind: Any = type(value)
    keys: Iterable[Any] = ()
    if kind in _DICTS:
        keys = islice(dict.keys(value), MAX_CANDIDATES)  # type: ignore[arg-type]
    elif _is_frame(value):
        labels = "index" if kind.__name__ == "Series" else "columns"
        keys = islice(getattr(value, labels, ()), MAX_CANDIDATES)
    return [str(key)[:MAX_CHARACTERS] for key in keys if type(key) in _PLAIN_KEYS]


def _is_frame(value: object) -> bool:
    kind = type(value)
    return kind.__name__ in ("DataFrame", "DataFrameGroupBy", "Series") and kind.__module__.startswith(
        tuple(tables.LIBRARIES)
    )


def _failing_tree(entry: TracebackType) -> ast.AST:
    """The expression or statement that failed; an empty one if it cannot be parsed."""
    text = _failing_text(entry).strip()
    for source in (f"({text})", f"{text.rstrip(':')}:\n    pass", text):  # an expression, `for x in y:`, a statement
        with contextlib.suppress(SyntaxError, ValueError, RecursionError, MemoryError):
            return ast.parse(source)
    return ast.Module([], [])


def _values(tree: ast.AST, names: tuple[Any, ...]) -> list[str]:
    """The variables in the failing code, each with its value or its type."""
    found = dict.fromkeys(node.id for node in ast.walk(tree) if isinstance(node, ast.Name))
    known = [(name, _resolved(ast.Name(name), names)) for name in found if any(name in space for space in names)]
    shown = [f"{name} = {text}" for name, value in known if (text := _shown(value))]
    return shown[:SHOWN_VALUES]


def _shown(value: object) -> str:
    """A plain value, or the type and size of a collection; empty for functions, modules and the like."""
    kind: Any = type(value)
    if kind in (*_PLAIN_KEYS, bytes):
        text = repr(value[:VALUE_CHARACTERS] if isinstance(value, (str, bytes)) else value)
        return text if len(text) <= VALUE_CHARACTERS + 3 else f"{text[:VALUE_CHARACTERS]}…"
    if kind in (list, tuple, set, frozenset, *_DICTS):
        return f"a {kind.__name__} of {len(value)}"  # type: ignore[arg-type]
    if _is_frame(value) and kind.__name__ != "Series":
        return f"a table with the columns {', '.join(_key_texts(value)[:SHOWN_VALUES])}"
    return "" if kind in _NOT_SHOWN or type in _mro(kind) else f"a {errors.name_of(kind)}"


def _parameters(tree: ast.AST, name: str, names: tuple[Any, ...]) -> list[str]:
    """The parameters of the function of this name that the failing code calls, if it is a Python function."""
    owner, _, method = name.rpartition(".")
    if owner and type in _mro(type(kind := _resolved(ast.Name(owner), names))):
        return _parameters_of(
            next((_class_dict(base)[method] for base in _mro(kind) if method in _class_dict(base)), None)
        )
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute):
            called = node.func.id if isinstance(node.func, ast.Name) else node.func.attr
            if called in name.split("."):
                return _parameters_of(_called(node.func, names))
    return []


def _called(node: ast.Name | ast.Attribute, names: tuple[Any, ...]) -> object:
    if isinstance(node, ast.Name):
        return _resolved(node, names)
    owner = _resolved(node.value, names)
    if type(owner) is ModuleType:
        return _module_dict(owner).get(node.attr)
    bases = _mro(owner) if type in _mro(type(owner)) else _mro(type(owner))
    found = next((_class_dict(base)[node.attr] for base in bases if node.attr in _class_dict(base)), None)
    return object.__getattribute__(found, "__func__") if type(found) in (staticmethod, classmethod) else found


def _parameters_of(function: object) -> list[str]:
    if type in _mro(type(function)):
        bases = [_class_dict(base) for base in _mro(function)]
        function = next((base["__init__"] for base in bases if "__init__" in base), None)
    for _ in range(WRAPPERS):
        if type(function) is FunctionType:
            function = function.__dict__.get("__wrapped__", function)
    if type(function) is not FunctionType:
        return []
    code = function.__code__
    named = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    return [name for name in named if name not in ("self", "cls")][:MAX_KEYS]


def _searched(entry: TracebackType, key: object) -> object:
    """The dict or table in which the failing code looked for `key`, or None if it cannot be found."""
    tree = _failing_tree(entry)
    names = _locals(entry.tb_frame), entry.tb_frame.f_globals
    for node in ast.walk(tree):  # the outermost first
        if isinstance(node, ast.Subscript | ast.Attribute):
            for found in (_resolved(node.value, names), _item(node.value, entry, names)):
                if _is_frame(found) or (type(found) in _DICTS and not _has(found, key)):
                    return found
    return None


def _item(node: ast.AST, entry: TracebackType, names: tuple[Any, ...]) -> object:
    """The first item of the list that a comprehension iterates over: its variable is not visible since 3.12."""
    if not isinstance(node, ast.Name) or any(node.id in space for space in names):
        return None
    text = "".join(errors.source_line(entry.tb_lineno + number) for number in range(3))[:SOURCE_CHARACTERS]
    match = re.search(rf"\bfor {re.escape(node.id)} in (\w+(?:\.\w+|\[[\w'\"]+\])*)", text)
    with contextlib.suppress(SyntaxError):
        items = _resolved(ast.parse(match[1], mode="eval").body, names) if match else None
        return items[0] if (type(items) is list or type(items) is tuple) and items else None
    return None


def _failing_text(entry: TracebackType) -> str:
    """The source of the expression that failed."""
    line, end_line, start, end = errors.span(entry)
    if line is None or end_line is None or start is None or end is None or end_line - line > SOURCE_LINES:
        return ""
    lines = [errors.source_line(number).encode(errors="replace") for number in range(line, end_line + 1)]
    lines[-1] = lines[-1][:end]
    lines[0] = lines[0][start:]
    return b"".join(lines).decode(errors="replace")[:SOURCE_CHARACTERS]


def _locals(frame: FrameType) -> Any:
    """The local variables; none in a class body with a custom namespace."""
    is_function = frame.f_code.co_flags & inspect.CO_OPTIMIZED
    return frame.f_locals if is_function or type(frame.f_locals) is dict else {}


def _resolved(node: ast.AST, names: tuple[Any, ...]) -> object:
    """The value of a variable or of a part of it, read without calling any code; None if there is none."""
    if isinstance(node, ast.Name):
        return next((space[node.id] for space in names if node.id in space), None)
    if isinstance(node, ast.Await):
        return dict.fromkeys(functions.last_keys)  # of the answer to the last call
    if isinstance(node, ast.Attribute):
        return _instance_dict(_resolved(node.value, names)).get(node.attr)
    if isinstance(node, ast.Subscript):
        owner = _resolved(node.value, names)
        index = node.slice.value if isinstance(node.slice, ast.Constant) else _resolved(node.slice, names)
        if type(owner) in _DICTS and type(index) in _PLAIN_KEYS:
            return dict.get(owner, index)  # type: ignore[call-overload]
        if (type(owner) is list or type(owner) is tuple) and type(index) is int and -len(owner) <= index < len(owner):
            return owner[index]
    return None


def _has(found: Any, key: object) -> bool:
    return type(key) not in _PLAIN_KEYS or dict.__contains__(found, key)


def _instance_dict(value: object) -> dict[str, Any]:
    """The `__dict__` of an instance, unless its class overrides `__dict__`."""
    classes = [_class_dict(base) for base in _mro(type(value))]
    if all(type(names.get("__dict__")) in (GetSetDescriptorType, type(None)) for names in classes):
        with contextlib.suppress(AttributeError):
            found = object.__getattribute__(value, "__dict__")
            return found if type(found) is dict else {}
    return {}
