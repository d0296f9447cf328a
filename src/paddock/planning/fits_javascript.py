"""Whether a script in JavaScript or TypeScript fits the light engine: it names nothing that only Node has.

Where that is wrong, a script goes to Node that need not have, or is found out when it runs: a name that is not defined
ends it there, and it moves.
"""

from __future__ import annotations

import re

from paddock.planning.javascript_text import bare
from paddock.planning.misfit import Misfit

GLOBALS = frozenset(
    (
        *("require", "module", "exports", "__dirname", "__filename", "process", "Buffer", "setImmediate"),
        *("clearImmediate", "global", "eval", "fetch", "WebSocket", "crypto", "performance", "Intl"),
        *("WebAssembly", "AbortController", "AbortSignal", "EventTarget", "Event", "Blob", "File"),
        *("ReadableStream", "WritableStream", "TransformStream", "MessageChannel", "Headers", "Request"),
        *(
            "Response",
            "FormData",
            "SharedArrayBuffer",
            "Atomics",
            "BroadcastChannel",
            "CloseEvent",
            "CompressionStream",
        ),
        *("ByteLengthQueuingStrategy", "CountQueuingStrategy", "Crypto", "CryptoKey", "CustomEvent", "Navigator"),
        *("DecompressionStream", "MessageEvent", "MessagePort", "Performance", "PerformanceEntry", "PerformanceMark"),
        *("PerformanceMeasure", "PerformanceObserver", "SubtleCrypto", "TextDecoderStream", "TextEncoderStream"),
        *("URLPattern", "navigator"),
    )
)
"""What Node's scripts find and those of the light engine do not."""
RESERVED = frozenset(
    (
        *("arguments", "await", "break", "case", "catch", "class", "const", "continue", "debugger", "default"),
        *("delete", "do", "else", "enum", "eval", "export", "extends", "false", "finally", "for", "function"),
        *("globalThis", "if", "implements", "import", "in", "instanceof", "interface", "let", "new", "null"),
        *("package", "private", "protected", "public", "return", "static", "super", "switch", "this", "throw"),
        *("true", "try", "typeof", "undefined", "var", "void", "while", "with", "yield"),
    )
)
# The source is hostile, and the host reads it: no two quantifiers that follow each other may match the same text, or a
# script of spaces takes time by the square of its length.
_START = r"(?<![\w$#])(?<!(?<!\.\.)\.)"  # of a name that is no property; three dots spread it
_OF_GLOBAL = re.compile(rf"{_START}globalThis\s*\??\.\s*({'|'.join(sorted(GLOBALS))})(?![\w$])")
_CONSOLE = re.compile(rf"{_START}console(?![\w$])(?:\s*\??\.\s*([\w$]+))?")
_CONSOLE_METHODS = frozenset(("log", "info", "warn", "error", "debug"))
_TAKEN_FROM_CONSOLE = re.compile(r"\{([\w$\s,:]*)\}\s*=\s*\Z")
_NAME = re.compile(rf"{_START}(?:{'|'.join(sorted(GLOBALS))})(?![\w$])")
_KEY = re.compile(r"\s*(?:\?\s*)?:")
_OTHERWISE = re.compile(r"(?<![\w$#])(?:toLocale[A-Z]\w+|localeCompare|cbrt|hypot)(?![\w$])(?!\s*:(?!:))")
"""What the light engine has, and answers otherwise: it knows no locale, and is one digit off in these functions."""
_MODULE = re.compile(rf"{_START}(?:import|export)(?![\w$])(?!\s*(?:\?\s*)?:)")
_DECLARED = re.compile(
    rf"{_START}(?:(?:let|const|var|class|interface|type|enum|namespace)\s+|function(?:\s*\*\s*|\s+))([\w$]+)"
)
_UNDEFINED = re.compile(r"'?([\w$]+)'? is not defined")


def misfit(code: str, names: frozenset[str]) -> Misfit | None:
    """Why `code` must run on Node; None where it fits. `names` are those that it is given, and so means."""
    text = bare(code)
    own = names.union(match[1] for match in _DECLARED.finditer(text))
    found = [
        (match.start(), f"uses {match[0]}")
        for match in _NAME.finditer(text)
        if match[0] not in own and not _is_key(text, match)
    ]
    found += [(match.start(), f"uses {match[0]}") for match in _OTHERWISE.finditer(text) if match[0] not in own]
    found += [(match.start(1), f"uses {match[1]}") for match in _OF_GLOBAL.finditer(text)]
    if "console" not in own:
        found += [
            (match.start(), f"uses {words}") for match in _CONSOLE.finditer(text) if (words := _of_node(text, match))
        ]
    if (module := _module(text)) is not None:
        found.append((module.start(), f"{module[0]}s a module"))
    if not found:
        return None
    at, words = min(found)
    return Misfit(words, code.count("\n", 0, at) + 1)


def _of_node(text: str, match: re.Match[str]) -> str:
    """What a script uses of a console that only Node's has: a method, or the console as a thing of its own."""
    if match[1] is not None:
        return "" if match[1] in _CONSOLE_METHODS else f"console.{match[1]}"
    taken = _TAKEN_FROM_CONSOLE.search(text, max(0, match.start() - 200), match.start())
    if taken is None:
        return "" if _KEY.match(text, match.end()) else "console"
    names = {name.partition(":")[0].strip() for name in taken[1].split(",")}
    return next((f"console.{name}" for name in sorted(names) if name and name not in _CONSOLE_METHODS), "")


def _module(text: str) -> re.Match[str] | None:
    """The first word that makes a module of the script: a namespace of TypeScript exports too, inside its brackets."""
    depth = counted = 0
    for match in _MODULE.finditer(text):
        depth += text.count("{", counted, match.start()) - text.count("}", counted, match.start())
        counted = match.start()
        if match[0] == "import" or depth <= 0:
            return match
    return None


def _is_key(text: str, match: re.Match[str]) -> bool:
    """Whether the name is that of a property or of a parameter with a type, and not a value before a colon."""
    if not _KEY.match(text, match.end()):
        return False
    end = match.start()
    while end > 0 and text[end - 1].isspace():
        end -= 1
    return not text.endswith(("?", "case"), 0, end)


def is_missing(error_type: str, message: str) -> bool:
    """Whether a run ended for want of something that Node has."""
    if error_type != "ReferenceError" or not (found := _UNDEFINED.match(message)):
        return False
    return found[1] in GLOBALS
