"""What a script finds beside ECMAScript: the same on both engines where its globals are closed, and more on Node."""

from __future__ import annotations

from typing import Any

import pytest

from tests.javascript.conftest import Both

FOUND = """
AggregateError Array ArrayBuffer AsyncDisposableStack BigInt BigInt64Array BigUint64Array Boolean DataView Date
DisposableStack Error EvalError FinalizationRegistry Float16Array Float32Array Float64Array Function Infinity Int16Array
Int32Array Int8Array Iterator JSON Map Math NaN Number Object Promise Proxy RangeError ReferenceError Reflect RegExp Set
String SuppressedError Symbol SyntaxError ToolError TypeError URIError Uint16Array Uint32Array Uint8Array
Uint8ClampedArray WeakMap WeakRef WeakSet atob btoa callTool clearInterval clearTimeout codeExec console decodeURI
decodeURIComponent double encodeURI encodeURIComponent escape files globalThis given hang isFinite isNaN listing
parseFloat parseInt queueMicrotask readFile refuse reportProgress setInterval setTimeout undefined unescape
"""
MORE = {
    "quickjs": {"InternalError"},
    "node": {"Intl", "TextDecoder", "TextEncoder", "URL", "URLSearchParams", "structuredClone"},
}
ABSENT = (
    "require", "module", "exports", "process", "Buffer", "fs", "fetch", "eval", "WebAssembly", "SharedArrayBuffer",
    "global", "setImmediate", "performance", "crypto", "emit", "parts",
)  # fmt: skip


async def test_closed_globals_are_these(both: Both) -> None:
    code = "Object.getOwnPropertyNames(globalThis)"
    for engine, result in (await both.run(code, globals="closed", inputs={"given": 1})).items():
        assert (engine, set(result.output)) == (engine, {*FOUND.split(), *MORE[engine]})


async def test_what_reaches_outside_is_absent_where_globals_are_closed(both: Both) -> None:
    code = f"[{', '.join(f'typeof {name}' for name in ABSENT)}]"
    for engine, result in (await both.run(code, globals="closed")).items():
        assert (engine, result.output) == (engine, ["undefined"] * len(ABSENT))


async def test_nothing_is_imported_where_globals_are_closed(both: Both) -> None:
    code = "[await import('fs').catch((error) => error.name), await import('node:fs').catch((error) => error.name)]"
    for engine, result in (await both.run(code, globals="closed")).items():
        assert (engine, result.output) == (engine, ["TypeError", "TypeError"])
    for result in (await both.run("import fs from 'fs'\n1", globals="closed")).values():
        assert (result.verdict, result.error and result.error.type) == ("rejected", "SyntaxError")


async def test_node_makes_no_code_of_text_where_globals_are_closed(both: Both) -> None:
    code = "try { return new Function('return 1')() } catch (error) { return error.name }"
    assert (await both.run(code, globals="closed"))["node"].output == "EvalError"


OF_NODE_ITSELF = (
    "URL",
    "new TextDecoder().decode",
    "Object.getPrototypeOf(TextEncoder)",
    "structuredClone",
    "new URLSearchParams('a=1').entries().next().value.constructor",
    "(() => { try { new URL('x') } catch (error) { return error.constructor } })()",
    "(() => { try { structuredClone(() => 1) } catch (error) { return error.constructor } })()",
    "(() => { try { readFile('/missing') } catch (error) { return error.constructor } })()",
)


async def test_what_node_gives_a_script_makes_no_code_of_text_where_globals_are_closed(both: Both) -> None:
    code = "(() => { try { return typeof (GIVEN).constructor('return process')() } catch (e) { return e.name } })()"
    tries = [code.replace("GIVEN", given) for given in OF_NODE_ITSELF]
    result = (await both.run(f"[{', '.join(tries)}]", globals="closed"))["node"]
    assert result.output == ["EvalError"] * len(OF_NODE_ITSELF)


