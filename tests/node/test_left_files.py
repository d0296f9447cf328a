"""Files that a script wrote end with its run, which is told."""

from __future__ import annotations

from tests.node.conftest import Run

WRITE = "const fs = require('fs')\nconst write = (name) => fs.writeFileSync(name, 'x')\n"
KEEP = "keep one with await codeExec.createArtifact(name, fs.readFileSync(path))."


async def test_they_are_named(run: Run) -> None:
    result = await run(f"{WRITE}write('report.csv'); write('/tmp/fig.png'); 5")
    assert result.output == 5
    assert result.warnings == (f"Files that the script wrote are deleted after the run (fig.png, report.csv): {KEEP}",)


async def test_ten_at_most(run: Run) -> None:
    result = await run(f"{WRITE}for (let n = 10; n < 25; n++) write(`f${{n}}`)")
    names = ", ".join(f"f{n}" for n in range(10, 20))
    assert result.warnings == (f"Files that the script wrote are deleted after the run ({names} and 5 more): {KEEP}",)


async def test_not_those_that_are_removed_or_kept(run: Run) -> None:
    code = (
        f"{WRITE}write('a'); fs.unlinkSync('a'); write('b')\nawait codeExec.createArtifact('b', fs.readFileSync('b'))"
    )
    assert (await run(code)).warnings == ()


async def test_a_program_is_told_to_print(run: Run) -> None:
    code = "require('fs').writeFileSync('report.csv', 'x')"
    result = await run(code, mode="script", tools=[])
    assert result.warnings == (
        "Files that the script wrote are deleted after the run (report.csv): print what you need of them.",
    )
    assert (await run("console.log(1)", mode="script")).warnings == ()


async def test_a_program_that_fails_is_told_nothing_of_them(run: Run) -> None:
    result = await run("require('fs').writeFileSync('report.csv', 'x'); process.exit(3)", mode="script")
    assert (result.exit_code, result.warnings) == (3, ())
