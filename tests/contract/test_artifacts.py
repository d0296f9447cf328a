"""Artifacts: made and read inside, kept outside, and never a reason to raise."""

from __future__ import annotations

import pytest

from paddock.model.artifacts import ARTIFACT_BYTES, Artifact
from paddock.model.events import Done, Output
from paddock.model.result import Verdict
from tests.contract.rigs import Rig, Script

BIG = {"memory_bytes": 512 * 1024 * 1024, "output_bytes": 1024 * 1024}


def create(arguments: str) -> Script:
    return Script(f"await create_artifact({arguments})", f"await codeExec.createArtifact({arguments})")


def read(arguments: str) -> Script:
    return Script(f"await read_artifact({arguments})", f"await codeExec.readArtifact({arguments})")


async def test_an_artifact_is_kept_and_described_to_script_and_caller_alike(rig: Rig) -> None:
    code = Script(
        "await create_artifact('report.csv', 'item,price\\nlämp,40\\n', 'text/csv')",
        "await codeExec.createArtifact('report.csv', 'item,price\\nlämp,40\\n', 'text/csv')",
    )
    result = await rig.run(code)
    (artifact,) = result.artifacts
    assert artifact == Artifact(artifact.id, "report.csv", "text/csv", 20, f"paddock://artifacts/{artifact.id}")
    assert artifact.id.startswith("a_")
    assert result.output == {
        "success": True,
        "id": artifact.id,
        "url": artifact.url,
        "filename": "report.csv",
        "mimeType": "text/csv",
        "size": 20,
    }
    assert await rig.paddock.read_artifact(artifact.id) == "item,price\nlämp,40\n".encode()
    assert result.to_dict()["artifacts"] == [
        {"id": artifact.id, "filename": "report.csv", "mime_type": "text/csv", "size": 20, "url": artifact.url}
    ]


@pytest.mark.parametrize("by", ["id", "url", "filename"])
async def test_a_later_run_reads_it_by_its_id_its_url_or_its_name(rig: Rig, by: str) -> None:
    code = Script(
        "await create_artifact('notes.md', '# größe', 'md')", "codeExec.createArtifact('notes.md', '# größe', 'md')"
    )
    made = (await rig.run(code)).artifacts[0]
    code = Script("await read_artifact(ref)", "await codeExec.readArtifact(ref)")
    result = await rig.run(code, inputs={"ref": getattr(made, by)})
    wanted = {"success": True, "content": "# größe", "size": 9, "filename": "notes.md", "mimeType": "text/markdown"}
    assert (result.output, result.artifacts) == (wanted, ())


async def test_the_newest_of_a_name_is_read(rig: Rig) -> None:
    code = Script(
        """
await create_artifact('n.txt', 'old', 'txt')
await create_artifact('n.txt', 'new', 'txt')
(await read_artifact('n.txt'))['content']
""",
        """
await codeExec.createArtifact('n.txt', 'old', 'txt')
await codeExec.createArtifact('n.txt', 'new', 'txt');
(await codeExec.readArtifact('n.txt')).content
""",
    )
    result = await rig.run(code)
    assert (result.output, [artifact.size for artifact in result.artifacts]) == ("new", [3, 3])


async def test_bytes_stay_bytes(rig: Rig) -> None:
    code = Script(
        """
png = b'\\x89PNG\\xff\\x00'
made = await create_artifact('image.png', png)
read = await read_artifact(made['id'])
return [made['mimeType'], made['size'], isinstance(read['content'], bytes), read['content'] == png]
""",
        """
const png = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0xff, 0)
const made = await codeExec.createArtifact('image.png', png)
const { content } = await codeExec.readArtifact(made.id)
return [made.mimeType, made.size, content instanceof Uint8Array, `${png}` === `${content}`]
""",
    )
    assert (await rig.run(code)).output == ["image/png", 6, True, True]


@pytest.mark.parametrize(
    ("name", "content", "file_type", "wanted"),
    [
        ("a", "'text'", None, "text/plain"),
        ("a", Script("b'\\xff'", "new Uint8Array([255])"), None, "application/octet-stream"),
        ("a.json", "'{}'", None, "application/json"),
        ("a.json", "'{}'", "'csv'", "text/csv"),
        ("a.bin", "'x'", "'.MD'", "text/markdown"),
        ("a.txt", "'x'", "'application/x-own'", "application/x-own"),
    ],
)
async def test_its_type_is_the_one_given_or_follows_from_its_name(
    rig: Rig, name: str, content: str | Script, file_type: str | None, wanted: str
) -> None:
    function, nothing = {
        "python": ("create_artifact", "None"),
        "javascript": ("codeExec.createArtifact", "null"),
    }[rig.language]
    result = await rig.run(f"await {function}({name!r}, {rig.text(content)}, {file_type or nothing})")
    assert result.artifacts[0].mime_type == wanted


