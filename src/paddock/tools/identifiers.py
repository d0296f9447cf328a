"""The function names that tools have in a script.

The function name is the tool's name, converted to an identifier. If several tools share one, each also gets
`<name>_<id>`, and the bare name means the first linked tool, so linking another tool never changes what a name means.
Where the order is not explicit, because tools are linked by a pattern, a call of a name that is `shared` is refused.
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
    *("asyncio", "json", "Path", "display"),  # in every script without an import
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
Blob BroadcastChannel CompressionStream Crypto CryptoKey CustomEvent DecompressionStream File FormData Headers
MessageChannel MessagePort ReadableStream Request Response SubtleCrypto TextDecoderStream TextEncoderStream
TransformStream WebAssembly WebSocket WritableStream clearImmediate
ByteLengthQueuingStrategy CloseEvent CountQueuingStrategy MessageEvent Navigator Performance PerformanceEntry
PerformanceMark PerformanceMeasure PerformanceObserver PerformanceObserverEntryList PerformanceResourceTiming
ReadableByteStreamController ReadableStreamBYOBReader ReadableStreamBYOBRequest ReadableStreamDefaultController
ReadableStreamDefaultReader TransformStreamDefaultController URLPattern WritableStreamDefaultController
WritableStreamDefaultWriter navigator __dirname __filename
"""
_RESERVED = {
    "python": frozenset({*_PYTHON, *_OWN_NAMES["python"]}),
    "javascript": frozenset({*_JAVASCRIPT_WORDS.split(), *_JAVASCRIPT_GLOBALS.split(), *_OWN_NAMES["javascript"]}),
}
_ASCII_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*|_[A-Za-z0-9][A-Za-z0-9_]*")
_INVISIBLE = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u3164\ufe00-\ufe0f\uffa0]")


def identifier(name: str, language: str = "python") -> str:
    """Convert `name` to an identifier that shadows no name in scripts of this language."""
    result = name[:NAME_CHARACTERS]
    if not _ASCII_NAME.fullmatch(result):
        result = _sanitize(result)
    return f"{result}_" if result in reserved(language) else result


def reserved(language: str) -> frozenset[str]:
    """The names that no function may have in scripts of this language."""
    return _RESERVED[_family(language)]


def own_names(language: str) -> tuple[str, ...]:
    """The names that Paddock itself defines in every script of this language."""
    return _OWN_NAMES[_family(language)]


def linked(tools: Iterable[Tool], language: str = "python") -> dict[str, Tool]:
    """The tools by their function names, in the order in which they are linked."""
    unique = unique_tools(tools)
    bare = {tool.full_name: identifier(tool.name, language) for tool in unique}
    shared = {name for name, times in Counter(bare.values()).items() if times > 1}
    long = {tool.full_name: f"{bare[tool.full_name]}_{tool.id}" for tool in unique if bare[tool.full_name] in shared}
    # Names with an id take precedence over bare names. Otherwise a tool could take another tool's name with id.
    claimed = set(long.values())
    times = Counter(long.values())
    for tool in unique:
        if times[long.get(tool.full_name, "")] > 1:  # one of them has chosen its name for that, so none gets it
            long[tool.full_name] = f"{bare[tool.full_name]}_{tool.digest}"
    claimed.update(long.values())
    taken = claimed | set(bare.values())
    for tool in unique:
        if bare[tool.full_name] in claimed and tool.full_name not in long:
            long[tool.full_name] = _unused_name(f"{bare[tool.full_name]}_{tool.id}", taken)
    names: dict[str, Tool] = {}
    for tool in unique:
        if bare[tool.full_name] not in claimed:
            names.setdefault(bare[tool.full_name], tool)
        if tool.full_name in long:
            names[long[tool.full_name]] = tool
    return names


def shared(tools: Iterable[Tool], language: str = "python") -> dict[str, tuple[str, ...]]:
    """The function names and `call_tool` names that tools of several servers share, each with the tools' full names.

    A Python function of the embedding program is not among them: its full name is its bare name.
    """
    by_name: dict[str, list[Tool]] = {}
    for tool in unique_tools(tools):
        for name in {tool.name, identifier(tool.name, language)}:
            by_name.setdefault(name, []).append(tool)
    return {
        name: tuple(tool.full_name for tool in group)
        for name, group in by_name.items()
        if len(group) > 1 and all(tool.server for tool in group)
    }


def unique_tools(tools: Iterable[Tool]) -> list[Tool]:
    """`tools` without duplicates."""
    first: dict[str, Tool] = {}
    for tool in tools:
        first.setdefault(tool.full_name, tool)
    return list(first.values())


def _family(language: str) -> str:
    """The languages that share function names: Python, or JavaScript and TypeScript."""
    return "python" if language == "python" else "javascript"


def _sanitize(name: str) -> str:
    """Keep letters and digits that every engine supports; replace everything else with underscores."""
    normal = unicodedata.normalize("NFKC", name)[:NAME_CHARACTERS]
    result = "".join(character if _is_identifier_part(character) else "_" for character in normal)
    result = re.sub(r"(?<=_)[^\w]+|^[^\w]+", "", result)  # combining marks without a letter
    result = unicodedata.normalize("NFKC", result).rstrip("_")
    result = re.sub("_{2,}", "_", result) if result.strip("_") else ""
    if not result:
        return "tool"
    return result if result.isidentifier() else f"tool_{result}"


def _is_identifier_part(character: str) -> bool:
    # A character that is valid in a name stays valid in later versions of Unicode, and every parser knows 3.2.
    if not f"a{character}".isidentifier() or _INVISIBLE.match(character):
        return False
    return unicodedata.ucd_3_2_0.category(character) != "Cn"


def _unused_name(name: str, taken_names: set[str]) -> str:
    free, number = name, 2
    while free in taken_names:
        free, number = f"{name}_{number}", number + 1
    return free
