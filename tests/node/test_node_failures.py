"""How runs on Node end that do not end well."""

from __future__ import annotations

import subprocess
import sys
from contextlib import aclosing
from pathlib import Path
from signal import SIGABRT

import pytest

from paddock import Paddock, Verdict
from paddock.engines import node
from paddock.model.limits import MB
from tests.node.conftest import Run

RAISED = [
    ("throw new TypeError('no')", "TypeError", "no", 1, 7),
    ("const a = 1\n\nmissing.call(a)", "ReferenceError", "missing is not defined", 3, 1),
    ("missing", "ReferenceError", "missing is not defined", 1, 1),
    ("function f() {\n  null.x\n}\nf()", "TypeError", "Cannot read properties of null (reading 'x')", 2, 8),
    ("class Own extends Error {}\nthrow new Own('mine')", "Own", "mine", 2, 7),
    ("throw 'text'", "Error", "Uncaught 'text'", 1, None),
    ("throw null", "Error", "Uncaught null", 1, None),
    ("await Promise.reject(new RangeError('r'))", "RangeError", "r", 1, 22),
    ("Promise.reject(new Error('unhandled')); 1", "Error", "unhandled", 1, 16),
    ("Promise.reject('bare'); 1", "Error", "Uncaught 'bare'", 1, None),
    ("setTimeout(() => { throw new Error('late') }, 1)\nawait new Promise(() => {})", "Error", "late", 1, 26),
    ("new (require('events'))().emit('error', new Error('emitted'))", "Error", "emitted", 1, 41),
    (
        "await new Promise(() => {})",
        "Error",
        "the script awaits a promise that never settles: no timer or call is pending",
        1,
        None,
    ),
    ("JSON.parse('{')", "SyntaxError", "Expected property name or '}' in JSON at position 1 (line 1 column 2)", 1, 6),
    (
        "import fs from 'node:fs'\nfs.readFileSync('/none')",
        "Error",
        "ENOENT: no such file or directory, open '/none'",
        2,
        4,
    ),
    (
        "import x from 'no-such-package'",
        "Error",
        "Cannot find package 'no-such-package'",
        1,
        1,
    ),
    ("const a = {}; a.a = a; a", "TypeError", "result.a contains itself", 1, None),
    ("callTool('double', { n: 1 });\n[callTool('double', { n: 1 })]", "TypeError", None, 2, None),
]


@pytest.mark.parametrize(("code", "error_type", "message", "line", "column"), RAISED)
async def test_what_nobody_catches_ends_the_run_with_its_place(
    run: Run, code: str, error_type: str, message: str | None, line: int | None, column: int | None
) -> None:
    error = (result := await run(code)).error
    assert error is not None
    assert result.verdict is Verdict.RAISED
    assert (error.type, error.line, error.column) == (error_type, line, column)
    assert message is None or error.message == message


async def test_a_traceback_has_the_scripts_frames_and_no_others(run: Run) -> None:
    code = "function inner() { throw new Error('x', { cause: new Error('why') }) }\n[1].map(inner)"
    error = (await run(code)).error
    assert error is not None
    assert error.traceback.splitlines() == [
        "Error: x",
        "    at inner (main.js:1:26)",
        "    at main.js:2:5 {",
        "  [cause]: Error: why",
        "      at inner (main.js:1:50)",
        "      at main.js:2:5",
        "}",
    ]


REJECTED = [
    ("let x = ;", 1, 9),
    ("const a = 1\nconst a = 2", 2, 7),
    ("if (1) {\n  f(", 2, None),
    ("})", 1, 1),
    ("import fs from 'node:fs'\n\nlet x = ;", 3, 9),
    ("import { nothing } from 'node:fs'", 1, 10),
]


@pytest.mark.parametrize(("code", "line", "column"), REJECTED)
async def test_a_script_that_does_not_parse_is_rejected_where_it_is_wrong(
    run: Run, code: str, line: int, column: int | None
) -> None:
    error = (result := await run(f"{code}")).error
    assert error is not None
    assert (result.verdict, error.type, error.line, error.column) == (Verdict.REJECTED, "SyntaxError", line, column)


async def test_a_script_whose_imports_may_have_run_code_is_not_rejected(run: Run) -> None:
    result = await run("import 'data:text/javascript,1'\nimport { nothing } from 'node:fs'")
    assert (result.verdict, result.error and result.error.type) == (Verdict.RAISED, "SyntaxError")


