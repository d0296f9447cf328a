"""What a script on Node is worth, sees and says."""

from __future__ import annotations

from typing import Any

import pytest

from paddock import Paddock, Verdict
from paddock.model.events import Output
from paddock.model.files import File
from paddock.tools.identifiers import reserved
from tests.node.conftest import SECRET, Run, meeting

VALUES: list[tuple[str, Any]] = [
    ("1 + 1", 2),
    ("const x = 3\nx * 2", 6),
    ("return 'early'\n'late'", "early"),
    ("const x = 1", None),
    ("", None),
    ("undefined", None),
    ("await Promise.resolve([1, { a: null }])", [1, {"a": None}]),
    ("new Map([['a', new Set([1])]])", {"a": [1]}),
    ("[NaN, -Infinity, 12345678901234567890n]", ["NaN", "-Infinity", 12345678901234567890]),
    ("new Date(0)", "1970-01-01T00:00:00.000Z"),
    ("Buffer.from('ab')", {"type": "bytes", "base64": "YWI="}),
    ("'\\ud800x'", "\ufffdx"),
    ("require('node:path').basename(__filename)", "main.js"),
    ("(await import('node:os')).EOL", "\n"),
    ("typeof module.exports + typeof exports", "objectobject"),
    ("import { sep } from 'node:path'\nexport default [sep, import.meta.url]", ["/", "file:///tmp/main.js"]),
    ("import 'node:fs'", None),
    ("import x from 'data:text/javascript,export default 5'\nexport default x + 1", 6),
    ("export default await Promise.resolve(4)", 4),
    ("#!/usr/bin/env node\n5", 5),
    ("const { promise, resolve } = Promise.withResolvers(); setTimeout(resolve, 5, 'timer'); await promise", "timer"),
    (
        "[typeof fs, typeof fetch, typeof crypto.subtle, typeof WebSocket]",
        ["undefined", *["function", "object", "function"]],
    ),
    ("eval('6 * 7')", 42),
    ("process.execArgv.length + process.argv.length", 2),
    ("Object.keys(globalThis).includes('parts')", False),
]


@pytest.mark.parametrize(("code", "value"), VALUES)
async def test_a_script_is_worth_its_return_its_last_expression_or_its_default_export(
    run: Run, code: str, value: Any
) -> None:
    result = await run(code)
    assert (result.verdict, result.output, result.error) == (Verdict.OK, value, None)


async def test_no_tool_can_take_the_name_of_a_global_of_node(run: Run) -> None:
    result = await run(r"Object.getOwnPropertyNames(globalThis).filter((name) => /^\w+$/.test(name))")
    assert "URLPattern" in result.output
    assert set(result.output) - reserved("javascript") == set(result.available_functions)


async def test_inputs_and_files_are_global(run: Run) -> None:
    code = "[n.a, big, files[0].file_name, require('fs').readFileSync(files[0].path, 'utf8'), files.length]"
    result = await run(code, inputs={"n": {"a": [1]}, "big": 2**60}, files=[File("ä.txt", "größe".encode())])
    assert result.output == [[1], 2**60, "ä.txt", "größe", 1]


async def test_a_large_file_and_a_large_input_arrive_whole(run: Run) -> None:
    content = bytes(range(256)) * 8000
    code = """
const hash = require('crypto').createHash('sha256').update(require('fs').readFileSync(files[0].path)).digest('hex');
[hash, text.length]
"""
    result = await run(code, inputs={"text": "x" * 3_000_000}, files=[File("a.bin", content)])
    from hashlib import sha256

    assert result.output == [sha256(content).hexdigest(), 3_000_000]


async def test_nothing_of_the_host_is_in_the_environment(run: Run) -> None:
    result = await run("process.env")
    assert result.output.pop("PATH").endswith("/bin:/usr/bin:/bin")
    assert result.output == {"HOME": "/tmp", "LANG": "C.UTF-8", "TZ": "UTC"}  # noqa: S108
    assert SECRET not in (await run("JSON.stringify(process.report.getReport())")).output


async def test_standard_input_is_empty(run: Run) -> None:
    assert (await run("require('fs').readFileSync(0, 'utf8')")).output == ""


async def test_calls_of_promise_all_overlap(run: Run) -> None:
    meeting.clear()
    result = await run("await Promise.all([meet({ n: 1 }), callTool('meet', { n: 2 })])")
    assert (result.output, [call.tool for call in result.calls]) == ([{"n": 1}, {"n": 2}], ["meet", "meet"])


async def test_many_calls_in_a_row_and_at_once(run: Run) -> None:
    code = """
const found = [];
for (let n = 0; n < 40; n++) found.push((await double({ n })).result);
const more = await Promise.all(found.map((n) => double({ n })));
more.map(({ result }) => result)
"""
    assert (await run(code)).output == [4 * n for n in range(40)]


