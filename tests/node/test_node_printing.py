"""What a script on Node writes by other ways than its console, and in which order it comes out."""

from __future__ import annotations

import pytest

from paddock.model.result import Verdict
from tests.node.conftest import Run


async def test_what_is_written_stays_in_order_with_the_console(run: Run) -> None:
    result = await run(
        "for (let i = 0; i < 200; i++) {\n  console.log('line', i)\n  process.stdout.write(`written ${i}\\n`)\n}\n"
        "console.error('e')\nprocess.stderr.write('f\\n')\nconsole.warn('g')"
    )
    assert result.stdout == "".join(f"line {i}\nwritten {i}\n" for i in range(200))
    assert (result.stderr, result.error) == ("e\nf\ng\n", None)
    assert [log["text"] for log in result.logs] == [*(f"line {i}" for i in range(200)), "e", "g"]


@pytest.mark.parametrize(
    ("code", "written"),
    [
        ("const b = Buffer.from('ä')\nfor (const byte of b) process.stdout.write(Buffer.of(byte))", "ä"),
        ("process.stdout.write('ÿ', 'latin1')\nprocess.stdout.write('6869', 'hex')", "\ufffdhi"),
        ("process.stdout.write('x'.repeat(600_000) + '\\u20ac')", "x" * 600_000 + "€"),
        ("const o = process.stdout\no.cork()\no.write('1')\no.write('2')\no.uncork()\no.end('3')", "123"),
        ("await new Promise((done) => process.stdout.write('a', done))\nconsole.log('b')", "ab\n"),
        (
            "const { pipeline } = require('stream/promises')\n"
            "await pipeline(require('stream').Readable.from(['a', 'b']), process.stdout, { end: false })",
            "ab",
        ),
        ("new console.Console(process.stdout).log('own')\nconsole.log('ours')", "own\nours\n"),
        ("process.stdout.write('last')\nprocess.exit()", "last"),
    ],
)
async def test_bytes_come_out_as_they_were_written(run: Run, code: str, written: str) -> None:
    result = await run(f"{code}\nreturn")
    assert (result.stdout, result.error) == (written, None)


async def test_too_much_that_is_written_ends_the_run(run: Run) -> None:
    result = await run("for (;;) process.stdout.write('x'.repeat(100))", limits={"output_bytes": 100_000})
    assert (result.verdict, len(result.stdout)) == (Verdict.OUTPUT_LIMIT, 100_000)


async def test_a_program_writes_to_the_streams_themselves(run: Run) -> None:
    child = "require('child_process').execFileSync(process.execPath, ['-e', 'console.log(2)'], { stdio: 'inherit' })"
    result = await run(f"console.log(1)\n{child}\nprocess.stdout.write('3\\n')\n{child}\nconsole.log(4)", mode="script")
    assert (result.stdout, result.logs) == ("1\n2\n3\n2\n4\n", ())
