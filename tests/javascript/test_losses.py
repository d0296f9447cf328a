"""What a result loses is told, and how to return it."""

from __future__ import annotations

import pytest

from tests.javascript.conftest import Both

LOST = [
    (
        "[1, NaN, -Infinity]",
        [1, "NaN", "-Infinity"],
        "result[1] is NaN, which JSON cannot represent, and is returned as text (and 1 more like it): "
        "return null or a number instead.",
    ),
    (
        "({f() {}})",
        {"f": "[Function: f]"},
        "result.f is a function, so only its name is returned: return the data that it computes instead.",
    ),
    (
        "Symbol('s')",
        "Symbol(s)",
        "the result is a symbol, so only its text is returned: return a string instead.",
    ),
    (
        "[new Date('never')]",
        ["Invalid Date"],
        'result[0] is an invalid Date, returned as the text "Invalid Date": '
        "check the text or numbers that it was made from.",
    ),
    (
        "({w: new WeakMap()})",
        {"w": "[WeakMap]"},
        "result.w is a WeakMap, whose contents cannot be returned: return a Map, a Set or an object instead.",
    ),
    (
        "class Account { #sum = 5; get sum() { return this.#sum } }\nnew Account()",
        {},
        "the result is an instance of Account without properties of its own, so {} is returned: "
        "return an object with the values that you need.",
    ),
]
KEPT = {
    "new Map([['a', new Set([1])]])": {"a": [1]},
    "[2n ** 70n, /a/, new Error('x'), {}, Object.create(null), new (class { toJSON() { return 1 } })]": [
        2**70,
        "/a/",
        {"name": "Error", "message": "x"},
        {},
        {},
        1,
    ],
    "[new Uint8Array([1, 255]), new Uint8Array([1, 255]).buffer]": [{"type": "bytes", "base64": "Af8="}] * 2,
}


@pytest.mark.parametrize(("code", "output", "warning"), LOST)
async def test_what_json_lacks_is_told(both: Both, code: str, output: object, warning: str) -> None:
    for engine, result in (await both.run(code)).items():
        assert (engine, result.output, result.warnings) == (engine, output, (warning,))


@pytest.mark.parametrize("code", KEPT)
async def test_what_loses_nothing_gives_no_warning(both: Both, code: str) -> None:
    for engine, result in (await both.run(code)).items():
        assert (engine, result.output, result.warnings) == (engine, KEPT[code], ())


async def test_many_bytes_are_within_the_limit_of_the_output(both: Both) -> None:
    for size, verdict in ((600, "ok"), (1200, "output_limit")):
        runs = await both.run(f"new Uint8Array({size})", limits={"output_bytes": 1000}, keep_files=False)
        assert [result.verdict for result in runs.values()] == [verdict] * 2


async def test_returned_bytes_are_an_artifact_and_too_many_are_only_that(both: Both) -> None:
    for size, output in ((3, {"type": "bytes", "base64": "AAAA"}), (1200, {"type": "bytes", "size": 1200})):
        for result in (await both.run(f"new Uint8Array({size})", limits={"output_bytes": 1000})).values():
            assert (result.verdict, result.output, result.warnings) == ("ok", output, ())
            assert [(each.filename, each.size) for each in result.artifacts] == [("result.bin", size)]
    lost = await both.run("new Uint8Array(17 * 2 ** 20)", limits={"output_bytes": 1000})
    assert [result.verdict for result in lost.values()] == ["output_limit"] * 2


async def test_a_returned_image_is_shown_and_kept_once(both: Both) -> None:
    for result in (await both.run("new Uint8Array([0x89, 0x50, 0x4e, 0x47, 1])")).values():
        assert [(each.type, each.data, each.is_result) for each in result.outputs] == [("image", b"\x89PNG\x01", True)]
        assert (result.output, [each.filename for each in result.artifacts]) == (
            {"type": "bytes", "size": 5},
            ["result.png"],
        )


async def test_an_artifact_can_be_made_of_any_typed_array(both: Both) -> None:
    code = "(await codeExec.createArtifact('x', new Float64Array([1, 2]).subarray(1))).success"
    for result in (await both.run(code)).values():
        assert (result.output, [each.size for each in result.artifacts]) == (True, [8])


async def test_there_are_never_more_than_a_few_short_warnings(both: Both) -> None:
    code = "for (let n = 0; n < 50; n++) codeExec.createArtifact('\\u0001'.repeat(3000) + n, 5)\nreturn 1"
    for engine, result in (await both.run(code)).items():
        assert (engine, result.output, len(result.warnings)) == (engine, 1, 10)
        assert max(map(len, result.warnings)) <= 300