async def test_a_handler_of_the_scripts_own_goes_first(run: Run) -> None:
    code = """
process.on('uncaughtException', (error) => console.log('caught', error.message));
process.on('unhandledRejection', (reason) => console.log('rejected', reason));
setTimeout(() => { throw new Error('x') }, 1);
Promise.reject('y');
await new Promise((resolve) => setTimeout(resolve, 20));
'on'
"""
    result = await run(code)
    assert (result.output, result.stdout) == ("on", "rejected y\ncaught x\n")


@pytest.mark.parametrize(
    ("code", "exit_code", "verdict"), [("process.exit(3)", 3, Verdict.RAISED), ("process.exit()", 0, Verdict.OK)]
)
async def test_an_exit_is_one(run: Run, code: str, exit_code: int, verdict: Verdict) -> None:
    result = await run(f"console.log('before'); {code}; console.log('after')")
    assert (result.verdict, result.exit_code, result.stdout) == (verdict, exit_code, "before\n")


@pytest.mark.parametrize(
    ("code", "signal"), [("process.abort()", 6), ("process.kill(process.pid, 'SIGKILL'); for (;;);", 9)]
)
async def test_a_hard_end_is_a_crash(run: Run, code: str, signal: int) -> None:
    result = await run(code)
    assert (result.verdict, result.signal) == (Verdict.CRASHED, signal)


CHILD = "require('child_process').execFileSync(process.execPath, ['-e', HOG], { stdio: 'inherit' })"
HOG = "const a = []; for (;;) a.push(Buffer.alloc(1 << 20, 1))"


@pytest.mark.parametrize(
    "code",
    [
        "const a = []; for (;;) a.push(new Array(1000).fill(Math.random()))",
        "const a = []; for (;;) a.push({ a: 'x' + a.length })",
        HOG,
        "let s = 'x'; for (;;) { s += s; Buffer.from(s); }",
        "const m = new WebAssembly.Memory({ initial: 1 }); m.grow(30000); new Uint8Array(m.buffer).fill(1)",
        CHILD.replace("HOG", repr(HOG)),
    ],
)
async def test_memory_of_every_kind_counts(run: Run, code: str) -> None:
    result = await run(code, limits={"memory_bytes": 128 * MB, "wall_seconds": 20})
    # A string that is too long is an error of its own.
    assert result.verdict in ((Verdict.OUT_OF_MEMORY, Verdict.RAISED) if "s += s" in code else (Verdict.OUT_OF_MEMORY,))


async def test_a_full_heap_is_out_of_memory_and_not_a_crash(monkeypatch: pytest.MonkeyPatch) -> None:
    """V8 itself gives up, at a heap that is smaller than what the run may have."""
    monkeypatch.setattr(node, "node_program", lambda _: (node.PROGRAM, "--max-old-space-size=48"))
    async with Paddock() as paddock:
        code = "console.error('before'); const a = []; for (;;) a.push({ a: 'x' + a.length })"
        result = await paddock.run(code, language="javascript", engine="node", limits={"memory_bytes": 80 * MB})
    assert (result.verdict, result.stderr, result.signal) == (Verdict.OUT_OF_MEMORY, "before\n", None)


async def test_what_only_looks_like_a_full_heap_is_printed(run: Run) -> None:
    result = await run("process.stderr.write('<--- Last few GCs --->\\n'); 1")
    assert (result.output, result.stderr) == (1, "<--- Last few GCs --->\n")


async def test_a_script_that_writes_the_report_itself_is_not_out_of_memory(run: Run) -> None:
    report = "<--- Last few GCs --->\nheap out of memory\n"
    result = await run(f"require('fs').writeSync(2, {report!r}); process.abort()")
    assert (result.verdict, result.signal) == (Verdict.CRASHED, SIGABRT)
    assert result.stderr.startswith(report)


async def test_output_after_such_words_counts_as_output(run: Run) -> None:
    code = "fs.writeSync(2, '<--- Last few GCs --->'); for (;;) fs.writeSync(2, 'x'.repeat(10_000))"
    result = await run(f"const fs = require('fs'); {code}", limits={"output_bytes": 200_000})
    assert (result.verdict, len(result.stderr)) == (Verdict.OUTPUT_LIMIT, 200_000)


@pytest.mark.parametrize(
    ("then", "limits"),
    [("for (;;);", {"wall_seconds": 1}), ("fs.writeSync(1, 'y'.repeat(2000))", {"stream_characters": 1000})],
)
@pytest.mark.parametrize("session", [None, "s"])
async def test_what_was_held_back_is_kept_when_the_host_ends_the_run(
    then: str, limits: dict[str, int], session: str | None
) -> None:
    code = f"const fs = require('fs'); fs.writeSync(2, '<--- Last few GCs --->\\nimportant'); {then}"
    async with Paddock() as paddock:
        result = await paddock.run(code, language="javascript", engine="node", limits=limits, session=session)
    assert (result.verdict in ("timeout", "output_limit"), result.stderr) == (True, "<--- Last few GCs --->\nimportant")


