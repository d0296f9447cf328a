"""Functions of QuickJS that its Python binding does not offer: file names for code, unhandled rejections, the seed.

The binding is a shared library that exports QuickJS's own functions. Code that runs through these functions must not
call a Python function through the binding, which would restore a thread state that it has not saved. Callbacks of
`ctypes` are safe.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from time import monotonic
from typing import Any

import _quickjs  # type: ignore[import-not-found]

INTEGER = 0  # JS_TAG_INT
EXCEPTION = 6  # JS_TAG_EXCEPTION
COMPILE_ONLY = 1 << 5  # JS_EVAL_FLAG_COMPILE_ONLY
CONTEXT_WORDS = 80  # how many words of a JSContext are searched for the state of Math.random


class Value(ctypes.Structure):
    """A JSValue of a 64-bit machine."""

    _fields_ = (("payload", ctypes.c_uint64), ("tag", ctypes.c_int64))


class _Options(ctypes.Structure):
    _fields_ = (
        ("version", ctypes.c_int),
        ("flags", ctypes.c_int),
        ("filename", ctypes.c_char_p),
        ("line", ctypes.c_int),
    )


_Tracker = ctypes.CFUNCTYPE(None, ctypes.c_void_p, Value, Value, ctypes.c_bool, ctypes.c_void_p)
_Interrupt = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
_Loader = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
_OBJECT_HEAD_BYTES = object.__basicsize__
_UNDEFINED = Value(0, 3)
_library = ctypes.PyDLL(_quickjs.__file__)
clear_error: Callable[[], None] = ctypes.pythonapi.PyErr_Clear
"""Clears a Python exception that the binding left set. It is called as a C function, because no
Python code can run while an exception is set."""
clear_error.restype = None  # type: ignore[attr-defined]


def _function(name: str, result: type | None, *arguments: type) -> Callable[..., Any]:
    function: Callable[..., Any] = getattr(_library, name)
    function.restype, function.argtypes = result, arguments  # type: ignore[attr-defined]
    return function


_pointer = ctypes.c_void_p
_runtime_of = _function("JS_GetRuntime", _pointer, _pointer)
_track = _function("JS_SetHostPromiseRejectionTracker", None, _pointer, _Tracker, _pointer)
_set_interrupt = _function("JS_SetInterruptHandler", None, _pointer, _Interrupt, _pointer)
_set_module_loader = _function("JS_SetModuleLoaderFunc", None, _pointer, _pointer, _Loader, _pointer)
_throw_type_error = _function("JS_ThrowTypeError", Value, _pointer, ctypes.c_char_p)
_evaluate = _function(
    "JS_EvalThis2", Value, _pointer, Value, ctypes.c_char_p, ctypes.c_size_t, ctypes.POINTER(_Options)
)
_evaluate_compiled = _function("JS_EvalFunction", Value, _pointer, Value)
_exception = _function("JS_GetException", Value, _pointer)
_call = _function("JS_Call", Value, _pointer, Value, Value, ctypes.c_int, ctypes.POINTER(Value))
_free = _function("JS_FreeValue", None, _pointer, Value)
_dup = _function("JS_DupValue", Value, _pointer, Value)
_update_stack_top = _function("JS_UpdateStackTop", None, _pointer)


class Native:
    """The QuickJS context inside a `_quickjs.Context`."""

    def __init__(self, context: _quickjs.Context) -> None:
        self.runtime, self._context = ctypes.cast(id(context) + _OBJECT_HEAD_BYTES, ctypes.POINTER(_pointer))[0:2]
        if self._context is None or _runtime_of(self._context) != self.runtime:
            raise RuntimeError("this version of quickjs-ng has a different memory layout; install the pinned version")
        self._rejected: dict[int, tuple[Value, Value]] = {}  # promise and reason, by the promise's address
        self._tracker = _Tracker(self._track_rejection)
        _track(self.runtime, self._tracker, None)
        self._random = self._random_state(context)
        self._loader = _Loader(_refuse_module)
        _set_module_loader(self.runtime, None, self._loader, None)

    def seed(self, number: int) -> None:
        """Seed Math.random. Otherwise all processes forked from one zygote get the same numbers."""
        self._random.value = number % 2**64 or 1

    def _random_state(self, context: _quickjs.Context) -> ctypes.c_uint64:
        """Find the state of Math.random: the only word of the context that changes as xorshift predicts."""
        words = (ctypes.c_uint64 * CONTEXT_WORDS).from_address(self._context)
        before = list(words)
        context.eval("Math.random()")
        matches = [at for at, word in enumerate(before) if word and words[at] == _xorshift(word)]
        if len(matches) != 1:
            raise RuntimeError(
                "this version of quickjs-ng keeps its random state elsewhere; install the pinned version"
            )
        return ctypes.c_uint64.from_buffer(words, matches[0] * ctypes.sizeof(ctypes.c_uint64))

    def compile(self, code: bytes, file_name: str, callback: _quickjs.Object) -> Value | None:
        """Compile a program without running any of it. If that fails, call `callback` with the SyntaxError.

        `callback` must not call Python.
        """
        options = _Options(1, COMPILE_ONLY, file_name.encode(), 1)
        _update_stack_top(self.runtime)
        program: Value = _evaluate(self._context, _UNDEFINED, code, len(code), ctypes.byref(options))
        if program.tag != EXCEPTION:
            return program
        self._call_with(callback, _exception(self._context))
        return None

    def evaluate(self, program: Value, callback: _quickjs.Object) -> bool:
        """Run a compiled program, once, and call `callback` with its value or what it threw. Returns False if it threw.

        Neither may call Python.
        """
        _update_stack_top(self.runtime)
        value = _evaluate_compiled(self._context, program)
        failed = value.tag == EXCEPTION
        self._call_with(callback, _exception(self._context) if failed else value)
        return not failed

    def tell_line(self, moments: list[float], get_line: _quickjs.Object, tell: Callable[[int], None]) -> None:
        """Call `tell` with the line that the script has reached at these times of the monotonic clock, if it runs then.

        QuickJS calls the handler every few thousand jumps and calls. Neither function may call JavaScript's callables.
        """

        def interrupt(_: int, __: int) -> int:
            if moments and monotonic() >= moments[0]:
                moments.pop(0)
                line = _call(self._context, _js_value(get_line), _UNDEFINED, 0, None)
                if line.tag == INTEGER:
                    tell(line.payload & 0xFFFF_FFFF)
                else:
                    _free(self._context, _exception(self._context) if line.tag == EXCEPTION else line)
            return 0

        self._interrupt = _Interrupt(interrupt)
        _set_interrupt(self.runtime, self._interrupt, None)

    def report_unhandled(self, callback: _quickjs.Object) -> bool:
        """Call `callback` with the reason of the first unhandled rejection. Returns whether there is one."""
        if not self._rejected:
            return False
        reason = next(iter(self._rejected.values()))[1]
        self._call_with(callback, _dup(self._context, reason))
        return True

    def forget_rejections(self) -> None:
        for promise, reason in self._rejected.values():
            _free(self._context, promise)
            _free(self._context, reason)
        self._rejected.clear()

    def _call_with(self, callback: _quickjs.Object, value: Value) -> None:
        """Call `callback` with `value`, then free `value`."""
        arguments = (Value * 1)(value)
        _update_stack_top(self.runtime)
        _free(self._context, _call(self._context, _js_value(callback), _UNDEFINED, 1, arguments))
        _free(self._context, value)

    def _track_rejection(self, context: int, promise: Value, reason: Value, is_handled: bool, _: int) -> None:
        if not is_handled:
            self._rejected[promise.payload] = (_dup(context, promise), _dup(context, reason))
        elif (rejection := self._rejected.pop(promise.payload, None)) is not None:
            _free(context, rejection[0])
            _free(context, rejection[1])


def _xorshift(word: int) -> int:
    word ^= word >> 12
    word ^= word << 25 & 0xFFFF_FFFF_FFFF_FFFF
    return word ^ word >> 27


def _refuse_module(context: int, name: bytes, _: int) -> None:
    """The module loader: throws a TypeError in JavaScript."""
    message = f"import('{name.decode(errors='replace')[:200]}') is not possible: scripts have no modules here"
    _throw_type_error(context, message.replace("%", "%%").encode())


def _js_value(wrapped: _quickjs.Object) -> Value:
    value: Value = ctypes.cast(id(wrapped) + _OBJECT_HEAD_BYTES + ctypes.sizeof(_pointer), ctypes.POINTER(Value))[0]
    return value
