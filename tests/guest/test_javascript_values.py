"""How values of JavaScript cross: results, inputs, arguments and answers of tools."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.guest.harness import tools
from tests.guest.javascript_harness import Run

RESULTS: list[tuple[str, str]] = [
    ("undefined", "null"),
    ("null", "null"),
    ("[undefined, null]", "[null,null]"),
    ("({a: undefined, b: null})", '{"b":null}'),
    ("true", "true"),
    ("1", "1"),
    ("1.0", "1"),
    ("0.1 + 0.2", "0.30000000000000004"),
    ("1e21", "1e+21"),
    ("-0", "0"),
    ("2 ** 53", "9007199254740992"),
    ("[NaN, Infinity, -Infinity]", '["NaN","Infinity","-Infinity"]'),
    ("2n ** 70n", "1180591620717411303424"),
    ("[5n]", "[5]"),
    (r"'gr\u00f6\u00dfe'", '"größe"'),
    (r"'a\ud800'", '"a\ufffd"'),
    (r"({'\ud800': 1})", '{"\ufffd":1}'),
    (r"'\0\u2028\u{1f600}'", '"\\u0000\u2028\U0001f600"'),
    ("[1, , 3]", "[1,null,3]"),
    ("({b: 1, a: 2, 3: 4})", '{"3":4,"b":1,"a":2}'),
    ("({__proto__: null, x: 1})", '{"x":1}'),
    ("({['__proto__']: 1})", '{"__proto__":1}'),
    ("new Date(0)", '"1970-01-01T00:00:00.000Z"'),
    ("new Date(NaN)", '"Invalid Date"'),
    ("new Map([['a', 1], ['b', undefined], ['__proto__', 2]])", '{"a":1,"__proto__":2}'),
    ("new Map([[1, 'x'], ['y', {z: 1}]])", '[[1,"x"],["y",{"z":1}]]'),
    ("new Map()", "{}"),
    ("new Set([1, 'x', undefined])", '[1,"x",null]'),
    ("new Uint8Array([1, 255])", '{"type":"bytes","base64":"Af8="}'),
    ("new Float64Array([0.5, NaN])", '[0.5,"NaN"]'),
    ("new BigInt64Array([1n])", "[1]"),
    ("new Uint8Array([7, 8]).buffer", '{"type":"bytes","base64":"Bwg="}'),
    ("new DataView(new Uint8Array([7, 8, 9]).buffer, 1)", '{"type":"bytes","base64":"CAk="}'),
    ("new (class Point { x = 1; #y = 2; get z() { return 3 } })", '{"x":1}'),
    ("({get a() { return 5 }})", '{"a":5}'),
    ("({toJSON() { return [1] }})", "[1]"),
    ("new (class A { toJSON(key) { return {key} } })", '{"key":""}'),
    ("({k: new (class A { toJSON(key) { return {key} } })})", '{"k":{"key":"k"}}'),
    ("new Error('bad')", '{"name":"Error","message":"bad"}'),
    ("Object.assign(new TypeError('bad'), {code: 5})", '{"name":"TypeError","message":"bad","code":5}'),
    ("/a+/g", '"/a+/g"'),
    ("[new Number(5), new String('x'), new Boolean(false), Object(6n)]", '[5,"x",false,6]'),
    ("Symbol('x')", '"Symbol(x)"'),
    ("function f() {}; f", '"[Function: f]"'),
    (
        "({f() {}, g: () => 1, A: class A {}, h: class {}})",
        '{"f":"[Function: f]","g":"[Function: g]","A":"[class A]","h":"[class h]"}',
    ),
    ("[1, 2].values()", "[1,2]"),
    ("new Map([['a', 1]]).entries()", '[["a",1]]'),
    ("(function* () { yield 1; yield* [2, 3] })()", "[1,2,3]"),
    ("new WeakMap()", '"[WeakMap]"'),
    ("Promise.resolve({a: 1})", '{"a":1}'),
    ("(async () => [await 1])()", "[1]"),
    ("({[Symbol('s')]: 1, a: 2})", '{"a":2}'),
    ("Object.create({inherited: 1}, {own: {value: 2, enumerable: true}, hidden: {value: 3}})", '{"own":2}'),
    ("Object.assign(Object.create(Iterator.prototype), {own: 1})", '{"own":1}'),  # it has no next()
    ("const shared = {a: 1}; [shared, shared]", '[{"a":1},{"a":1}]'),
]


@pytest.mark.parametrize(("code", "expected"), RESULTS)
def test_a_result_crosses(run_javascript: Run, code: str, expected: str) -> None:
    ran = run_javascript(code)
    assert ran.status == "ok", ran.header
    assert ran.body.decode() == expected


@pytest.mark.parametrize(
    ("code", "error", "message"),
    [
        ("const a = {}; a.b = [a]; a", "TypeError", "result.b[0] contains itself"),
        ("({a: [1, Promise.resolve(2)]})", "TypeError", "result.a[1] is a promise that was never awaited"),
        ("[1].map(async x => x)", "TypeError", "result[0] is a promise that was never awaited"),
        ("({'a b': (async function* () {})()})", "TypeError", 'result["a b"] is an async iterator'),
        ("({get a() { throw new RangeError('mine') }})", "RangeError", "mine"),
        ("({toJSON() { throw new SyntaxError('mine') }})", "SyntaxError", "mine"),
        ("10n ** 5000n", "RangeError", "the result is an integer of 5001 digits; the limit is 4,300"),
        ("let a = []; for (let i = 0; i < 1e5; i++) a = [a]; a", "RangeError", "the result is nested too deeply"),
    ],
)
def test_a_result_that_cannot_cross_is_an_error(run_javascript: Run, code: str, error: str, message: str) -> None:
    raised = run_javascript(code).raised
    assert raised[0] == error
    assert raised[1].startswith(message)


@pytest.mark.parametrize(
    "value",
    [None, True, 1, -1.5, "é\U0001f600\0", [], {}, [[{"a": [None]}]], {"__proto__": 1, "x": {"y": "z"}}, 2**53 - 1],
)
def test_an_input_is_a_variable_and_comes_back_as_it_was(run_javascript: Run, value: Any) -> None:
    assert run_javascript("given", inputs={"given": value}).value == value


def test_an_integer_that_a_number_cannot_hold_is_a_bigint(run_javascript: Run) -> None:
    given = {"id": 2**63 + 1, "exact": 2**53 - 1, "float": 1e300, "text": "12345678901234567890"}
    ran = run_javascript("[Object.values(given).map(x => typeof x), given]", inputs={"given": given})
    assert ran.value == [["bigint", "number", "number", "string"], given]


def test_an_input_may_be_declared_anew(run_javascript: Run) -> None:
    assert run_javascript("const rows = globalThis.rows.length; rows", inputs={"rows": [1, 2]}).value == 2


def test_arguments_and_answers_keep_their_digits(run_javascript: Run) -> None:
    echo = tools(**{"a.echo": lambda given: given})
    ran = run_javascript(
        "await callTool('a', 'echo', {id: 2n ** 64n, when: new Date(0), none: undefined})", answer=echo
    )
    assert ran.value == {"id": 2**64, "when": "1970-01-01T00:00:00.000Z"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("{a: NaN}", "arguments.a is NaN, which JSON cannot represent"),
        ("{a: [() => 1]}", "arguments.a[0] is a function, which JSON cannot represent"),
        ("{a: Symbol('x')}", "arguments.a is a symbol, which JSON cannot represent"),
        ("{a: callTool('b', 'c')}", "arguments.a is a promise that was never awaited"),
        ("[1]", "a.b takes one object of arguments"),
        ("5", "a.b takes one object of arguments"),
        ("{toJSON: () => 5}", "a.b takes one object of arguments"),
    ],
)
def test_arguments_that_are_not_json_are_an_error(run_javascript: Run, arguments: str, message: str) -> None:
    raised = run_javascript(f"await callTool('a', 'b', {arguments})").raised
    assert raised[0] == "TypeError"
    assert raised[1].startswith(message)


def test_the_text_of_a_result_is_json(run_javascript: Run) -> None:
    ran = run_javascript(r"({a: '\u0000\u001f\u007f\u2028\"\\', 'k\n': [1e-7, 123456789012345680000]})")
    assert json.loads(ran.body) == {"a": '\u0000\u001f\u007f\u2028"\\', "k\n": [1e-7, 123456789012345680000]}
