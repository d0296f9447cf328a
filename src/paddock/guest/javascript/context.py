"""A QuickJS context with the prelude: the globals that a script has before it runs."""

from __future__ import annotations

import base64
import json
import resource
from collections.abc import Callable
from pathlib import Path
from typing import Any

import _quickjs  # type: ignore[import-not-found]

from paddock.guest.javascript import files
from paddock.guest.javascript.native import Native, Value, clear_error

FILE_NAME = "main.js"
PLAIN, JSON_TEXT, BASE64 = range(3)  # how text is passed between JavaScript and Python
STACK_BYTES = 10 * 1024 * 1024
"""For some 6,000 calls in each other. With more, JSON could be nested so deeply that writing it takes QuickJS 10 s."""
STACK_MARGIN_BYTES = 1024 * 1024
"""The stack that Python uses already, plus the stack that C code uses between two checks of QuickJS."""
OUT_OF_MEMORY = "out of memory"
Emit = Callable[[int, int, str, bytes], str | None]
PARTS = (
    *("primordials", "kinds", "values", "bridge", "timers", "console", "globals"),
    *("failures", "variables", "facts", "errors", "tables", "wrap", "start"),
)
# Read at import, because these files do not exist in the root in which a zygote creates a context.
_TEXTS = {name: (Path(__file__).parent / f"{name}.js").read_bytes() for name in PARTS}


class Context:
    """The JavaScript context of one script. Every method may raise JSException when memory is short."""

    def __init__(self) -> None:
        self._emit: Emit = lambda *_: None
        self._context = _quickjs.Context()
        self.fit_stack()
        self._native = Native(self._context)
        self._functions = self._load_prelude()
        self._program: Value | None = None  # the compiled script
        self._prelude_bytes = int(self._context.memory()["malloc_size"])  # counted once, because it takes 0.1 ms

    def attach(self, emit: Emit) -> None:
        """Set the function that sends frames. If `emit` returns a text, the script gets it as an error."""
        self._emit = emit

    def fit_stack(self) -> None:
        """Set QuickJS's stack limit to what this process may use. A higher limit could cause a segmentation fault."""
        self._context.set_max_stack_size(_stack_bytes())

    def limit(self, memory_bytes: int | None) -> None:
        """Limit the script's memory, not counting what the prelude uses."""
        if memory_bytes is not None:
            self._context.set_memory_limit(self._prelude_bytes + memory_bytes)

    def seed(self, number: int) -> None:
        """Seed Math.random."""
        self._native.seed(number)

    def call(self, name: str, *arguments: Any) -> Any:
        """Call a function that start.js returns."""
        return self._functions[name](*arguments)

    def compile(self, code: str) -> bool:
        """Compile the script. Returns whether that worked; a SyntaxError is emitted as the RESULT."""
        wrapped = self.call("wrapped", code)
        text = _bytes(wrapped[1:], int(wrapped[0]))
        self._program = self._native.compile(text, FILE_NAME, self._functions["hold"])
        if self._program is not None and self.call("isEnclosed"):
            return True
        self.call("rejected")
        return False

    def run(self) -> None:
        """Run the script that was compiled, until it waits for something."""
        # The program is a function around the script. If the script closed it after all, this already runs the script.
        program, self._program = self._program, None
        is_function = program is not None and self._native.evaluate(program, self._functions["hold"])
        self.call("run" if is_function else "raised")

    def tell_line(self, moments: list[float], tell: Callable[[int], None]) -> None:
        """Call `tell` with the line that the script has reached at these times of the monotonic clock."""
        self._native.tell_line(moments, self._functions["line"], tell)

    def run_job(self) -> bool:
        """Run the next promise job. Returns whether there was one."""
        return bool(self._context.execute_pending_job())

    def check_rejections(self) -> None:
        """If a promise rejection is still unhandled, emit the first one as the RESULT."""
        if self._native.report_unhandled(self._functions["hold"]):
            self._native.forget_rejections()
            self.call("raised")

    def settle(self, number: int, header: str, body: bytes, *, is_text: bool) -> None:
        """Settle the promise that waits for the answer to request `number`."""
        text = body.decode() if is_text else base64.b64encode(body).decode()
        self.call("settle", number, header, text, PLAIN if is_text else BASE64)

    def _load_prelude(self) -> dict[str, Any]:
        """Evaluate every part under its own file name, and pass all parts and Python's functions to start.js.

        The global names that this uses are deleted before a script can see them.
        """
        context = self._context
        take = context.eval("globalThis.parts = {}; globalThis.take = (value) => { globalThis.part = value }")
        for name, text in _TEXTS.items():
            program = self._native.compile(text, f"paddock/{name}.js", take)
            if program is None or not self._native.evaluate(program, take):
                raise RuntimeError(f"{name}.js: {context.eval('part + part.stack')}")
            context.eval(f"parts.{name} = part")
        functions = {"emit": self._emit_frame, "readFile": self._read_file, "clear": clear_error}
        for name, function in functions.items():
            context.add_callable(name, function)
        temporary = ["parts", "part", "take", *functions]
        handles = context.eval(
            f"""(() => {{
              const {{ {", ".join(temporary)} }} = globalThis;
              for (const name of {temporary}) delete globalThis[name];
              return parts.start(parts, {", ".join(functions)});
            }})()"""
        )
        names = context.eval("(handles) => Object.keys(handles).join()")(handles).split(",")
        get = context.eval("(handles, name) => handles[name]")
        return {name: get(handles, name) for name in names}

    # JavaScript calls the next two methods. An exception in them would stay pending in the thread and surface
    # elsewhere, so the problem is returned as text.
    def _emit_frame(self, kind: int, number: int, header: str, body: str, form: int) -> str | None:
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
    """Raise the stack limit of the process as far as possible. Returns how much of the stack QuickJS may use."""
    soft, hard = resource.getrlimit(resource.RLIMIT_STACK)
    wanted = STACK_BYTES + STACK_MARGIN_BYTES
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return STACK_BYTES
    limit = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    resource.setrlimit(resource.RLIMIT_STACK, (limit, hard))
    return limit - STACK_MARGIN_BYTES


def _bytes(body: str | None, form: int) -> bytes:
    """The bytes of a string that JavaScript passed in this form."""
    if body is None:  # QuickJS had no memory for the string
        raise MemoryError
    if form == BASE64:
        return base64.b64decode(body)
    text: str = json.loads(body) if form == JSON_TEXT else body
    return text.encode()
