"""A QuickJS context with the prelude in it: everything that a script finds, before the script."""

from __future__ import annotations

import base64
import json
import resource
from collections.abc import Callable
from typing import Any

import _quickjs  # type: ignore[import-not-found]

from paddock.guest.javascript import prelude
from paddock.guest.javascript.native import Native, clear_error

FILE_NAME = "main.js"
PLAIN, JSON_TEXT, BASE64 = range(3)  # how a body crosses
STACK_BYTES = 24 * 1024 * 1024
"""Where the process may have it: for ten thousand calls in each other, as in Node. Of 8 MB, for four thousand."""
STACK_MARGIN_BYTES = 1024 * 1024
"""What Python has on the stack already, and what C uses up between two checks of QuickJS."""
OUT_OF_MEMORY = "out of memory"
Emit = Callable[[int, int, str, bytes], str | None]
Ask = Callable[[str, bytes], str]


class Context:
    """One script's JavaScript. Each method may raise JSException where memory is short."""

    def __init__(self) -> None:
        self._emit: Emit = lambda *_: None
        self._ask: Ask = lambda *_: "="
        self._context = _quickjs.Context()
        self.fit_stack()
        self._native = Native(self._context)
        callables: dict[str, Callable[..., Any]] = {
            "emit": self._emitted,
            "ask": self._asked,
            "peek": self._native.peek,
            "clear": clear_error,
        }
        self._do = prelude.load(self._context, self._native, callables)
        self._own_bytes = int(self._context.memory()["malloc_size"])  # now: to count takes 0.1 ms

    def attach(self, emit: Emit, ask: Ask) -> None:
        """Where what the script sends goes, and who answers what the prelude asks."""
        self._emit, self._ask = emit, ask

    def fit_stack(self) -> None:
        """Use the stack that the process may have by now; beyond it lies a segmentation fault."""
        self._context.set_max_stack_size(_stack_bytes())

    def limit(self, memory_bytes: int | None) -> None:
        """Let the script have so much, beyond what the prelude has."""
        if memory_bytes is not None:
            self._context.set_memory_limit(self._own_bytes + memory_bytes)

    def begin(self, tools: list[str], files: list[Any], output_bytes: int, seed: int) -> None:
        """Give the script its functions, its files and its random numbers."""
        self._do["begin"](json.dumps({"tools": tools, "files": files, "output_bytes": output_bytes}))
        self._native.seed(seed)

    def input(self, name: str, text: str) -> None:
        """Give the script a variable; `text` is its JSON."""
        self._do["input"](name, text)

    def compile(self, code: str) -> bool:
        """Compile the script; a SyntaxError is emitted as its RESULT."""
        wrapped = self._do["wrapped"](code)
        text = _bytes(wrapped[1:], int(wrapped[0]))
        if self._native.evaluate(text, FILE_NAME, self._do["hold"]):
            return True
        self._do["rejected"](code)
        return False

    def run(self) -> None:
        """Begin the script; its end is emitted as a RESULT."""
        self._do["run"]()

    def run_job(self) -> bool:
        """Run the next thing that a promise has queued; whether there was one."""
        return bool(self._context.execute_pending_job())

    def check_rejections(self) -> None:
        """Emit, as the RESULT, the first rejection that nobody has handled by now."""
        if self._native.take_unhandled(self._do["hold"]):
            self._native.forget_rejections()
            self._do["raised"]()

    def settle(self, number: int, header: str, body: bytes, *, is_text: bool) -> None:
        """Hand the answer to a request to whoever waits for it."""
        text = body.decode() if is_text else base64.b64encode(body).decode()
        self._do["settle"](number, header, text, PLAIN if is_text else BASE64)

    def wait_milliseconds(self) -> float:
        """Until the next timer; negative where there is none."""
        return float(self._do["wait"]())

    def fire(self) -> None:
        """Run the timer that is due."""
        self._do["fire"]()

    # What Python raises in here would stay with the thread and surface somewhere else: it is returned, as words.
    def _emitted(self, kind: int, number: int, header: str, body: str, form: int) -> str | None:
        try:
            return self._emit(kind, number, header, _bytes(body, form))
        except MemoryError:
            return OUT_OF_MEMORY

    def _asked(self, what: str, body: str, form: int) -> str:
        try:
            return self._ask(what, _bytes(body, form))
        except MemoryError:
            return OUT_OF_MEMORY


def _stack_bytes() -> int:
    """How much of the stack QuickJS may use. It grows as far as the limit says at the time: raised here."""
    soft, hard = resource.getrlimit(resource.RLIMIT_STACK)
    wanted = STACK_BYTES + STACK_MARGIN_BYTES
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return STACK_BYTES
    most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    resource.setrlimit(resource.RLIMIT_STACK, (most, hard))
    return most - STACK_MARGIN_BYTES


def _bytes(body: str | None, form: int) -> bytes:
    if body is None:  # a string for which there was no memory
        raise MemoryError
    if form == BASE64:
        return base64.b64decode(body)
    text: str = json.loads(body) if form == JSON_TEXT else body
    return text.encode()
