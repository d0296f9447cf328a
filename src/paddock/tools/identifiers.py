"""The function names that tools have in a script.

A tool keeps its own name, made an identifier. If several tools share one, each is also called `<name>_<id>`, and the
bare name means the first linked one, so linking another tool never changes what a name means.
"""

from __future__ import annotations

import builtins
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from keyword import kwlist

from paddock.model.tools import Tool

NAME_CHARACTERS = 100
_OWN_NAMES = {
    "python": ("files", "call_tool", "report_progress", "create_artifact", "read_artifact"),
    "javascript": ("files", "callTool", "reportProgress", "codeExec", "readFile"),
}
_PYTHON = {
    *kwlist,
    *dir(builtins),
    *("Any", "Literal", "NotRequired", "TypedDict", "overload"),  # used in stubs
}
_JAVASCRIPT_WORDS = """
async await break case catch class const continue debugger default delete do else enum export extends false finally for
function if implements import in instanceof interface let new null package private protected public return static super
switch this throw true try typeof undefined var void while with yield
"""
_JAVASCRIPT_GLOBALS = """
AggregateError Array ArrayBuffer AsyncDisposableStack Atomics BigInt BigInt64Array BigUint64Array Boolean Buffer
DOMException DataView Date DisposableStack Error EvalError FinalizationRegistry Float16Array Float32Array Float64Array
Function Infinity Int16Array Int32Array Int8Array InternalError Intl Iterator JSON Map Math NaN Number Object Promise
Proxy RangeError Record ReferenceError Reflect RegExp Set SharedArrayBuffer String SuppressedError Symbol SyntaxError
TextDecoder TextEncoder ToolError TypeError URIError URL URLSearchParams Uint16Array Uint32Array Uint8Array
Uint8ClampedArray WeakMap WeakRef WeakSet AbortController AbortSignal Event EventTarget arguments atob btoa
clearInterval clearTimeout console constructor crypto decodeURI decodeURIComponent encodeURI encodeURIComponent escape
eval exports fetch global globalThis hasOwnProperty isFinite isNaN isPrototypeOf module parseFloat parseInt performance
process propertyIsEnumerable prototype queueMicrotask require self setImmediate setInterval setTimeout structuredClone
toLocaleString toString unescape valueOf window
"""
_TAKEN = {
    "python": frozenset({*_PYTHON, *_OWN_NAMES["python"]}),
    "javascript": frozenset({*_JAVASCRIPT_WORDS.split(), *_JAVASCRIPT_GLOBALS.split(), *_OWN_NAMES["javascript"]}),
}
_ASCII_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*|_[A-Za-z0-9][A-Za-z0-9_]*")
_UNSEEN = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u3164\ufe00-\ufe0f\uffa0]")


def identifier(name: str, language: str = "python") -> str:
    """`name` made an identifier that hides nothing defined in a script of this language."""
    made = name[:NAME_CHARACTERS]
    if not _ASCII_NAME.fullmatch(made):
        made = _made(made)
    return f"{made}_" if made in taken(language) else made


def taken(language: str) -> frozenset[str]:
    """The names that are taken in every script of this language."""
    return _TAKEN[_family(language)]


def own_names(language: str) -> tuple[str, ...]:
    """The names that Paddock itself defines in every script of this language."""
    return _OWN_NAMES[_family(language)]


def linked(tools: Iterable[Tool], language: str = "python") -> dict[str, Tool]:
    """The tools by their function names, in the order in which they are linked."""
    unique = once(tools)
    bare = {tool.full_name: identifier(tool.name, language) for tool in unique}
    shared = {name for name, times in Counter(bare.values()).items() if times > 1}
    long = _long_names([tool for tool in unique if bare[tool.full_name] in shared], bare)
    # Names with an id are claimed before bare names: otherwise a tool could be named like another one's.
    claimed = set(long.values())
    for tool in unique:
        if bare[tool.full_name] in claimed and tool.full_name not in long:
            long[tool.full_name] = _free(f"{bare[tool.full_name]}_{tool.id}", claimed | set(bare.values()))
    names: dict[str, Tool] = {}
    for tool in unique:
        if bare[tool.full_name] not in claimed:
            names.setdefault(bare[tool.full_name], tool)
        if tool.full_name in long:
            names[long[tool.full_name]] = tool
    return names


def once(tools: Iterable[Tool]) -> list[Tool]:
    """`tools` without duplicates."""
    first: dict[str, Tool] = {}
    for tool in tools:
        first.setdefault(tool.full_name, tool)
    return list(first.values())


def _family(language: str) -> str:
    return "python" if language == "python" else "javascript"


def _made(name: str) -> str:
    """Letters and digits of any script that every engine knows; anything else becomes an underscore."""
    normal = unicodedata.normalize("NFKC", name)[:NAME_CHARACTERS]
    shown = "".join(character if _is_part(character) else "_" for character in normal)
    shown = re.sub(r"(?<=_)[^\w]+|^[^\w]+", "", shown)  # marks with no letter to stand on
    shown = unicodedata.normalize("NFKC", shown).rstrip("_")
    shown = re.sub("_{2,}", "_", shown) if shown.strip("_") else ""
    if not shown:
        return "tool"
    return shown if shown.isidentifier() else f"tool_{shown}"


def _is_part(character: str) -> bool:
    # A character that may be part of a name stays so in later versions of Unicode, and every parser knows 3.2.
    if not f"a{character}".isidentifier() or _UNSEEN.match(character):
        return False
    return unicodedata.ucd_3_2_0.category(character) != "Cn"


def _long_names(tools: list[Tool], bare: dict[str, str]) -> dict[str, str]:
    names: dict[str, str] = {}
    for tool in tools:
        names[tool.full_name] = _free(f"{bare[tool.full_name]}_{tool.id}", set(names.values()))
    return names


def _free(name: str, taken_names: set[str]) -> str:
    number = 2
    free = name
    while free in taken_names:
        free, number = f"{name}_{number}", number + 1
    return free
