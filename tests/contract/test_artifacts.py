"""Artifacts: made and read inside, kept outside, and never a reason to raise."""

from __future__ import annotations

import pytest

from paddock.model.artifacts import ARTIFACT_BYTES, Artifact
from paddock.model.events import Done, Output
from paddock.model.result import Verdict
from tests.contract.conftest import Rig

BIG = {"memory_bytes": 512 * 1024 * 1024, "output_bytes": 1024 * 1024}


async def test_an_artifact_is_kept_and_described_to_script_and_caller_alike(rig: Rig) -> None:
    result = await rig.run("await create_artifact('report.csv', 'item,price\\nlämp,40\\n', 'text/csv')")
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
    made = (await rig.run("await create_artifact('notes.md', '# größe', 'md')")).artifacts[0]
    result = await rig.run("await read_artifact(ref)", inputs={"ref": getattr(made, by)})
    wanted = {"success": True, "content": "# größe", "size": 9, "filename": "notes.md", "mimeType": "text/markdown"}
    assert (result.output, result.artifacts) == (wanted, ())


async def test_the_newest_of_a_name_is_read(rig: Rig) -> None:
    code = """
await create_artifact('n.txt', 'old', 'txt')
await create_artifact('n.txt', 'new', 'txt')
(await read_artifact('n.txt'))['content']
"""
    result = await rig.run(code)
    assert (result.output, [artifact.size for artifact in result.artifacts]) == ("new", [3, 3])


async def test_bytes_stay_bytes(rig: Rig) -> None:
    code = """
made = await create_artifact('image.png', b'\\x89PNG\\xff\\x00')
read = await read_artifact(made['id'])
return [made['mimeType'], made['size'], isinstance(read['content'], bytes), read['content'] == b'\\x89PNG\\xff\\x00']
"""
    assert (await rig.run(code)).output == ["image/png", 6, True, True]


@pytest.mark.parametrize(
    ("name", "content", "file_type", "wanted"),
    [
        ("a", "'text'", "None", "text/plain"),
        ("a", "b'\\xff'", "None", "application/octet-stream"),
        ("a.json", "'{}'", "None", "application/json"),
        ("a.json", "'{}'", "'csv'", "text/csv"),
        ("a.bin", "'x'", "'.MD'", "text/markdown"),
        ("a.txt", "'x'", "'application/x-own'", "application/x-own"),
    ],
)
async def test_its_type_is_the_one_given_or_follows_from_its_name(
    rig: Rig, name: str, content: str, file_type: str, wanted: str
) -> None:
    result = await rig.run(f"await create_artifact({name!r}, {content}, {file_type})")
    assert result.artifacts[0].mime_type == wanted


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("create_artifact('', 'x')", "a file name has 1 to 255 characters, and no control characters"),
        ("create_artifact('a\\nb', 'x')", "a file name has 1 to 255 characters, and no control characters"),
        ("create_artifact('a' * 256, 'x')", "a file name has 1 to 255 characters, and no control characters"),
        ("create_artifact(5, 'x')", "an artifact needs a file name"),
        ("create_artifact('a', [1])", "the content of an artifact is text or bytes, not list"),
        ("create_artifact('a', 'x', 5)", "the type of an artifact is a MIME type, such as text/csv"),
        ("read_artifact('none')", "there is no artifact 'none'; give the id, the URL or the file name of one"),
        ("read_artifact(5)", "read_artifact takes the id or the name of an artifact"),
    ],
)
async def test_a_failure_is_an_answer_and_no_exception(rig: Rig, code: str, error: str) -> None:
    result = await rig.run(f"await {code}")
    assert (result.verdict, result.output, result.artifacts) == (
        Verdict.OK,
        {"success": False, "error": error},
        (),
    )


async def test_one_that_is_too_large_is_refused_and_the_run_goes_on(rig: Rig) -> None:
    code = f"""
large = await create_artifact('a', 'x' * {ARTIFACT_BYTES + 1})
most = await create_artifact('b', 'x' * {ARTIFACT_BYTES})
return [large, most['size']]
"""
    result = await rig.run(code, limits=BIG)
    error = f"an artifact has at most 16 MB, and this one has {ARTIFACT_BYTES + 1} bytes"
    assert result.output == [{"success": False, "error": error}, ARTIFACT_BYTES]


async def test_one_run_makes_only_so_much(rig: Rig) -> None:
    code = f"""
content = 'x' * {ARTIFACT_BYTES}
made = [(await create_artifact('a' + str(n), content))['success'] for n in range(6)]
return made
"""
    result = await rig.run(code, limits=BIG)
    assert (result.output, len(result.artifacts)) == ([True] * 4 + [False] * 2, 4)


async def test_what_was_made_before_an_error_is_kept(rig: Rig) -> None:
    result = await rig.run("await create_artifact('a.txt', 'x')\n1 / 0")
    assert (result.verdict, [artifact.filename for artifact in result.artifacts]) == (Verdict.RAISED, ["a.txt"])


async def test_artifacts_made_at_once_are_listed_in_the_order_of_the_program(rig: Rig) -> None:
    code = "import asyncio\nlen(await asyncio.gather(*[create_artifact(str(n), 'x') for n in range(10)]))"
    result = await rig.run(code)
    assert (result.output, [artifact.filename for artifact in result.artifacts]) == (10, [str(n) for n in range(10)])


async def test_a_stream_tells_of_an_artifact_when_it_is_made(rig: Rig) -> None:
    events = [event async for event in rig.stream("print('a')\nx = await create_artifact('a.txt', 'x')\nprint('b')")]
    assert [type(event).__name__ for event in events] == ["Output", "Artifact", "Output", "Done"]
    assert isinstance(events[0], Output)
    assert isinstance(events[3], Done)
    assert events[3].result.artifacts == (events[1],)


async def test_a_name_is_never_a_path(rig: Rig) -> None:
    result = await rig.run("await create_artifact('../../etc/passwd', 'x')\n(await read_artifact('/etc/passwd'))")
    assert (result.output["success"], result.artifacts[0].filename) == (False, "../../etc/passwd")
