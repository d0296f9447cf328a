"""Calls that were never awaited are waited for, and told of."""

from __future__ import annotations

import pytest

from paddock.model.result import Verdict
from tests.javascript.conftest import Both

WAITED_FOR = [
    (
        "const out = {};\n[1, 2].forEach(async n => { out[n] = (await callTool('double', {n})).result })\nreturn out",
        {"1": 2, "2": 4},
        "2 calls were still under way when the script returned (the first: double, line 2): await them.",
    ),
    (
        "let last;\n(async () => {\n  await callTool('double', {n: 1})\n  last = await callTool('double', {n: 2})\n"
        "})()\nreturn {get last() { return last }}",
        {"last": {"result": 4}},
        "1 call was still under way when the script returned (double, line 3): await it.",
    ),
    (
        "callTool('refuse', {}).catch(() => {})\nreturn 1",
        1,
        "1 call was still under way when the script returned (refuse, line 1): await it.",
    ),
]


@pytest.mark.parametrize("globals_", ["all", "closed"])
@pytest.mark.parametrize(("code", "output", "warning"), WAITED_FOR)
async def test_the_value_is_taken_when_they_are_answered(
    both: Both, code: str, output: object, warning: str, globals_: str
) -> None:
    for engine, result in (await both.run(code, globals=globals_)).items():
        assert (engine, result.verdict, result.output) == (engine, Verdict.OK, output)
        assert result.warnings == (warning,)


async def test_one_that_fails_ends_the_run_with_its_envelope(both: Both) -> None:
    for engine, result in (await both.run("const n = 1\ncallTool('refuse', {})\nreturn {saved: true}")).items():
        assert (engine, result.verdict, result.output) == (engine, Verdict.RAISED, None)
        error = result.error
        assert error is not None
        assert (error.type, error.line) == ("ToolError", 2)
        assert '"tool": "refuse"' in error.message
        assert error.traceback.splitlines()[0] == "ToolError: refuse: ValueError: no"


async def test_a_call_that_is_awaited_gives_no_warning(both: Both) -> None:
    for engine, result in (await both.run("await double({n: 1})")).items():
        assert (engine, result.output, result.warnings) == (engine, {"result": 2}, ())


async def test_one_without_an_answer_does_not_cost_the_value(both: Both) -> None:
    code = "await Promise.race([callTool('hang', {}), new Promise(done => setTimeout(done, 1))])\nreturn 7"
    for engine, result in (await both.run(code, limits={"wall_seconds": 2.0})).items():
        assert (engine, result.verdict, result.output) == (engine, Verdict.OK, 7)
        assert result.warnings[1:] == (
            "1 call had no answer when the run's time was up (hang, line 1); the effect is unknown.",
        )


async def test_an_artifact_is_waited_for_too(both: Both) -> None:
    code = "codeExec.createArtifact('f.json', {a: [1, 'ü']}, 'json')\nreturn 5"
    for engine, result in (await both.run(code)).items():
        assert (engine, result.output, [one.filename for one in result.artifacts]) == (engine, 5, ["f.json"])
        assert result.warnings == (
            "1 call was still under way when the script returned (codeExec.createArtifact, line 1): await it.",
        )
        assert await both.paddock.read_artifact(result.artifacts[0].id) == '{"a":[1,"ü"]}'.encode()


async def test_an_artifact_that_could_not_be_made_is_told_of(both: Both) -> None:
    code = "codeExec.createArtifact('f.csv', [{a: 1}], 'csv')\nreturn 5"
    for engine, result in (await both.run(code)).items():
        assert (engine, result.output, result.artifacts) == (engine, 5, ())
        assert result.warnings == (
            'codeExec.createArtifact("f.csv") on line 1 created no artifact: '
            "the content of an artifact must be text or a Uint8Array, not object.",
        )