async def test_no_more_is_held_back_after_such_words_than_a_report_has(paddock: Paddock) -> None:
    report = f"'<--- Last few GCs --->' + 'x'.repeat({node.REPORT_CHARACTERS})"
    code = f"require('fs').writeSync(2, {report}); await double({{n: 1}})"
    async with aclosing(paddock.stream(code, language="javascript", engine="node")) as events:
        seen = [type(event).__name__ async for event in events]
    assert "Output" in seen[: seen.index("ToolCall")]


async def test_a_place_that_a_script_forges_is_text(run: Run) -> None:
    error = (await run(f"const e = new Error('x'); e.stack = `at main.js:{'9' * 6000}:1`; throw e")).error
    assert error is not None
    assert (error.message, error.line, error.column) == ("x", 1, None)


async def test_garbage_is_collected_before_the_limit_is_reached(run: Run) -> None:
    code = """
let kept = [];
for (let i = 0; i < 3000; i++) { kept.push(new Array(20000).fill(i)); if (kept.length > 400) kept = []; }
'done'
"""
    result = await run(code, limits={"memory_bytes": 512 * MB})
    assert (result.verdict, result.output) == (Verdict.OK, "done")


async def test_a_larger_limit_has_a_larger_heap(run: Run) -> None:
    limit = 1536 * MB
    result = await run("require('v8').getHeapStatistics().heap_size_limit", limits={"memory_bytes": limit})
    assert result.output > limit


@pytest.mark.parametrize(
    "code", ["for (;;);", "/(a+)+$/.test('a'.repeat(50) + 'b')", "await new Promise(() => setInterval(() => {}, 1000))"]
)
async def test_a_script_that_never_ends_is_stopped_and_its_output_kept(run: Run, code: str) -> None:
    result = await run(f"console.log('begun');\n{code}", limits={"wall_seconds": 1.0})
    assert (result.verdict, result.stdout) == (Verdict.TIMEOUT, "begun\n")


async def test_processor_time_counts_in_all_threads(run: Run) -> None:
    code = "new (require('worker_threads').Worker)('for (;;);', { eval: true }); await new Promise(() => {})"
    error = (result := await run(code, limits={"cpu_seconds": 1, "wall_seconds": 30})).error
    assert error is not None
    assert (result.verdict, "cpu_seconds" in error.message) == (Verdict.TIMEOUT, True)


@pytest.mark.parametrize(
    "code", ["for (;;) console.log('x'.repeat(999))", "for (;;) process.stdout.write('x'.repeat(999))"]
)
async def test_a_flood_of_output_ends_the_run(run: Run, code: str) -> None:
    result = await run(code, limits={"output_bytes": 10_000})
    assert (result.verdict, len(result.stdout)) == (Verdict.OUTPUT_LIMIT, 10_000)


async def test_a_value_that_is_too_large_is_not_read(run: Run) -> None:
    assert (await run("'x'.repeat(5_000_000)")).verdict is Verdict.OUTPUT_LIMIT


async def test_few_processes_are_enough_for_node_itself(run: Run) -> None:
    code = "await Promise.all([1, 2, 3, 4, 5, 6].map(() => require('fs/promises').readFile('/etc/hosts', 'utf8')))"
    assert (await run(code, limits={"processes": 1})).verdict is Verdict.OK


async def test_no_more_processes_than_allowed_are_started(run: Run) -> None:
    code = """
const { spawn } = require('child_process');
let failed = 0;
for (let i = 0; i < 60; i++) spawn('/bin/sleep', ['9']).on('error', () => failed++);
await new Promise((resolve) => setTimeout(resolve, 100));
failed
"""
    result = await run(code, limits={"processes": 4})
    assert result.output > 30


REHEARSE = """
import sys
from paddock.guest.node import main
main.set_program(sys.argv[1:])
main.REHEARSAL_SECONDS = 0.1
main.warm_up()
print("warm")
"""


def test_a_rehearsal_that_never_reads_the_runtime_is_ended(tmp_path: Path) -> None:
    endless = tmp_path / "node"
    endless.write_text("#!/bin/sh\nexec sleep 1000\n")
    endless.chmod(0o755)
    # In a process of its own: a shell takes only descriptors below 10, as a zygote has.
    command = [sys.executable, "-c", REHEARSE, str(endless)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert (ran.stdout, ran.stderr) == ("warm\n", "")
