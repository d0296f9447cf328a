"""A result that is larger than a run may give, on both engines: found out before all of it is written."""

from __future__ import annotations

import json

import pytest

from paddock.model.result import Verdict
from tests.javascript.conftest import Both

ENDLESS = {
    "shared": "let x = {}\nfor (let i = 0; i < 60; i++) x = { a: x, b: x }\nreturn x",
    "shared in arrays": "let x = []\nfor (let i = 0; i < 60; i++) x = [x, x]\nreturn x",
    "sparse": "const list = []\nlist[4294967294] = 1\nreturn list",
    "a generator": "return (function* () { for (;;) yield 'x' })()",
    "a proxy": "return new Proxy([], { get: (_, key) => (key === 'length' ? 2 ** 53 : null) })",
}
LIMIT = 100_000
EXACT = (
    "'x'.repeat(SIZE)",
    "['x'.repeat(SIZE)]",
    "[['x'.repeat(SIZE), 1], [[], [2, [3]]]]",
    "{ a: ['x'.repeat(SIZE)] }",
)


@pytest.mark.parametrize("kind", ENDLESS)
async def test_what_has_no_end_as_json_is_too_large(both: Both, kind: str) -> None:
    for engine, result in (await both.run(ENDLESS[kind], limits={"output_bytes": LIMIT})).items():
        assert (engine, result.verdict, result.output) == (engine, Verdict.OUTPUT_LIMIT, None)
        assert result.error is not None
        assert result.error.message.startswith("the result is more than 97.66 KB of JSON")


@pytest.mark.parametrize("value", EXACT)
async def test_a_result_may_have_as_many_bytes_as_the_limit_says(both: Both, value: str) -> None:
    (empty,) = {
        json.dumps(result.output) for result in (await both.run(f"return {value.replace('SIZE', '0')}")).values()
    }
    most = LIMIT - len(empty.replace(" ", ""))
    for size, verdict in ((most, Verdict.OK), (most + 1, Verdict.OUTPUT_LIMIT)):
        code = f"return {value.replace('SIZE', str(size))}"
        for engine, result in (await both.run(code, limits={"output_bytes": LIMIT})).items():
            assert (engine, result.verdict) == (engine, verdict)


async def test_arguments_of_a_tool_that_have_no_end_are_refused(both: Both) -> None:
    code = "await double({ get n() { return (function* () { for (;;) yield 'x'.repeat(1_000_000) })() } })"
    for engine, result in (await both.run(code)).items():
        assert result.error is not None
        assert (engine, result.error.type) == (engine, "RangeError")
        assert result.error.message == "arguments of a tool may be at most 8 MB of JSON"
