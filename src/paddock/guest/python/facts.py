"""Facts about an error, for the host's hint: names that the script may have meant, and keys that exist.

Nothing here calls code of the script. Only plain values are inspected: exact dicts and lists, modules, tables.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import difflib
import pkgutil
import re
import sys
from collections.abc import Iterable, Iterator
from itertools import islice
from types import FrameType, FunctionType, ModuleType, TracebackType
from typing import Any

from paddock.guest.python import columns, errors, parameters
from paddock.guest.python.lookup import (
    NOT_FOUND,
    SOURCE_CHARACTERS,
    class_dict,
    failing_tree,
    found_value,
    instance_dict,
    local_names,
    module_dict,
    mro,
    resolved,
    sections,
)
from paddock.guest.python.samples import DICTS, MAX_CANDIDATES, MAX_CHARACTERS, PLAIN, is_frame, key_texts, sample

MAX_KEYS = 20
SHOWN_ATTRIBUTES = 12
SHOWN_VALUES = 4
LONG_WORD = 5
_CUTOFF = 0.8
_CALLED = r"(?P<name>[\w.<>]+)\(\) (got|takes|missing)"
_LACKS = re.compile("^Usecols do not|^Missing column|^Index .* invalid")


def of(error: BaseException, refused: Iterable[str] = ()) -> dict[str, list[str]]:
    """The lists `near`, `keys` and `values` for this error, without empty ones."""
    with contextlib.suppress(Exception):
        return {name: found for name, found in _facts(error, frozenset(refused)) if found}
    return {}


def _facts(error: BaseException, refused: frozenset[str]) -> Iterator[tuple[str, list[str]]]:
    entry = errors.innermost(error.__traceback__)
    tree = ast.Module([], []) if entry is None else failing_tree(entry)
    names = () if entry is None else (local_names(entry.tb_frame), entry.tb_frame.f_globals)
    if isinstance(error, ModuleNotFoundError):
        yield "near", _near_modules(error.name, refused)
    elif isinstance(error, ImportError):
        yield "near", _near_imported(error)
    elif isinstance(error, NameError) and entry is not None:
        if type(error.name) is str and not isinstance(error, UnboundLocalError):
            yield "near", _near_names(error.name, entry.tb_frame, refused)
        yield "keys", _own_names(entry.tb_frame)
    elif isinstance(error, AttributeError) and type(error.name) is str:
        yield (
            "near",
            [f"_{error.name}"]
            if f"_{error.name}" in instance_dict(error.obj)
            else _near(error.name, _attributes(error.obj)),
        )
        yield "keys", _keys(error.obj, error.name) or _few_attributes(error.obj)
        values = list(dict.fromkeys([*_owner(tree, error), *_values(tree, names)]))
        yield "values", [*values, *(_givers(entry, names, values) if entry else [])][:SHOWN_VALUES]
    elif isinstance(error, (KeyError, IndexError)) and entry is not None and len(error.args) == 1:
        key = error.args[0]
        is_row = isinstance(error, IndexError)
        found = _searched(entry, key)
        texts = _keys(found, key) if not is_row or type(found).__name__ == "Row" else []
        texts = texts or ([] if is_row else _with_near(columns.of(error), columns.label(key)))
        yield "keys", texts
        yield "near", _near(key, texts) if type(key) is str and not is_row else []
        yield "values", _values(tree, names) if is_row else columns.of_both(error) or _holders(tree, names)
    elif entry is not None:
        is_plain = type(error) in (TypeError, ValueError) and len(error.args) == 1 and type(error.args[0]) is str
        message = error.args[0][:SOURCE_CHARACTERS] if is_plain else ""
        match = re.match(_CALLED, message)
        named = parameters.of_call(tree, match["name"], (*names, vars(builtins))) if match else []
        yield "keys", named or _missing_columns(error, message)
        is_target = message.endswith(")") and "values to unpack" in message  # variables that have old values
        values = _values(tree, names)
        values += _givers(entry, names, values)
        yield (
            "values",
            [] if match or is_target else [*_printed(error), *values, *parameters.of_library(entry)],
        )
        keyword = re.search(r"unexpected keyword argument '(\w+)'", message)
        yield "near", _near(keyword[1], named) if keyword else []


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
    own = [word for names in (local_names(frame), frame.f_globals) for word in list(names) if type(word) is str]
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
    for names in (local_names(frame), frame.f_globals):
        for name, value in list(names.items()):
            is_own = type(value) is FunctionType and value.__code__.co_filename in errors.Source.names
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
    dictionaries = [class_dict(base) for base in mro(kind)]
    if kind is ModuleType:
        yield from _public(module_dict(value))
    elif isinstance(value, type):
        dictionaries += [class_dict(base) for base in mro(value)]
    else:
        yield from _public(instance_dict(value))
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


def _values(tree: ast.AST, names: tuple[Any, ...]) -> list[str]:
    """The variables in the failing code, and parts of them, each with its value or its type."""
    shown: dict[str, str] = {}
    inner: set[ast.AST] = set()  # of what is shown as a whole
    for node in ast.walk(tree):  # the outermost first
        if node in inner or not isinstance(node, ast.Name | ast.Attribute | ast.Subscript):
            continue
        value = found_value(node, names)
        if value is not NOT_FOUND and (text := sample(value)):
            inner.update(ast.walk(node))
            shown[ast.unparse(node)] = text
    return [f"{code} = {text}" for code, text in shown.items() if len(code) <= MAX_CHARACTERS][:SHOWN_VALUES]


def _holders(tree: ast.AST, names: tuple[Any, ...]) -> list[str]:
    """The dicts in the failing code that have only one key, with text or a list."""
    return [value for value in _values(tree, names) if value.endswith(("text)", "(a list)"))]


def _givers(entry: TracebackType, names: tuple[Any, ...], values: list[str]) -> list[str]:
    """The variables from which the only variable that is None was computed."""
    nothing = [name for name, _, text in (value.partition(" = ") for value in values) if text == "None"]
    if len(nothing) != 1 or not nothing[0].isidentifier():
        return []
    for number in range(entry.tb_lineno - 1, entry.tb_frame.f_code.co_firstlineno, -1):
        line = errors.source_line(number).strip()[:SOURCE_CHARACTERS]
        if re.match(rf"{nothing[0]}\s*(:[^=]+)?=(?!=)", line):
            with contextlib.suppress(SyntaxError, ValueError, RecursionError, MemoryError):
                return [value for value in _values(ast.parse(line), names) if not value.startswith(f"{nothing[0]} = ")]
    return []


def _searched(entry: TracebackType, key: object) -> object:
    """The dict or table in which the failing code looked for `key`, or None if it cannot be found."""
    tree = failing_tree(entry)
    names = local_names(entry.tb_frame), entry.tb_frame.f_globals
    for node in ast.walk(tree):  # the outermost first
        if (
            isinstance(node, ast.Subscript)
            and isinstance(node.value, ast.Attribute)
            and node.value.attr in ("loc", "at")
        ):
            table = resolved(node.value.value, names)
            parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else []
            named = (
                [part.value for part in ast.walk(parts[1]) if isinstance(part, ast.Constant)] if len(parts) > 1 else []
            )
            is_column = (type(key) in PLAIN and key in named) or columns.label(key) in named
            return table if is_column else _labels(table)
        if isinstance(node, ast.Subscript | ast.Attribute):
            if not isinstance(node.value, ast.Name | ast.Await) and found_value(node.value, names) is NOT_FOUND:
                return None  # it is the value of a call or an index, and not what is inside it
            for found in (sections(resolved(node.value, names)), _item(node.value, entry, names)):
                if is_frame(found) or type(found).__name__ == "Row" or (type(found) in DICTS and not _has(found, key)):
                    return found
    return None


def _labels(table: object) -> object:
    """The labels of a table's rows, as the keys of a dict."""
    return dict.fromkeys(str(label) for label in islice(table.index, MAX_KEYS)) if is_frame(table) else None  # type: ignore[attr-defined]


def _item(node: ast.AST, entry: TracebackType, names: tuple[Any, ...]) -> object:
    """The first item of the list that a comprehension iterates over: its variable is not visible since 3.12."""
    if not isinstance(node, ast.Name) or any(node.id in space for space in names):
        return None
    text = "".join(errors.source_line(entry.tb_lineno + number) for number in range(3))[:SOURCE_CHARACTERS]
    match = re.search(rf"\bfor {re.escape(node.id)} in (\w+(?:\.\w+|\[[\w'\"]+\])*)", text)
    with contextlib.suppress(SyntaxError):
        items = resolved(ast.parse(match[1], mode="eval").body, names) if match else None
        return items[0] if (type(items) is list or type(items) is tuple) and items else None
    return None


def _has(found: Any, key: object) -> bool:
    return type(key) not in PLAIN or dict.__contains__(found, key)
