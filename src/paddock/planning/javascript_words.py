"""Words that need Node: a script that contains one does not run on QuickJS. The host never parses the script."""

from __future__ import annotations

import re

_NODE = """
AbortController AbortSignal Atomics Blob BroadcastChannel Buffer ByteLengthQueuingStrategy CloseEvent
CompressionStream CountQueuingStrategy Crypto CryptoKey CustomEvent DOMException DecompressionStream Event
EventTarget File FormData Headers Intl MessageChannel MessageEvent MessagePort Navigator Performance
PerformanceEntry PerformanceMark PerformanceMeasure PerformanceObserver ReadableStream Request Response
SharedArrayBuffer SubtleCrypto TextDecoder TextDecoderStream TextEncoder TextEncoderStream TransformStream URL
URLPattern URLSearchParams WebAssembly WebSocket WritableStream __dirname __filename captureStackTrace
clearImmediate crypto eval export exports fetch global import module navigator performance prepareStackTrace process
require setImmediate structuredClone unref
cbrt hypot localeCompare normalize
"""
NODE_WORDS = frozenset(_NODE.split())
"""Globals that only Node has, and on the last line methods whose results differ in QuickJS."""
CONSOLE_METHODS = frozenset(("log", "info", "warn", "error", "debug"))
"""The methods of QuickJS's console."""
_RESERVED = """
Infinity NaN arguments await break case catch class const continue debugger default delete do else enum eval export
extends false finally for function globalThis if implements import in instanceof interface let new null package private
protected public return static super switch this throw true try typeof undefined var void while with yield
"""
RESERVED = frozenset(_RESERVED.split())
"""Words that cannot be the name of a variable."""
_WORD = re.compile(r"[\w$]+")


def node_word(code: str) -> str | None:
    """The first word in `code` that only Node has, or None.

    A word in a string or a comment counts too: such a script runs on Node, with the same result.
    """
    before, end = "", 0
    for match in _WORD.finditer(code):
        word = match[0]
        if word in NODE_WORDS or word.startswith("toLocale"):
            return word
        if before == "console" and word not in CONSOLE_METHODS and code[end : match.start()] in (".", "?."):
            return f"console.{word}"
        before, end = word, match.end()
    return None