@pytest.mark.parametrize(
    ("code", "error"),
    [
        (create("'', 'x'"), "a file name must have 1 to 255 characters and no control characters"),
        (create("'a\\nb', 'x'"), "a file name must have 1 to 255 characters and no control characters"),
        (create(f"'{'a' * 256}', 'x'"), "a file name must have 1 to 255 characters and no control characters"),
        (create("5, 'x'"), "an artifact needs a file name"),
        (create("'a', [1]"), "the content of an artifact must be text or {bytes}, not {list}"),
        (create("'a', 'x', 5"), "the type of an artifact must be a MIME type, such as text/csv"),
        (read("'none'"), "there is no artifact 'none'; pass an artifact's id, URL or file name"),
        (read("5"), "{read} takes the id or the name of an artifact"),
    ],
)
async def test_a_failure_is_an_answer_and_no_exception(rig: Rig, code: Script, error: str) -> None:
    result = await rig.run(code)
    words = {
        "python": {"bytes": "bytes", "list": "list", "read": "read_artifact"},
        "javascript": {"bytes": "a Uint8Array", "list": "object", "read": "readArtifact"},
    }[rig.language]
    assert (result.verdict, result.output, result.artifacts) == (
        Verdict.OK,
        {"success": False, "error": error.format(**words)},
        (),
    )


async def test_one_that_is_too_large_is_refused_and_the_run_goes_on(rig: Rig) -> None:
    code = Script(
        f"""
large = await create_artifact('a', 'x' * {ARTIFACT_BYTES + 1})
most = await create_artifact('b', 'x' * {ARTIFACT_BYTES})
return [large, most['size']]
""",
        f"""
const large = await codeExec.createArtifact('a', 'x'.repeat({ARTIFACT_BYTES + 1}))
const most = await codeExec.createArtifact('b', 'x'.repeat({ARTIFACT_BYTES}))
return [large, most.size]
""",
    )
    result = await rig.run(code, limits=BIG)
    error = "an artifact may be at most 16 MB; this one is larger"
    assert result.output == [{"success": False, "error": error}, ARTIFACT_BYTES]


async def test_one_run_makes_only_so_much(rig: Rig) -> None:
    code = Script(
        f"""
content = 'x' * {ARTIFACT_BYTES}
made = [(await create_artifact('a' + str(n), content))['success'] for n in range(6)]
return made
""",
        f"""
const content = 'x'.repeat({ARTIFACT_BYTES})
const made = []
for (let n = 0; n < 6; n++) made.push((await codeExec.createArtifact(`a${{n}}`, content)).success)
return made
""",
    )
    result = await rig.run(code, limits=BIG)
    assert (result.output, len(result.artifacts)) == ([True] * 4 + [False] * 2, 4)


async def test_what_was_made_before_an_error_is_kept(rig: Rig) -> None:
    made = create("'a.txt', 'x'")
    result = await rig.run(Script(f"{made.python}\n1 / 0", f"{made.javascript}\nnull.nothing"))
    assert (result.verdict, [artifact.filename for artifact in result.artifacts]) == (Verdict.RAISED, ["a.txt"])


async def test_artifacts_made_at_once_are_listed_in_the_order_of_the_program(rig: Rig) -> None:
    code = Script(
        "import asyncio\nlen(await asyncio.gather(*[create_artifact(str(n), 'x') for n in range(10)]))",
        "const all = Array.from({ length: 10 }, (_, n) => codeExec.createArtifact(`${n}`, 'x'));\n"
        "(await Promise.all(all)).length",
    )
    result = await rig.run(code)
    assert (result.output, [artifact.filename for artifact in result.artifacts]) == (10, [str(n) for n in range(10)])


async def test_a_stream_tells_of_an_artifact_when_it_is_made(rig: Rig) -> None:
    code = Script(
        "print('a')\nx = await create_artifact('a.txt', 'x')\nprint('b')",
        "console.log('a')\nconst x = await codeExec.createArtifact('a.txt', 'x')\nconsole.log('b')",
    )
    events = [event async for event in rig.stream(code)]
    assert [type(event).__name__ for event in events] == ["Output", "Artifact", "Output", "Done"]
    assert isinstance(events[0], Output)
    assert isinstance(events[3], Done)
    assert events[3].result.artifacts == (events[1],)


async def test_a_name_is_never_a_path(rig: Rig) -> None:
    one, other = create("'../../etc/passwd', 'x'"), read("'/etc/passwd'")
    result = await rig.run(Script(f"{one.python}\n{other.python}", f"{one.javascript}\n{other.javascript}"))
    assert (result.output["success"], result.artifacts[0].filename) == (False, "../../etc/passwd")
