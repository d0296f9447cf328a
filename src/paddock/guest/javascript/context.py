"""A QuickJS context with the prelude in it: everything that a script finds, before the script."""

from __future__ import annotations

import base64
import json
import resource
from collections.abc import Callable
from pathlib import Path
from typing import Any

import _quickjs

from paddock.guest.javascript.native import Native

FILE_NAME = "main.js"
PLAIN, JSON_TEXT, BASE64 = range(3)
STACK_BYTES = 24 * 1024 * 1024
"""Where the process may have it: for ten thousand calls in each other, as in Node. Of 8 MB, for four thousand."""
STACK_MARGIN_BYTES = 1 * 1024 * 1024
"""What Python has on the stack already, and what C uses up between two checks of QuickJS."""
PARTS = (
    "primordials", "kinds", "errors", "values", "bridge", "layout", "bases", "inspect", "tokens", "wrap", "timers", "console",
    "exception", "encoding", "url_parser", "url", "clone", "random", "start",
)  # fmt: skip
_TEXTS = {name: (Path(__file__).parent / f"{name}.js").read_bytes() for name in PARTS}
"""Read when this module is imported: inside, our own files are not there."""
Emit = Callable[[int, int, str, bytes], str | None]
Ask = Callable[[str, bytes], str]


class Context:
    """One script's JavaScript. Each method may raise JSException where memory is short."""

    def __init__(self) -> None:
        self._emit: Emit = _nobody
        self._ask: Ask = _no_answer
        self._context = _quickjs.Context()
        self.fit_stack()
        self._native = Native(self._context)
        handles = self._load()
        names = ("begin", "input", "wrapped", "hold", "run", "rejected", "raised", "settle", "waits", "wait", "fire")
        for name in names:
            self._context.set("handles", handles)
            setattr(self, f"_{name}", self._context.eval(f"handles.{name}"))
        self._context.eval("delete globalThis.handles")
        self._own_bytes = int(self._context.memory()["malloc_size"])  # now: to count takes 0.1 ms

    def _load(self) -> Any:
        context = self._context
        context.add_callable("emit", self._emitted)
        context.add_callable("ask", self._asked)
        context.add_callable("peek", self._native.peek)
        context.eval("parts = {}; last = 0; held = (value) => { last = value }")
        held = context.get("held")
        for name in PARTS:
            if not self._native.evaluate(_TEXTS[name], f"paddock/{name}.js", held):
                raise RuntimeError(f"{name}.js: {context.eval('last + last.stack')}")
            context.eval(f"parts.{name} = last")
        names = "emit, ask, peek, parts, held, last"
        context.eval(f"take = [{names}]")
        for name in names.split(", "):
            context.eval(f"delete globalThis.{name}")
        return context.eval(
            "(() => { const [emit, ask, peek, parts] = take; delete globalThis.take;"
            " return parts.start(parts, emit, ask, peek) })()"
        )

    def attach(self, emit: Emit, ask: Ask) -> None:
        """Where what the script sends goes, and who answers what the prelude asks."""
        self._emit, self._ask = emit, ask

    def fit_stack(self) -> None:
        """Use the stack that the process may have by now; beyond it lies a segmentation fault."""
        self._context.set_max_stack_size(_stack_bytes())

    def limit(self, memory_bytes: int | None) -> None:
        if memory_bytes is not None:
            self._context.set_memory_limit(self._own_bytes + memory_bytes)

    def begin(self, tools: list[str], files: list[Any], seed: list[int]) -> None:
        self._begin(json.dumps({"tools": tools, "files": files, "seed": seed}))

    def input(self, name: str, text: str) -> None:
        self._input(name, text)

    def compile(self, code: str) -> bool:
        """Compile the script; a SyntaxError is emitted as its RESULT."""
        wrapped = self._wrapped(code)
        text = _bytes(wrapped[1:], int(wrapped[0]))
        if self._native.evaluate(text, FILE_NAME, self._hold):
            return True
        self._rejected()
        return False

    def run(self) -> None:
        """Begin the script; its end is emitted as a RESULT."""
        self._run()

    def run_job(self) -> bool:
        """Run the next thing that a promise has queued; whether there was one."""
        return bool(self._context.execute_pending_job())

    def check_rejections(self) -> None:
        """Emit, as the RESULT, the first rejection that nobody has handled by now."""
        if self._native.take_unhandled(self._hold):
            self._native.forget_rejections()
            self._raised()

    def settle(self, number: int, header: str, body: bytes, *, is_text: bool) -> None:
        text = body.decode() if is_text else base64.b64encode(body).decode()
        self._settle(number, header, text, PLAIN if is_text else BASE64)

    def waits(self) -> bool:
        """Whether an answer is still to come."""
        return bool(self._waits())

    def wait_milliseconds(self) -> float:
        """Until the next timer; negative where there is none."""
        return float(self._wait())

    def fire(self) -> None:
        """Run the timer that is due."""
        self._fire()

    # What Python raises in here would stay with the thread and surface somewhere else: it is returned, as words.
    def _emitted(self, kind: int, number: int, header: str, body: str, form: int) -> str | None:
        try:
            return self._emit(kind, number, header, _bytes(body, form))
        except MemoryError:
            return "out of memory"

    def _asked(self, what: str, body: str, form: int) -> str:
        try:
            return self._ask(what, _bytes(body, form))
        except MemoryError:
            return '!{"name":"InternalError","message":"out of memory"}'


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
    if body is None:
        raise MemoryError
    if form == BASE64:
        return base64.b64decode(body)
    return (json.loads(body) if form == JSON_TEXT else body).encode()  # type: ignore[no-any-return]


def _nobody(kind: int, number: int, header: str, body: bytes) -> str | None:
    return None


def _no_answer(what: str, body: bytes) -> str:
    return "="
