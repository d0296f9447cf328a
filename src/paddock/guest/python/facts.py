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
from collections.abc import Iterable, Iterator
from itertools import islice
from types import FrameType, FunctionType, GetSetDescriptorType, ModuleType, TracebackType
from typing import Any

from paddock.guest.python import columns, errors, functions
from paddock.guest.python.samples import DICTS, MAX_CANDIDATES, MAX_CHARACTERS, PLAIN, is_frame, key_texts, sample

MAX_KEYS = 20
SOURCE_CHARACTERS = 1000
SOURCE_LINES = 20
SHOWN_ATTRIBUTES = 12
SHOWN_VALUES = 4
SHOWN_PARAMETERS = 6
WRAPPERS = 3
LONG_WORD = 5
_CUTOFF = 0.8
_CALLED = r"(?P<name>[\w.<>]+)\(\) (got|takes|missing)"
_CLASSES = ("pandas", "pathlib", "collections")  # whose methods are called on values that have no name
_LACKS = re.compile("^Usecols do not|^Missing column|^Index .* invalid")
_NOT_FOUND = object()
_mro = type.__dict__["__mro__"].__get__
_class_dict = type.__dict__["__dict__"].__get__
_module_dict = vars(ModuleType)["__dict__"].__get__


def of(error: BaseException, refused: Iterable[str] = ()) -> dict[str, list[str]]:
    """The lists `near`, `keys` and `values` for this error, without empty ones."""
    with contextlib.suppress(Exception):
        return {name: found for name, found in _facts(error, frozenset(refused)) if found}
    return {}


def _facts(error: BaseException, refused: frozenset[str]) -> Iterator[tuple[str, list[str]]]:
    entry = errors.innermost(error.__traceback__)
    tree = ast.Module([], []) if entry is None else _failing_tree(entry)
    names = () if entry is None else (_locals(entry.tb_frame), entry.tb_frame.f_globals)
    if isinstance(error, ModuleNotFoundError):
        yield "near", _near_modules(error.name, refused)
    elif isinstance(error, ImportError):
        yield "near", _near_imported(error)
    elif isinstance(error, NameError) and entry is not None:
        if type(error.name) is str and not isinstance(error, UnboundLocalError):
            yield "near", _near_names(error.name, entry.tb_frame, refused)
        yield "keys", _own_names(entry.tb_frame)
    elif isinstance(error, AttributeError) and type(error.name) is str:
        yield "near", _near(error.name, _attributes(error.obj))
        yield "keys", _keys(error.obj, error.name) or _few_attributes(error.obj)
        yield "values", list(dict.fromkeys([*_owner(tree, error), *_values(tree, names)]))[:SHOWN_VALUES]
    elif isinstance(error, (KeyError, IndexError)) and entry is not None and len(error.args) == 1:
        key = error.args[0]
        is_row = isinstance(error, IndexError)
        found = _searched(entry, key)
        texts = _keys(found, key) if not is_row or type(found).__name__ == "Row" else []
        texts = texts or ([] if is_row else _with_near(columns.of(error), columns.label(str(key))))
        yield "keys", texts
        yield "near", _near(key, texts) if type(key) is str and not is_row else []
        yield "values", _values(tree, names) if is_row else columns.of_both(error)
    elif entry is not None:
        is_plain = type(error) in (TypeError, ValueError) and len(error.args) == 1 and type(error.args[0]) is str
        message = error.args[0][:SOURCE_CHARACTERS] if is_plain else ""
        match = re.match(_CALLED, message)
        parameters = _parameters(tree, match["name"], (*names, vars(builtins))) if match else []
        yield "keys", parameters or _missing_columns(error, message)
        is_target = message.endswith(")") and "values to unpack" in message  # variables that have old values
        yield (
            "values",
            [] if match or is_target else [*_printed(error), *_values(tree, names), *_called_function(entry)],
        )
        keyword = re.search(r"unexpected keyword argument '(\w+)'", message)
        yield "near", _near(keyword[1], parameters) if keyword else []


def _missing_columns(error: BaseException, message: str) -> list[str]:
    """The columns of a file or table that lacks one, those like it first."""
    return _with_near(columns.of(error), columns.label(message)) if _LACKS.search(message) else []


def _with_near(texts: list[str], label: str) -> list[str]:
    return list(dict.fromkeys([*_near(label, texts), *texts]))[:MAX_KEYS]