CLOSED: dict[str, Any] = {
    "(1234.5).toLocaleString('en-US', { style: 'currency', currency: 'USD' })": "$1,234.50",
    "new Intl.NumberFormat('de-DE').format(1234.5)": "1.234,5",
    "['z', 'ä', 'a'].sort((a, b) => a.localeCompare(b))": ["a", "ä", "z"],
    "new URL('../c?q=1', 'https://example.com/a/b/').href": "https://example.com/a/c?q=1",
    "[...new URLSearchParams('a=1&b=%20')]": [["a", "1"], ["b", " "]],
    "const bytes = new TextEncoder().encode('é'); [bytes instanceof Uint8Array, [...bytes]]": [True, [195, 169]],
    "new TextDecoder().decode(new Uint8Array([195, 169]))": "é",
    "const map = structuredClone(new Map([['a', [1]]])); [map instanceof Map, map.get('a') instanceof Array, map]": [
        *(True, True, {"a": [1]}),
    ],
    "({ u: new URL('https://a/b') })": {"u": "https://a/b"},
}


@pytest.mark.parametrize("code", CLOSED)
async def test_auto_sends_closed_scripts_that_need_more_to_node(both: Both, code: str) -> None:
    result = await both.paddock.run(code, language="javascript", globals="closed")
    assert (result.error, result.output, result.engine) == (None, CLOSED[code], "node")


ALIKE: dict[str, Any] = {
    "await double({ n: 3 })": {"result": 6},
    "[await double({ n: given[0] }), files, typeof readFile]": [{"result": 4}, [], "function"],
    "try { await refuse() } catch (error) { return [error instanceof ToolError, error instanceof Error] }": [
        True,
        True,
    ],
    "const made = await codeExec.createArtifact('b', new Uint8Array([1, 255])); made.success": True,
    """
    const made = await codeExec.createArtifact('b', new Uint8Array([1, 255]))
    const { content } = await codeExec.readArtifact(made.id)
    return [content instanceof Uint8Array, [...content]]
    """: [True, [1, 255]],
    """
    const order = []
    setTimeout(() => order.push('late'), 100)
    setTimeout(() => order.push('early'), 1)
    queueMicrotask(() => order.push('job'))
    order.push('now')
    await new Promise((done) => setTimeout(done, 150))
    return order
    """: ["now", "job", "early", "late"],
    """
    let n = 0
    await new Promise((done) => {
      const id = setInterval(() => { if (++n === 3) { clearInterval(id); done() } }, 1)
    })
    return n
    """: 3,
    """
    let n = 0
    const id = setTimeout(() => n++, 1)
    clearTimeout(id)
    await new Promise((done) => setTimeout(done, 5))
    return n
    """: 0,
    "await new Promise((done) => setTimeout((...given) => done(given), 1, 'x', 'y'))": ["x", "y"],
    r"['YQ', 'YQ==', ' Y Q = = ', 'YWI=', 'YWJj\n'].map(atob)": ["a", "a", "a", "ab", "abc"],
    "[btoa('ÿ'), btoa(''), btoa(12)]": ["/w==", "", "MTI="],
    "try { atob('*') } catch (error) { return error.name }": "InvalidCharacterError",
}


@pytest.mark.parametrize("globals_", ["all", "closed"])
@pytest.mark.parametrize("code", ALIKE)
async def test_what_paddock_adds_does_the_same_everywhere(both: Both, code: str, globals_: str) -> None:
    for engine, result in (await both.run(code, globals=globals_, inputs={"given": [2]})).items():
        assert (engine, result.error, result.output) == (engine, None, ALIKE[code])


LINES = {
    "'text', 1, -0, 5n, null, undefined, true": "text 1 -0 5n null undefined true",
    "{ a: 1, 'b-c': ['x', \"it's\"] }": "{ a: 1, 'b-c': [ 'x', \"it's\" ] }",
    "[], {}, [[]], [undefined]": "[] {} [ [] ] [ undefined ]",
    "new Map([['a', { b: 1 }]]), new Set([1, 'x'])": "Map(1) { 'a' => { b: 1 } } Set(2) { 1, 'x' }",
    "function named() {}, () => {}, class A {}": "[Function: named] [Function (anonymous)] [class A]",
    "new (class Point { x = 1 })()": "Point { x: 1 }",
    "new Uint8Array([1, 2]), new Date(0)": "Uint8Array(2) [ 1, 2 ] 1970-01-01T00:00:00.000Z",
    "/a/g, Symbol('s')": "/a/g Symbol(s)",
    "(() => { const o = { n: 1 }; o.self = o; return o })()": "{ n: 1, self: [Circular] }",
    "{ get a() { return 1 } }": "{ a: [Getter] }",
    "[[[[[[[1]]]]]]]": "[ [ [ [ [ [ [Array] ] ] ] ] ] ]",
    "'%s is %d%%', 'a', 5, 'rest'": "a is 5% rest",
    "'%s %j %i', 'a', { b: 1 }, 4.5, 5n": 'a {"b":1} 4 5n',
    "'%x %s', 'y'": "%x y",
    "'100%', 5": "100% 5",
    "": "",
}


