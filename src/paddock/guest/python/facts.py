"""Facts about an error, for the host's hint: names that the script may have meant, and the keys that there are.

Nothing here calls code of the script. Only plain values are looked into: exact dicts and lists, modules, tables.
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
from types import FrameType, GetSetDescriptorType, ModuleType, TracebackType
from typing import Any

from paddock.guest.python import errors, functions, tables

LISTED = 20
CANDIDATES = 5000
CHARACTERS = 100
SOURCE_CHARACTERS = 1000
SOURCE_LINES = 20
_CUTOFF = 0.75
_DICTS = (dict, OrderedDict, defaultdict, Counter)
_PLAIN_KEYS = (str, int, float, bool, type(None))
_mro = type.__dict__["__mro__"].__get__
_class_dict = type.__dict__["__dict__"].__get__
_module_dict = vars(ModuleType)["__dict__"].__get__


def of(error: BaseException, refused: Iterable[str] = ()) -> dict[str, list[str]]:
    """The lists `near` and `keys` for this error, if something is known."""
    with contextlib.suppress(Exception):
        return {name: found for name, found in _facts(error, frozenset(refused)) if found}
    return {}


def _facts(error: BaseException, refused: frozenset[str]) -> Iterator[tuple[str, list[str]]]:
    place = _innermost(error.__traceback__)
    if isinstance(error, ModuleNotFoundError):
        yield "near", _near_modules(error.name, refused)
    elif isinstance(error, ImportError):
        yield "near", _near_imported(error)
    elif isinstance(error, NameError) and type(error.name) is str and place is not None:
        yield "near", _near(error.name, _visible(place.tb_frame, refused))
    elif isinstance(error, AttributeError) and type(error.name) is str:
        yield "near", _near(error.name, _attributes(error.obj))
        yield "keys", _keys(error.obj, error.name)
    elif isinstance(error, KeyError) and place is not None and len(error.args) == 1:
        key = error.args[0]
        found = _searched(place, key)
        yield "keys", _keys(found, key)
        yield "near", _near(key, _texts(found)) if type(key) is str else []


def _innermost(trace: TracebackType | None) -> TracebackType | None:
    """The last entry of the traceback that is in the script itself."""
    found = None
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == errors.FILE_NAME:
            found = trace
        trace = trace.tb_next
    return found


def _near(name: str, candidates: Iterable[str]) -> list[str]:
    """The candidates most like `name`, best first. Those that differ only in case and underscores come first."""
    if len(name) > CHARACTERS:
        return []
    words = [word for word in islice(dict.fromkeys(candidates), CANDIDATES) if len(word) <= CHARACTERS and word != name]
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
    names = (*sys.stdlib_module_names, *islice(installed, CANDIDATES))
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
    yield from _texts(value) if _is_frame(value) else ()


def _public(names: Any) -> Iterator[str]:
    return (name for name in list(names) if type(name) is str and not name.startswith("_"))


def _keys(value: object, key: object) -> list[str]:
    """The keys of a plain dict or the columns of a table, those like `key` first."""
    texts = _texts(value)
    near = _near(key, texts) if type(key) is str else []
    return list(dict.fromkeys([*near, *texts]))[:LISTED]


def _texts(value: object) -> list[str]:
    kind: Any = type(value)
    keys: Iterable[Any] = ()
    if kind in _DICTS:
        keys = islice(dict.keys(value), CANDIDATES)  # type: ignore[arg-type]
    elif _is_frame(value):
        keys = islice(getattr(value, "columns", ()), CANDIDATES)
    return [str(key)[:CHARACTERS] for key in keys if type(key) in _PLAIN_KEYS]


def _is_frame(value: object) -> bool:
    kind = type(value)
    return kind.__name__ in ("DataFrame", "DataFrameGroupBy") and kind.__module__.startswith(tuple(tables.LIBRARIES))


def _searched(place: TracebackType, key: object) -> object:
    """The dict or table in which the failing code looked for `key`, or None if it cannot be found."""
    try:
        tree = ast.parse(f"({_failing_text(place)})", mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    names = _locals(place.tb_frame), place.tb_frame.f_globals
    for node in ast.walk(tree):  # the outermost first
        if isinstance(node, ast.Subscript | ast.Attribute):
            for found in (_resolved(node.value, names), _item(node.value, place, names)):
                if _is_frame(found) or (type(found) in _DICTS and not _has(found, key)):
                    return found
    return None


def _item(node: ast.AST, place: TracebackType, names: tuple[Any, ...]) -> object:
    """The first item of the list that a comprehension goes through. Since 3.12 its variable is not visible."""
    if not isinstance(node, ast.Name) or any(node.id in space for space in names):
        return None
    text = "".join(errors.source_line(place.tb_lineno + number) for number in range(3))[:SOURCE_CHARACTERS]
    match = re.search(rf"\bfor {re.escape(node.id)} in (\w+(?:\.\w+|\[[\w'\"]+\])*)", text)
    with contextlib.suppress(SyntaxError):
        items = _resolved(ast.parse(match[1], mode="eval").body, names) if match else None
        return items[0] if (type(items) is list or type(items) is tuple) and items else None
    return None


def _failing_text(place: TracebackType) -> str:
    """The source of the expression that failed."""
    positions = place.tb_frame.f_code.co_positions()
    line, end_line, start, end = next(islice(positions, place.tb_lasti // 2, None), (None, None, None, None))
    if line is None or end_line is None or start is None or end is None or end_line - line > SOURCE_LINES:
        return ""
    lines = [errors.source_line(number).encode(errors="replace") for number in range(line, end_line + 1)]
    lines[-1] = lines[-1][:end]
    lines[0] = lines[0][start:]
    return b"".join(lines).decode(errors="replace")[:SOURCE_CHARACTERS]


def _locals(frame: FrameType) -> Any:
    """The local variables; none in a class body that has a mapping of its own."""
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
    """The `__dict__` of an instance, unless its class has redefined that."""
    classes = [_class_dict(base) for base in _mro(type(value))]
    if all(type(names.get("__dict__")) in (GetSetDescriptorType, type(None)) for names in classes):
        with contextlib.suppress(AttributeError):
            found = object.__getattribute__(value, "__dict__")
            return found if type(found) is dict else {}
    return {}
