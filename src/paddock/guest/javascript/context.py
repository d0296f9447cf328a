"""A QuickJS context with the prelude in it: everything that a script finds, before the script."""

from __future__ import annotations

import base64
import json
import resource
from collections.abc import Callable
from pathlib import Path
from typing import Any

import _quickjs  # type: ignore[import-not-found]

from paddock.guest.javascript import files
from paddock.guest.javascript.native import Native, clear_error

FILE_NAME = "main.js"
PLAIN, JSON_TEXT, BASE64 = range(3)  # how a body crosses
STACK_BYTES = 24 * 1024 * 1024
"""Enough for about ten thousand nested calls. The usual 8 MB are enough for four thousand."""
STACK_MARGIN_BYTES = 1024 * 1024
"""What Python has on the stack already, and what C uses up between two checks of QuickJS."""
OUT_OF_MEMORY = "out of memory"
Emit = Callable[[int, int, str, bytes], str | None]
PARTS = (
    *("primordials", "kinds", "values", "bridge", "timers", "console", "globals", "failures", "errors", "scan"),
    "wrap",
    "start",
)
# Read at import: when a zygote makes a context, it is in a root that does not have these files.
_TEXTS = {name: (Path(__file__).parent / f"{name}.js").read_bytes() for name in PARTS}
_HANDLES = ("begin", "input", "wrapped", "hold", "run", "rejected", "raised", "settle", "wait", "fire")
"""The functions of start.js that Python calls."""


class Context:
    """One script's JavaScript. Each method may raise JSException where memory is short."""

    def __init__(self) -> None:
        self._emit: Emit = lambda *_: None
        self._context = _quickjs.Context()
        self.fit_stack()
        self._native = Native(self._context)
        self._do = self._load_prelude()
        self._own_bytes = int(self._context.memory()["malloc_size"])  # now: counting takes 0.1 ms

    def attach(self, emit: Emit) -> None:
        """Say where the frames of the script go; what `emit` returns is a problem that the script is told of."""
        self._emit = emit

    def fit_stack(self) -> None:
        """Use the stack that the process may have by now; beyond it lies a segmentation fault."""
        self._context.set_max_stack_size(_stack_bytes())

    def limit(self, memory_bytes: int | None) -> None:
        """Let the script have so much memory, beyond what the prelude has."""
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
        if self._native.evaluate(_bytes(wrapped[1:], int(wrapped[0])), FILE_NAME, self._do["hold"]):
            return True
        self._do["rejected"]()
        return False

    def run(self) -> None:
        """Begin the script; its end is emitted as a RESULT."""
        self._do["run"]()

    def run_job(self) -> bool:
        """Run the next promise job; whether there was one."""
        return bool(self._context.execute_pending_job())

    def check_rejections(self) -> None:
        """Emit, as the RESULT, the first rejection that nobody has handled by now."""
        if self._native.take_unhandled(self._do["hold"]):
            self._native.forget_rejections()
            self._do["raised"]()

    def settle(self, number: int, header: str, body: bytes, *, is_text: bool) -> None:
        """Hand the answer to a request to the promise that waits for it."""
        text = body.decode() if is_text else base64.b64encode(body).decode()
        self._do["settle"](number, header, text, PLAIN if is_text else BASE64)

    def wait_milliseconds(self) -> float:
        """Until the next timer; negative where there is none."""
        return float(self._do["wait"]())

    def fire(self) -> None:
        """Run the first timer."""
        self._do["fire"]()

    def _load_prelude(self) -> dict[str, Any]:
        """Evaluate every part under a file name of its own and give start.js all of them, and Python's functions.

        None of the names that this takes is left for a script to find.
        """
        context = self._context
        take = context.eval("globalThis.parts = {}; globalThis.take = (value) => { globalThis.part = value }")
        for name, text in _TEXTS.items():
            if not self._native.evaluate(text, f"paddock/{name}.js", take):
                raise RuntimeError(f"{name}.js: {context.eval('part + part.stack')}")
            context.eval(f"parts.{name} = part")
        functions = {"emit": self._emitted, "readFile": self._read_file, "clear": clear_error}
        for name, function in functions.items():
            context.add_callable(name, function)
        mine = ["parts", "part", "take", *functions]
        made = context.eval(
            f"""(() => {{
              const {{ {", ".join(mine)} }} = globalThis;
              for (const name of {mine}) delete globalThis[name];
              return parts.start(parts, {", ".join(functions)});
            }})()"""
        )
        get = context.eval("(handles, name) => handles[name]")
        return {name: get(made, name) for name in _HANDLES}

    # What Python raises in here would stay with the thread and surface somewhere else: it is returned, as words.
    def _emitted(self, kind: int, number: int, header: str, body: str, form: int) -> str | None:
        try:
            return self._emit(kind, number, header, _bytes(body, form))
        except MemoryError:
            return OUT_OF_MEMORY

    def _read_file(self, path: str, form: int, encoding: str | None) -> str:
        try:
            return files.read(_bytes(path, form).decode(), encoding)
        except MemoryError:
            return OUT_OF_MEMORY


def _stack_bytes() -> int:
    """Raise the limit of the process's stack as far as it goes; how much of it QuickJS may use."""
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
