"""What a script replaces, or puts on all objects, is not what the runtime around it uses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.javascript.conftest import Both

SCRIPT = Path(__file__).with_name("replaced.js").read_text(encoding="utf-8")
STAGES = {
    "a call": "await double({ n: 3 })",
    "many calls": "for (let n = 0; n < 20; n++) await callTool('double', { n })",
    "a call that fails": "try { await refuse({}) } catch {}",
    "artifacts": "await codeExec.createArtifact('a.txt', 'x'); await codeExec.readArtifact('a.txt')",
    "bytes": "await codeExec.createArtifact('b', new Uint8Array(2)); await codeExec.readArtifact('b')",
    "progress": "await reportProgress(1, 2, 'x')",
    "an error's stack": "new TypeError('x').stack",
    "a console": "isNoting = false; console.log(1); isNoting = true; console.log(shown)",  # the first makes streams
    "a timer": "await new Promise((done) => setTimeout(done, 1))",
}
OF_NODE = {
    "Array.prototype.pop",  # when a callback of Node's ends
    "Reflect.defineProperty",  # of this test's own setter
    "TypedArray.prototype.byteLength",  # fs.writeSync
}
OF_THE_CONSOLE_OF_NODE = {
    *("Array.prototype.includes", "Array.prototype.push", "Object.prototype.0", "Object.prototype.get"),
    "Object.prototype.set",
    *("String.prototype.indexOf", "String.prototype.toString", "TypedArray.prototype.Symbol(Symbol.toStringTag)"),
}


@pytest.mark.parametrize("stage", STAGES)
async def test_what_was_replaced_is_not_used(both: Both, stage: str) -> None:
    for engine, result in (await both.run(SCRIPT.replace("STAGE", STAGES[stage]))).items():
        assert result.error is None, engine
        used = set() if result.output == "none" else set(json.loads(result.output)["used"].values())
        if engine == "node":
            used -= OF_NODE | (OF_THE_CONSOLE_OF_NODE if stage == "a console" else set())
        assert (engine, used) == (engine, set())


BROKEN = "= () => { throw new Error('replaced') };"


@pytest.mark.parametrize(
    "name",
    [
        *("String.prototype.toWellFormed", "String.prototype.concat", "String.prototype.slice", "Array.prototype.push"),
        *("Map.prototype.get", "JSON.stringify", "JSON.parse", "Object.defineProperty", "Function.prototype.call"),
        *("Promise.prototype.then", "RegExp.prototype.exec", "Math.max", "Array.prototype[Symbol.iterator]"),
    ],
)
async def test_a_result_and_an_error_come_out_though_a_builtin_is_broken(both: Both, name: str) -> None:
    for engine, result in (await both.run(f"{name} {BROKEN}\nreturn {{ a: [await double({{ n: 2 }})] }}")).items():
        assert (engine, result.error, result.output) == (engine, None, {"a": [{"result": 4}]})
    for engine, result in (await both.run(f"{name} {BROKEN}\nthrow new TypeError('mine')")).items():
        error = result.error
        assert error is not None
        assert (engine, error.type, error.message, error.line) == (engine, "TypeError", "mine", 2)


async def test_what_is_on_all_objects_is_not_taken_for_an_answer(both: Both) -> None:
    code = """
    Object.prototype.text = false
    Object.prototype.failed = true
    Object.prototype.envelope = 'polluted'
    return [await double({ n: 4 }), (await codeExec.createArtifact('a.txt', 'x')).success]
    """
    for engine, result in (await both.run(code)).items():
        assert (engine, result.error, result.output) == (engine, None, [{"result": 8}, True])


async def test_what_is_on_all_arrays_is_not_taken_for_a_line(both: Both) -> None:
    for engine, result in (await both.run("Array.prototype[0] = '9'\nif (1) throw 1\nif (1) throw 2")).items():
        assert (engine, result.error and result.error.line) == (engine, None)
