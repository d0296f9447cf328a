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
    f"{ANSWER}answer.reslt.toFixed(2)": "Did you mean `result`? The last answer has the keys: result.",
    f"{LISTING}answer.map(x => x)": "The last answer has the keys: items, total.",
    f"{LISTING}for (const x of answer) {{}}": "The last answer has the keys: items, total.",
}


@pytest.mark.parametrize("globals_", ["all", "closed"])
@pytest.mark.parametrize("code", HINTS)
async def test_a_hint_names_what_was_meant(both: Both, code: str, globals_: str) -> None:
    for engine, result in (await both.run(code, globals=globals_)).items():
        assert result.error is not None
        assert (engine, result.error.hint) == (engine, HINTS[code])


async def test_a_script_without_calls_is_told_of_no_answer(both: Both) -> None:
    for engine, result in (await both.run("const n = 5\nfor (const x of n) {}")).items():
        assert result.error is not None
        assert (engine, "last answer" in result.error.hint) == (engine, False)
