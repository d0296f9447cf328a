"""Scripts that succeed although their work was not done are told so."""

from __future__ import annotations

import pytest

from tests.javascript.conftest import Both

TIMER = "The script returned before its timer (line {}) ran, and now it never will: await a promise that it resolves."
NOTHING = "The script returned and printed nothing: if it only defines functions, call one and return its value."
WARNINGS = {
    "setTimeout(() => console.log('late'), 1e6)\nreturn 1": TIMER.format(1),
    "const sleep = ms => new Promise(r => setTimeout(r, ms))\n;[1].forEach(async () => sleep(1e6))": TIMER.format(1),
    "let n = 0\nsetInterval(() => n++, 1e6)\nreturn n": TIMER.format(2),
    "async function main() { return 5 }": NOTHING,
    "const handler = () => 5": NOTHING,
}
NONE = [
    "return await new Promise(r => setTimeout(() => r(1), 1))",
    "const t = setTimeout(() => {}, 1e6)\nclearTimeout(t)\nreturn 1",
    "return Promise.race([double({n: 1}), new Promise((_, no) => setTimeout(no, 1e6))])",
    "const x = 1",
    "const f = () => 5\nconsole.log(f())",
    "const f = () => 5\nawait double({n: f()})\nundefined",
]


@pytest.mark.parametrize("globals_", ["all", "closed"])
@pytest.mark.parametrize("code", WARNINGS)
async def test_lost_work_is_told_of(both: Both, code: str, globals_: str) -> None:
    for engine, result in (await both.run(code, globals=globals_)).items():
        assert (engine, result.error, result.warnings) == (engine, None, (WARNINGS[code],))


@pytest.mark.parametrize("code", NONE)
async def test_a_script_that_lost_nothing_is_not_warned(both: Both, code: str) -> None:
    for engine, result in (await both.run(code)).items():
        assert (engine, result.error, result.warnings) == (engine, None, ())


NODE = {
    "module.exports = async () => 5": NOTHING,
    "exports.handler = async () => 5": NOTHING,
    "export async function handler() { return 5 }": NOTHING,
    "require('fs').readFile('/etc/hosts', () => console.log(1))\nreturn 1": (
        "The script returned before all of its callbacks ran, and now they never will: "
        "await a promise that they resolve."
    ),
}


@pytest.mark.parametrize("code", NODE)
async def test_so_is_what_only_node_has(both: Both, code: str) -> None:
    result = await both.paddock.run(code, language="javascript", engine="node")
    assert (result.error, result.warnings) == (None, (NODE[code],))


PROGRAMS = {
    "module.exports = () => 5": (
        "The program printed nothing: if it only defines functions, call one and print what it returns."
    ),
    "const f = () => 5\nreturn f()": "The value that a program returns is not shown: print it with console.log(...).",
}


@pytest.mark.parametrize("code", PROGRAMS)
async def test_so_is_a_program(both: Both, code: str) -> None:
    result = await both.paddock.run(code, language="javascript", engine="node", mode="script", tools=())
    assert (result.error, result.warnings) == (None, (PROGRAMS[code],))


async def test_a_program_with_await_cannot_return(both: Both) -> None:
    code = "const n = await 5\nreturn n"
    error = (await both.paddock.run(code, language="javascript", engine="node", mode="script", tools=())).error
    assert error is not None
    assert (error.message, error.line) == ("Illegal return statement", 2)
    assert error.hint == "A program has no value to return: print it with console.log(...)."


async def test_a_main_module_is_one(both: Both) -> None:
    code = "function main() { console.log('ran') }\nif (require.main === module) { main() }"
    result = await both.paddock.run(code, language="javascript", engine="node")
    assert (result.stdout, result.warnings) == ("ran\n", ())


async def test_a_default_for_what_an_answer_lacks_is_a_warning(both: Both) -> None:
    code = "const answer = await callTool('double', { n: 1 })\nconst list = answer.orders ?? []\nreturn list.length"
    for engine, result in (await both.run(code)).items():
        told = "On line 2, the answer has no `orders`; its value is in answer.result."
        assert (engine, result.output, result.warnings) == (engine, 0, (told,))


async def test_a_script_that_looks_for_a_key_finds_none_that_the_answer_lacks(both: Both) -> None:
    code = "const answer = await callTool('double', { n: 1 })\nreturn 'orders' in answer ? answer.orders ?? 1 : 2"
    for engine, result in (await both.run(code)).items():
        assert (engine, result.output, result.warnings) == (engine, 2, ())