async def test_a_failed_call_is_an_error_with_its_envelope_and_its_place(run: Run) -> None:
    caught = await run("try { await callTool('none', {}) } catch (e) { [e.name, e.envelope.error_code] }\n1")
    assert caught.output == 1
    result = await run("\nawait callTool('none', {})")
    assert result.error is not None
    assert (result.verdict, result.error.type, result.error.line) == (Verdict.RAISED, "ToolError", 2)
    assert result.error.envelope is not None
    assert result.error.envelope["error_code"] == "TOOL_NOT_FOUND"


async def test_artifacts_are_kept_and_read(run: Run, paddock: Paddock) -> None:
    code = """
const made = await codeExec.createArtifact('a.txt', 'größe', 'txt');
const bytes = await codeExec.createArtifact('b.bin', new Uint8Array([255, 0, 1]));
const read = await codeExec.readArtifact(bytes.id);
[made.success, (await codeExec.readArtifact(made.id)).content, read.content, await codeExec.createArtifact(1)]
"""
    result = await run(code)
    failed = {"success": False, "error": "an artifact needs a file name"}
    assert result.output == [True, "größe", {"type": "bytes", "base64": "/wAB"}, failed]
    assert [artifact.filename for artifact in result.artifacts] == ["a.txt", "b.bin"]


async def test_large_calls_meet_large_answers(paddock: Paddock) -> None:
    """Both ends write more than the socket holds."""

    def echo(text: str) -> str:
        return text

    async with Paddock(tools=[echo]) as other:
        own, other._engines = other._engines, paddock._engines
        code = """
const text = 'x'.repeat(400_000);
const answers = await Promise.all([1, 2, 3, 4].map(async () => {
  await echo({ text });
  return (await echo({ text })).result.length;
}));
answers
"""
        result = await other.run(code, language="javascript", engine="node")
        other._engines = own
    assert result.output == [400_000] * 4


async def test_the_console_has_levels_and_prints_as_node_does(run: Run) -> None:
    code = """
console.log('%s is %d', 'a', 1, { nested: { deep: { er: [1] } } });
console.info([1, 'x']); console.debug(new Map([[1, 2]])); console.warn('careful');
console.error(new Error('e').message);
console.group('g'); console.log('in'); console.groupEnd();
console.table([{ a: 1 }]);
"""
    result = await run(code)
    assert [(line["level"], line["text"]) for line in result.logs][:7] == [
        ("log", "a is 1 { nested: { deep: { er: [Array] } } }"),
        ("info", "[ 1, 'x' ]"),
        ("debug", "Map(1) { 1 => 2 }"),
        ("warn", "careful"),
        ("error", "e"),
        ("log", "g"),
        ("log", "  in"),
    ]
    assert result.stderr == "careful\ne\n"
    assert result.stdout.startswith("a is 1")


async def test_process_stdout_is_the_scripts_stdout(run: Run) -> None:
    result = await run("process.stdout.write('a'); process.stderr.write('b'); 1")
    assert (result.stdout, result.stderr, result.output) == ("a", "b", 1)


async def test_output_of_more_than_a_pipe_holds_is_whole(run: Run) -> None:
    result = await run("process.stdout.write('x'.repeat(900_000)); 1")
    assert (len(result.stdout), result.output) == (900_000, 1)


async def test_output_comes_while_the_script_runs(paddock: Paddock) -> None:
    code = "console.log('begun'); for (const end = Date.now() + 60_000; Date.now() < end;);"
    async for event in paddock.stream(code, language="javascript", engine="node"):
        assert event == Output("stdout", "begun\n")
        break


async def test_timers_end_with_the_run(run: Run) -> None:
    result = await run("setInterval(() => console.log('tick'), 1); setTimeout(() => console.log('late'), 0); 'done'")
    assert (result.verdict, result.output, result.stdout) == (Verdict.OK, "done", "")


async def test_what_the_script_left_for_the_exit_runs(run: Run) -> None:
    result = await run("process.on('exit', (code) => console.log('bye', code)); 1")
    assert (result.output, result.stdout) == (1, "bye 0\n")


async def test_one_run_leaves_nothing_to_the_next(run: Run) -> None:
    await run("globalThis.left = 1; require('fs').writeFileSync('left', 'x'); Array.prototype.left = 1")
    assert (await run("[typeof left, require('fs').existsSync('left'), [].left]")).output == ["undefined", False, None]


async def test_progress_is_reported(paddock: Paddock) -> None:
    events = paddock.stream("await reportProgress(1, 2, 'half')", language="javascript", engine="node")
    assert [type(event).__name__ async for event in events] == ["Progress", "Done"]


async def test_a_script_that_spoils_the_built_ins_still_has_its_value(run: Run) -> None:
    code = """
Array.prototype.toJSON = Object.prototype.toJSON = String.prototype.toJSON = () => 'spoiled';
Map.prototype.get = Promise.prototype.then = JSON.stringify = undefined;
setImmediate = Promise = Buffer = process = null;
[1, { a: 'b' }]
"""
    assert (await run(code)).output == [1, {"a": "b"}]