def _owner(tree: ast.AST, error: AttributeError) -> list[str]:
    """The expression whose attribute is missing: the error has its value."""
    found = {
        ast.unparse(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and node.attr == error.name
    }
    text = sample(error.obj)
    return [f"{code} = {text}" for code in found if text and len(found) == 1 and len(code) <= MAX_CHARACTERS]


def _called_function(entry: TracebackType) -> list[str]:
    """The library's function that the script called and in which the error happened, with its parameters."""
    trace = entry.tb_next
    text = _failing_text(entry)
    while trace is not None and not (f"{trace.tb_frame.f_code.co_name}(" in text and _own_parameters(trace)):
        trace = trace.tb_next
    if trace is None or trace.tb_frame.f_code.co_filename.startswith(errors.RUNTIME_FOLDER):
        return []
    return [f"{trace.tb_frame.f_code.co_name}() = {', '.join(_own_parameters(trace))}"]


def _own_parameters(trace: TracebackType) -> list[str]:
    code = trace.tb_frame.f_code
    names = code.co_varnames[: code.co_argcount]
    return [name for name in names[:SHOWN_PARAMETERS] if name not in ("self", "cls")]


def _printed(error: BaseException) -> list[str]:
    """What a process that failed wrote to stderr, if it was captured."""
    text = vars(error).get("stderr") if errors.name_of(type(error)) == "CalledProcessError" else None
    text = text.decode(errors="replace") if type(text) is bytes else text
    return [f"stderr = {text.strip()[:MAX_CHARACTERS]!r}"] if type(text) is str and text.strip() else []


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
    same += [word for word in words if len(word) == len(name) > 3 and sorted(word) == sorted(name)]  # swapped letters
    close = difflib.get_close_matches(name, words, 3, _CUTOFF) if len(name) > 1 else []
    return list(dict.fromkeys([*same, *close]))[:3]


def _squeezed(name: str) -> str:
    return name.replace("_", "").replace("-", "").replace(" ", "").lower()


def _near_names(name: str, frame: FrameType, refused: frozenset[str]) -> list[str]:
    """Names like this one that code in this frame could use; very like it, if they are not the script's own."""
    own = [word for names in (_locals(frame), frame.f_globals) for word in list(names) if type(word) is str]
    others = [*vars(builtins), *(module for module in sys.stdlib_module_names if module not in refused)]
    words = [word for word in own if not word.startswith("__")] + [
        word for word in others if not word.startswith("_") and _is_misspelt(name, word)
    ]
    return [word for word in _near(name, words) if word.rstrip("s") != name.rstrip("s")]


def _is_misspelt(name: str, word: str) -> bool:
    """Whether `name` is `word` with two letters swapped, one doubled, or, in a longer word, one missing or wrong."""
    if _squeezed(name) == _squeezed(word):
        return True
    is_swapped = len(name) == len(word) and sorted(name) == sorted(word)
    same = sum(block.size for block in difflib.SequenceMatcher(None, name, word).get_matching_blocks())
    is_one_letter = max(len(name), len(word)) - same <= 1
    is_doubled = len(name) == len(word) + 1 and any(
        name[:at] + name[at + 1 :] == word and name[at] == name[at - 1] for at in range(1, len(name))
    )
    return is_doubled or is_swapped or (len(word) >= LONG_WORD and is_one_letter and name[:1] == word[:1])


def _own_names(frame: FrameType) -> list[str]:
    """The variables and functions that the script has defined so far, the innermost first."""
    found = []
    for names in (_locals(frame), frame.f_globals):
        for name, value in list(names.items()):
            is_own = type(value) is FunctionType and value.__code__.co_filename == errors.FILE_NAME
            if type(name) is str and not name.startswith("_") and (is_own or sample(value)):
                found.append(name)
    return list(dict.fromkeys(found))[:MAX_KEYS]


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
    yield from key_texts(value) if is_frame(value) else ()


def _few_attributes(value: object) -> list[str]:
    """The attributes of an object that has only a few."""
    names = list(dict.fromkeys(_attributes(value)))
    return names if len(names) <= SHOWN_ATTRIBUTES else []


def _public(names: Any) -> Iterator[str]:
    return (name for name in list(names) if type(name) is str and not name.startswith("_"))


def _keys(value: object, key: object) -> list[str]:
    """The keys of a plain dict or the columns of a table, those like `key` first."""
    texts = key_texts(value)
    near = _near(key, texts) if type(key) is str else []
    return list(dict.fromkeys([*near, *texts]))[:MAX_KEYS]


def _failing_tree(entry: TracebackType) -> ast.AST:
    """The expression or statement that failed; an empty one if it cannot be parsed."""
    text = _failing_text(entry).strip()
    for source in (f"({text})", f"{text.rstrip(':')}:\n    pass", text):  # an expression, `for x in y:`, a statement
        with contextlib.suppress(SyntaxError, ValueError, RecursionError, MemoryError):
            return ast.parse(source)
    return ast.Module([], [])


def _values(tree: ast.AST, names: tuple[Any, ...]) -> list[str]:
    """The variables in the failing code, and parts of them, each with its value or its type."""
    shown: dict[str, str] = {}
    inner: set[ast.AST] = set()  # of what is shown as a whole
    for node in ast.walk(tree):  # the outermost first
        if node in inner or not isinstance(node, ast.Name | ast.Attribute | ast.Subscript):
            continue
        value = _found(node, names)
        if value is not _NOT_FOUND and (text := sample(value)):
            inner.update(ast.walk(node))
            shown[ast.unparse(node)] = text
    return [f"{code} = {text}" for code, text in shown.items() if len(code) <= MAX_CHARACTERS][:SHOWN_VALUES]


def _parameters(tree: ast.AST, name: str, names: tuple[Any, ...]) -> list[str]:
    """The parameters of the function of this name that the failing code calls, if it is a Python function."""
    owner, _, method = name.rpartition(".")
    if not owner and type(function := _resolved(ast.Name(name), names)) is FunctionType:
        return _parameters_of(function)  # also if something else calls it
    kind = _resolved(ast.Name(owner), names) if owner else None
    for module in _CLASSES if owner and kind is None else ():
        kind = kind or (_module_dict(sys.modules[module]).get(owner) if module in sys.modules else None)
    if owner and type in _mro(type(kind)):
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
    return list(named[:MAX_KEYS])


def _searched(entry: TracebackType, key: object) -> object:
    """The dict or table in which the failing code looked for `key`, or None if it cannot be found."""
    tree = _failing_tree(entry)
    names = _locals(entry.tb_frame), entry.tb_frame.f_globals
    for node in ast.walk(tree):  # the outermost first
        if (
            isinstance(node, ast.Subscript)
            and isinstance(node.value, ast.Attribute)
            and node.value.attr in ("loc", "at")
        ):
            table = _resolved(node.value.value, names)
            parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else []
            named = (
                [part.value for part in ast.walk(parts[1]) if isinstance(part, ast.Constant)] if len(parts) > 1 else []
            )
            is_column = key in named or columns.label(str(key)) in named
            return table if is_column else _labels(table)
        if isinstance(node, ast.Subscript | ast.Attribute):
            if not isinstance(node.value, ast.Name | ast.Await) and not _has_value(node.value, names):
                return None  # it is the value of a call or an index, and not what is inside it
            for found in (_sections(_resolved(node.value, names)), _item(node.value, entry, names)):
                if is_frame(found) or type(found).__name__ == "Row" or (type(found) in DICTS and not _has(found, key)):
                    return found
    return None


def _has_value(node: ast.AST, names: tuple[Any, ...]) -> bool:
    return _found(node, names) is not _NOT_FOUND


def _labels(table: object) -> object:
    """The labels of a table's rows, as the keys of a dict."""
    return dict.fromkeys(str(label) for label in islice(table.index, MAX_KEYS)) if is_frame(table) else None  # type: ignore[attr-defined]


def _sections(value: object) -> object:
    """The sections of a configuration as a dict; any other value as it is."""
    is_parser = errors.name_of(type(value)) in ("ConfigParser", "RawConfigParser")
    return _instance_dict(value).get("_sections") if is_parser else value


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
    """The value of a variable or of a part of it; None if there is none."""
    found = _found(node, names)
    return None if found is _NOT_FOUND else found


def _found(node: ast.AST, names: tuple[Any, ...]) -> object:
    """The value of a variable or of a part of it, read without calling any code, or `_NOT_FOUND`."""
    if isinstance(node, ast.Name):
        return next((space[node.id] for space in names if node.id in space), _NOT_FOUND)
    if isinstance(node, ast.Await):
        return dict.fromkeys(functions.last_keys)  # of the answer to the last call
    if isinstance(node, ast.Attribute):
        return _instance_dict(_found(node.value, names)).get(node.attr, _NOT_FOUND)
    if isinstance(node, ast.Subscript):
        owner = _sections(_found(node.value, names))
        index = node.slice.value if isinstance(node.slice, ast.Constant) else _found(node.slice, names)
        if type(index) is str and errors.name_of(type(owner)) == "DataFrame" and index in key_texts(owner):
            return owner[index] if is_frame(owner) else _NOT_FOUND  # type: ignore[index]
        if type(owner) in DICTS and type(index) in PLAIN:
            return dict.get(owner, index, _NOT_FOUND)  # type: ignore[call-overload]
        if (type(owner) is list or type(owner) is tuple) and type(index) is int and -len(owner) <= index < len(owner):
            return owner[index]
    return _NOT_FOUND


def _has(found: Any, key: object) -> bool:
    return type(key) not in PLAIN or dict.__contains__(found, key)


def _instance_dict(value: object) -> dict[str, Any]:
    """The `__dict__` of an instance, unless its class overrides `__dict__`."""
    classes = [_class_dict(base) for base in _mro(type(value))]
    if all(type(names.get("__dict__")) in (GetSetDescriptorType, type(None)) for names in classes):
        with contextlib.suppress(AttributeError):
            found = object.__getattribute__(value, "__dict__")
            return found if type(found) is dict else {}
    return {}