@pytest.mark.parametrize("values", LINES)
async def test_the_console_prints_values_on_one_line(both: Both, values: str) -> None:
    for engine, result in (await both.run(f"console.log({values})", globals="closed")).items():
        assert (engine, result.error, result.logs) == (engine, None, ({"level": "log", "text": LINES[values]},))


async def test_a_long_list_is_cut_and_an_error_is_shown_with_its_stack_and_cause(both: Both) -> None:
    code = "console.log(Array(102).fill(0))\nconsole.error(new TypeError('odd', { cause: 'why' }))"
    for engine, result in (await both.run(code, globals="closed")).items():
        numbers, error = (log["text"] for log in result.logs)
        assert (engine, numbers.endswith("0, 0, ... 2 more ]")) == (engine, True)
        assert error.startswith("TypeError: odd\n    at main.js:2:")
        assert error.endswith(" { [cause]: 'why' }")


async def test_a_value_with_very_many_paths_is_printed_all_the_same(both: Both) -> None:
    code = "let x = {}\nfor (let i = 0; i < 60; i++) x = { a: x, b: x, c: [x, x] }\nconsole.log(x)"
    for engine, result in (await both.run(code, globals="closed")).items():
        assert (engine, result.error, len(result.logs)) == (engine, None, 1)


async def test_an_error_has_the_line_and_the_frames_of_the_script_alone(both: Both) -> None:
    code = "function inner() {\n  null.x\n}\nconst outer = () => [1].map(inner)\nouter()"
    for engine, result in (await both.run(code, globals="closed")).items():
        error = result.error
        assert error is not None
        assert (engine, error.type, error.line) == (engine, "TypeError", 2)
        frames = [line.partition(":")[0].strip() for line in error.traceback.splitlines()[1:]]
        own = ["at inner (main.js", "at outer (main.js", "at main.js"]
        assert [frame for frame in frames if "Array.map" not in frame] == own


async def test_a_tool_error_is_a_class_of_its_own(both: Both) -> None:
    code = """
    class Mine extends ToolError {}
    try {
      await refuse({})
    } catch (error) {
      const { name, message, envelope } = error
      return [error instanceof Mine, name, message, envelope.error_kind, Object.keys(error), new Mine('m').name]
    }
    """
    told = [False, "ToolError", "refuse: ValueError: no", "internal_error", ["envelope"], "ToolError"]
    for engine, result in (await both.run(code)).items():
        assert (engine, result.error, result.output) == (engine, None, told)


async def test_an_error_of_a_class_of_the_script_has_the_line_of_its_making(both: Both) -> None:
    code = "class Mine extends ToolError {\n  constructor(m) {\n    super(m)\n  }\n}\nthrow new Mine('m')"
    for engine, result in (await both.run(code)).items():
        error = result.error
        assert error is not None
        assert (engine, error.type, error.message, error.line) == (engine, "ToolError", "m", 6)


@pytest.mark.parametrize(
    "code",
    [
        "Promise.reject(new TypeError('lost'))\nawait new Promise((done) => setTimeout(done, 50))",
        "setTimeout(() => { throw new TypeError('lost') })\nawait new Promise(() => {})",
        "queueMicrotask(() => { throw new TypeError('lost') })\nawait new Promise((done) => setTimeout(done, 50))",
    ],
)
async def test_a_failure_that_nobody_handles_ends_a_closed_run(both: Both, code: str) -> None:
    for engine, result in (await both.run(code, globals="closed")).items():
        error = result.error
        assert error is not None
        assert (engine, error.type, error.message, error.line) == (engine, "TypeError", "lost", 1)


async def test_a_line_that_is_longer_than_a_run_may_print_ends_a_closed_run(both: Both) -> None:
    for engine, result in (await both.run("console.log('x'.repeat(4e7))", globals="closed")).items():
        assert (engine, result.verdict) == (engine, "output_limit")
