"""What a script in JavaScript finds, what it does not, and what it cannot spoil."""

from __future__ import annotations

from typing import Any

import pytest

from tests.guest.harness import tools
from tests.guest.javascript_harness import Run, logs

ECMASCRIPT = """
AggregateError Array ArrayBuffer AsyncDisposableStack BigInt BigInt64Array BigUint64Array Boolean DataView Date
DisposableStack Error EvalError FinalizationRegistry Float16Array Float32Array Float64Array Function Infinity Int16Array
Int32Array Int8Array InternalError Iterator JSON Map Math NaN Number Object Promise Proxy RangeError ReferenceError
Reflect RegExp Set String SuppressedError Symbol SyntaxError TypeError URIError Uint16Array Uint32Array Uint8Array
Uint8ClampedArray WeakMap WeakRef WeakSet decodeURI decodeURIComponent encodeURI encodeURIComponent escape globalThis
isFinite isNaN parseFloat parseInt undefined unescape
"""
OURS = """
ToolError atob btoa callTool clearInterval clearTimeout codeExec console files queueMicrotask readFile reportProgress
setInterval setTimeout
"""


def test_the_globals_are_these(run_javascript: Run) -> None:
    ran = run_javascript("Object.getOwnPropertyNames(globalThis)", start={"tools": ["tool"]}, inputs={"given": 1})
    assert sorted(ran.value) == sorted([*ECMASCRIPT.split(), *OURS.split(), "tool", "given"])


@pytest.mark.parametrize(
    "name",
    ["eval", "require", "process", "fetch", "Buffer", "URL", "performance", "emit", "clear", "parts", "std", "os"],
)
def test_what_is_not_there(run_javascript: Run, name: str) -> None:
    assert run_javascript(f"typeof {name}").value == "undefined"


def test_import_says_why_not(run_javascript: Run) -> None:
    ran = run_javascript("await import('fs')")
    assert ran.raised == ("TypeError", "import('fs') is not possible: scripts have no modules here")


def test_files_is_an_empty_list_where_there_are_none(run_javascript: Run) -> None:
    assert run_javascript("files").value == []


OVERWRITES = [
    "Array.prototype.toJSON = Object.prototype.toJSON = String.prototype.toJSON = () => 'spoilt'",
    "Number.prototype.toJSON = Boolean.prototype.toJSON = () => 'spoilt'",
    "JSON.stringify = JSON.parse = () => 'spoilt'",
    "Promise.prototype.then = Promise.prototype.catch = Promise.prototype.finally = function () { return this }",
    "Promise.resolve = Promise.all = Promise.reject = () => 'spoilt'",
    "Promise.prototype.constructor = class { constructor() { throw 'spoilt' } }",
    "Object.defineProperty(Promise, Symbol.species, {get() { throw 'spoilt' }})",
    "globalThis.Promise = class {}; globalThis.Map = globalThis.Set = globalThis.Error = 5",
    "Map.prototype.get = Map.prototype.set = Map.prototype.has = Map.prototype.forEach = () => 'spoilt'",
    "Set.prototype.add = Set.prototype.has = Set.prototype.delete = () => { throw 'spoilt' }",
    "Array.prototype.push = Array.prototype.join = Array.prototype.map = () => { throw 'spoilt' }",
    "Array.prototype[Symbol.iterator] = () => { throw 'spoilt' }",
    "Object.keys = Object.getPrototypeOf = Object.defineProperty = () => { throw 'spoilt' }",
    "Reflect.apply = Reflect.ownKeys = () => { throw 'spoilt' }",
    "Function.prototype.call = Function.prototype.apply = Function.prototype.bind = () => { throw 'spoilt' }",
    "String.prototype.slice = String.prototype.includes = String.prototype.toWellFormed = () => { throw 'spoilt' }",
    "String.prototype.indexOf = String.prototype.startsWith = String.prototype.repeat = () => { throw 'spoilt' }",
    "RegExp.prototype.exec = RegExp.prototype.test = () => { throw 'spoilt' }",
    "RegExp.prototype[Symbol.replace] = RegExp.prototype[Symbol.split] = () => { throw 'spoilt' }",
    "Object.defineProperty(Array.prototype, '0', {set() { throw 'spoilt' }, get() { return 'spoilt' }})",
    "Object.defineProperty(Object.prototype, 'value', {get() { return 'spoilt' }, set() {}})",
    "Object.prototype.get = Object.prototype.set = () => 'spoilt'; Object.prototype.enumerable = true",
    "Object.prototype.then = undefined; Object.prototype.constructor = null",
    "Uint8Array.prototype.toBase64 = Uint8Array.fromBase64 = () => { throw 'spoilt' }",
    "Math.max = Math.min = Number.isFinite = Number.isSafeInteger = () => { throw 'spoilt' }",
    "Error.prepareStackTrace = () => { throw 'spoilt' }; Error.captureStackTrace = 5",
    "Error.stackTraceLimit = 0",
    "Symbol.prototype.toString = BigInt.prototype.toString = Date.prototype.toISOString = () => { throw 'spoilt' }",
    "for (const key of Object.getOwnPropertyNames(globalThis)) try { delete globalThis[key] } catch {}",
]
AFTER = """
;console_.log([1, 'x', {a: one}], new error('shown').message)
;const got = await call('a', 'b', {list: [1, 'x'], when: 5});
return {got, map: two, list: [1, 'two', null], text: 'é'}
"""
BEFORE = """
const console_ = console, call = callTool, error = Error, one = new Map([[1, 2]]), two = new Map([['k', [1, 2]]]);
"""


@pytest.mark.parametrize("overwrite", OVERWRITES)
def test_what_a_script_overwrites_spoils_nothing_of_ours(run_javascript: Run, overwrite: str) -> None:
    echo = tools(**{"a.b": lambda given: {"given": given}})
    ran = run_javascript(BEFORE + overwrite + AFTER, answer=echo)
    expected: dict[str, Any] = {
        "got": {"given": {"list": [1, "x"], "when": 5}},
        "map": {"k": [1, 2]},
        "list": [1, "two", None],
        "text": "é",
    }
    assert ran.value == expected
    assert ran.calls == [("a.b", {"list": [1, "x"], "when": 5})]
    assert logs(ran) == [("log", "[ 1, 'x', { a: Map(1) { 1 => 2 } } ] shown")]


@pytest.mark.parametrize("overwrite", OVERWRITES)
def test_what_a_script_overwrites_does_not_hide_its_failure(run_javascript: Run, overwrite: str) -> None:
    ran = run_javascript(f"const T = TypeError\n{overwrite}\nthrow new T('mine')")
    assert ran.raised == ("TypeError", "mine")


def test_what_the_prelude_made_is_a_function_like_others(run_javascript: Run) -> None:
    code = "[callTool, setTimeout, console.log, atob].map(f => [f.name, typeof f.constructor, f.caller])"
    ran = run_javascript(code.replace(", f.caller", ""))
    assert ran.value == [[name, "function"] for name in ("callTool", "setTimeout", "log", "atob")]
