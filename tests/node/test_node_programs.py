"""Mode `script` on Node: a main.js or main.mjs with arguments and an exit code."""

from __future__ import annotations

from typing import Any

import pytest

from paddock import Verdict
from paddock.model.files import File
from paddock.model.result import RunResult
from tests.node.conftest import Run


async def program(run: Run, code: str, **options: Any) -> RunResult:
    return await run(code, mode="script", **{"tools": (), **options})


PROGRAMS = [
    ("console.log('hi')", "hi\n", "", 0),
    ("console.log(process.argv.slice(1)); process.exitCode = 4", "[ '/tmp/main.js', 'a', '-b' ]\n", "", 4),
    ("console.error('e'); process.exit(7)", "", "e\n", 7),
    ("console.log(require.main === module, __filename)", "true /tmp/main.js\n", "", 0),
    (
        "import fs from 'node:fs'; console.log(import.meta.filename, fs.existsSync('main.mjs'))",
        "/tmp/main.mjs true\n",  # noqa: S108
        "",
        0,
    ),
    ("console.log(await Promise.resolve(5))", "5\n", "", 0),
    ("console.log(typeof callTool, typeof files, typeof inputs)", "undefined undefined undefined\n", "", 0),
    ("setTimeout(() => console.log('later'), 20)", "later\n", "", 0),
    ("process.stdin.on('data', console.log).on('end', () => console.log('end'))", "end\n", "", 0),
    (
        "process.on('beforeExit', () => { if (!globalThis.x) { x = 1; setTimeout(() => console.log('more'), 1) } })",
        "more\n",
        "",
        0,
    ),
    ("1 + 1", "", "", 0),
    ("#!/usr/bin/env node\nconsole.log(1)", "1\n", "", 0),
    ("module.exports = 3; return", "", "", 0),
]


@pytest.mark.parametrize(("code", "stdout", "stderr", "exit_code"), PROGRAMS)
async def test_a_program_has_its_streams_and_its_exit_code(
    run: Run, code: str, stdout: str, stderr: str, exit_code: int
) -> None:
    result = await program(run, code, argv=["a", "-b"])
    assert (result.stdout, result.stderr, result.exit_code) == (stdout, stderr, exit_code)
    assert (result.verdict, result.output) == (Verdict.RAISED if exit_code else Verdict.OK, None)


async def test_an_error_is_shown_as_node_shows_it_under_the_name_of_the_program(run: Run) -> None:
    result = await program(run, "function f() { throw new Error('boom') }\n\nf()")
    assert (result.verdict, result.exit_code) == (Verdict.RAISED, 1)
    assert result.stderr == (
        "main.js:1\nfunction f() { throw new Error('boom') }\n                     ^\n\n"
        "Error: boom\n    at f (main.js:1:22)\n    at Object.<anonymous> (main.js:3:1)\n"
    )


@pytest.mark.parametrize("code", ["let x = ;", "import 'node:fs'\nlet x = ;"])
async def test_a_program_that_does_not_parse_says_so(run: Run, code: str) -> None:
    result = await program(run, code)
    assert (result.verdict, result.exit_code) == (Verdict.REJECTED, 1)
    assert "SyntaxError: Unexpected token ';'" in result.stderr


async def test_a_module_of_a_program_imports_a_file_that_it_wrote(run: Run) -> None:
    code = """
import { writeFileSync } from 'node:fs';
writeFileSync('other.mjs', 'export const a = 3');
const { a } = await import('./other.mjs');
console.log(a);
"""
    assert (await program(run, code)).stdout == "3\n"


async def test_tools_and_files_are_there_where_they_were_given(run: Run) -> None:
    code = "double({ n: 4 }).then(({ result }) => console.log(result, files.length))"
    result = await program(run, code, tools=["double"], files=[File("a", b"")])
    assert (result.stdout, result.exit_code) == ("8 1\n", 0)


async def test_a_rejection_that_nobody_handles_ends_the_program(run: Run) -> None:
    result = await program(run, "Promise.reject(new Error('r')); setTimeout(() => console.log('never'), 1000)")
    assert (result.exit_code, result.stdout, "Error: r" in result.stderr) == (1, "", True)


async def test_a_file_that_grows_beyond_its_limit_is_an_error_of_the_program(run: Run) -> None:
    code = "require('fs').writeFileSync('a', 'x'.repeat(1001))"
    result = await program(run, code, limits={"file_bytes": 1000})
    assert "Error: EFBIG: file too large, write" in result.stderr
    within = await program(run, code, limits={"file_bytes": 1001})
    assert (within.verdict, within.stderr) == (Verdict.OK, "")
