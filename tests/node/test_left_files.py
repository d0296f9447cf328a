"""Files that a script leaves: they become artifacts, or the script is told that they end with its run."""

from __future__ import annotations

import pytest

from paddock import File
from tests.node.conftest import Run

WRITE = "const fs = require('fs')\nconst write = (name) => fs.writeFileSync(name, 'x')\n"
KEEP = "keep one with await codeExec.createArtifact(name, fs.readFileSync(path))."


async def test_they_are_artifacts(run: Run) -> None:
    code = (
        f"{WRITE}write('report.csv'); fs.mkdirSync('out'); write('out/a'); fs.appendFileSync('sales.csv', '!')\n"
        "fs.symlinkSync('/etc/passwd', 'link'); write('.hidden'); fs.readFileSync('/files/sales.csv', 'utf8')"
    )
    result = await run(code, files=[File("sales.csv", b"a,b"), File("other.csv", b"x")])
    assert (result.output, result.warnings) == ("a,b!", ())
    assert [(each.filename, each.size) for each in result.artifacts] == [
        ("out/a", 1),
        ("report.csv", 1),
        ("sales.csv", 4),
    ]


async def test_images_are_outputs_too(run: Run) -> None:
    result = await run(f"{WRITE}write('fig.png'); 5")
    assert [(each.type, each.data, each.artifact) for each in result.outputs] == [("image", b"x", result.artifacts[0])]


async def test_more_images_than_can_be_shown_are_still_artifacts(run: Run) -> None:
    many = f"{WRITE}for (let n = 0; n < 120; n++) fs.writeFileSync(`${{n}}.png`, Buffer.alloc(n < 10 ? 500_000 : 9))\n1"
    result = await run(many)
    assert (result.output, len(result.artifacts), len(result.outputs)) == (1, 120, 100)
    large = f"{WRITE}for (let n = 0; n < 20; n++) fs.writeFileSync(`${{n}}.png`, Buffer.alloc(500_000))\n1"
    result = await run(large)
    assert (result.output, len(result.artifacts), len(result.outputs)) == (1, 20, 16)


@pytest.mark.parametrize("session", [None, "blobs"])
async def test_a_blob_is_an_artifact_with_its_type(run: Run, session: str | None) -> None:
    made = "var blob = new Blob(['a,b'], {type: 'text/csv'})\n"
    result = await run(f"{made}blob", session=session)
    assert result.output == {"type": "bytes", "base64": "YSxi"}
    assert [(each.filename, each.mime_type) for each in result.artifacts] == [("result.csv", "text/csv")]
    created = await run(f"{made}await codeExec.createArtifact('x.csv', blob); 1", session=session)
    assert [(each.filename, each.mime_type) for each in created.artifacts] == [("x.csv", "text/csv")]
    imitation = await run("Object.create(Blob.prototype)", session=session)
    assert imitation.verdict == "ok"


async def test_console_table_shows_rows_as_a_table(run: Run) -> None:
    result = await run("console.log('a'); console.table([{n: 1, s: 'x'}]); console.table([1]); 5")
    [table] = result.outputs
    assert (table.type, table.data, table.is_result, table.stdout_offset) == ("table", [{"n": 1, "s": "x"}], False, 2)
    assert result.output == 5
    assert "(index)" in result.stdout  # what is no table is printed by Node
    printed = await run("console.table([{n: 1}]); 5", keep_files=False)
    assert (printed.outputs, "(index)" in printed.stdout) == ((), True)


@pytest.mark.parametrize("end", ["throw new Error('x')", "process.exit(3)"])
async def test_a_script_that_fails_keeps_them(run: Run, end: str) -> None:
    result = await run(f"{WRITE}write('report.csv'); {end}")
    assert (result.verdict, [each.filename for each in result.artifacts]) == ("raised", ["report.csv"])


async def test_what_cannot_be_kept_is_named(run: Run) -> None:
    result = await run(f"{WRITE}write('a\\nb'); write('large'); fs.truncateSync('large', 40 * 2 ** 20)")
    assert result.artifacts == ()
    assert result.warnings == (
        '"a\\nb" was not kept: a file name must have 1 to 255 characters and no control characters.',
        '"large" was not kept: the files of a run may have at most 16 MB.',
    )


async def test_an_array_of_objects_is_a_table(run: Run) -> None:
    (table,) = (await run("[{item: 'lamp', price: 40}, {item: 'Säge', size: 2}]")).outputs
    assert (table.type, table.is_result, table.data[0]) == ("table", True, {"item": "lamp", "price": 40})
    assert table.text == "item  price  size\nlamp  40     \nSäge         2\n[2 rows x 3 columns]"


async def test_they_are_named(run: Run) -> None:
    result = await run(f"{WRITE}write('report.csv'); write('/tmp/fig.png'); 5", keep_files=False)
    assert result.output == 5
    assert result.warnings == (f"Files that the script wrote are deleted after the run (fig.png, report.csv): {KEEP}",)


async def test_ten_at_most(run: Run) -> None:
    result = await run(f"{WRITE}for (let n = 10; n < 25; n++) write(`f${{n}}`)", keep_files=False)
    names = ", ".join(f"f{n}" for n in range(10, 20))
    assert result.warnings == (f"Files that the script wrote are deleted after the run ({names} and 5 more): {KEEP}",)


async def test_not_those_that_are_removed_or_kept(run: Run) -> None:
    code = (
        f"{WRITE}write('a'); fs.unlinkSync('a'); write('b')\nawait codeExec.createArtifact('b', fs.readFileSync('b'))"
    )
    assert (await run(code, keep_files=False)).warnings == ()
    assert len((await run(code)).artifacts) == 1


async def test_a_program_is_told_to_print(run: Run) -> None:
    code = "require('fs').writeFileSync('report.csv', 'x')"
    result = await run(code, mode="script", tools=[], keep_files=False)
    assert result.warnings == (
        "Files that the script wrote are deleted after the run (report.csv): print what you need of them.",
    )
    assert (await run("console.log(1)", mode="script")).warnings == ()


async def test_a_program_that_fails_is_told_nothing_of_them(run: Run) -> None:
    code = "require('fs').writeFileSync('report.csv', 'x'); process.exit(3)"
    result = await run(code, mode="script", keep_files=False)
    assert (result.exit_code, result.warnings) == (3, ())
