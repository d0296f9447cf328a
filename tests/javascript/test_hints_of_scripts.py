"""Hints that need facts from the guest are the same on both engines."""

from __future__ import annotations

import pytest

from tests.javascript.conftest import Both

ANSWER = "const answer = await callTool('double', {n: 1})\n"
LISTING = "const answer = await callTool('listing', {})\n"
HINTS = {
    "consol.log(1)": "Did you mean `console`?",
    "JSON.strigify({})": "Did you mean `stringify`?",
    "const list = [1]\nlist.pusch(2)": "Did you mean `push`?",
    f"{ANSWER}answer.reslt.toFixed(2)": (
        "`answer` has only the key `result`: write `answer.result` instead of `answer.reslt`."
    ),
    f"{LISTING}answer.map(x => x)": (
        "`answer` is an object with the keys items (an array), total: write `answer.items.map(...)`."
    ),
    f"{LISTING}for (const x of answer) {{}}": (
        "`answer` is an object with the keys items (an array), total: write `answer.items`."
    ),
    "const m = new Map([['a', 1]])\nm.map(x => x)": (
        "`m` is a Map of 1 with keys such as 'a': write `[...m].map(([key, value]) => ...)`."
    ),
    "const { list, n } = { list: [1], n: 2 }\nlist.has(n)": (
        "`list` is an array of 1, first 1: write `list.includes(item)`."
    ),
    "const list = [{ a: 1 }, { b: 2 }]\nlist.map(x => x.a.toFixed(2))": (
        "`x` has no `a`, only: b. If it may be absent, write `x.a?.toFixed(...)`."
    ),
}


@pytest.mark.parametrize("globals_", ["all", "closed"])
@pytest.mark.parametrize("code", HINTS)
async def test_a_hint_names_what_was_meant(both: Both, code: str, globals_: str) -> None:
    for engine, result in (await both.run(code, globals=globals_)).items():
        assert result.error is not None
        assert (engine, result.error.hint) == (engine, HINTS[code])


@pytest.mark.parametrize(
    "code",
    [
        "const o = { get list() { console.log('ran') } }\no.list.map(x => x)",
        "const o = new Proxy({}, { get() { console.log('ran') } })\no.list.map(x => x)",
        "const o = { a: { get b() { console.log('ran'); return 1 } } }\nconsole.log('ran')\no.a.c.d()",
        "class C { get m() { console.log('ran') } }\nconst c = new C()\nc.m()",
    ],
)
async def test_a_hint_runs_no_code_of_the_script(both: Both, code: str) -> None:
    for engine, result in (await both.run(code)).items():
        assert (engine, result.verdict.value, result.stdout) == (engine, "raised", "ran\n")


@pytest.mark.parametrize(
    "code",
    [
        "'use strict'\nconst o = {}\nundeclared = 5",
        "return arguments.length + 1 > 1 ? null.x : 0",
        "const reads = 5\nreturn typeof __paddock_reads === 'undefined' ? reads : null.x",
    ],
)
async def test_reading_variables_changes_nothing_for_a_script(both: Both, code: str) -> None:
    for engine, result in (await both.run(code)).items():
        expected = "raised" if "strict" in code else "ok"
        assert (engine, result.verdict.value) == (engine, expected), result.error


async def test_a_script_without_calls_is_told_of_no_answer(both: Both) -> None:
    for engine, result in (await both.run("const n = 5\nfor (const x of n) {}")).items():
        assert result.error is not None
        assert (engine, "last answer" in result.error.hint) == (engine, False)
