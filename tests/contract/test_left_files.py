"""Files that a script leaves in its working directory become artifacts, and attached files are there too."""

from __future__ import annotations

import pytest

from paddock import File, Paddock
from paddock.errors import RequestError
from paddock.model.result import RunResult

ATTACHED = [File("sales.csv", b"a,b\n1,2\n"), File("helpers.py", b"RATE = 3"), File("json.py", b"raise SystemExit")]


async def kept(paddock: Paddock, result: RunResult) -> dict[str, bytes]:
    assert result.error is None, result.error
    return {each.filename: await paddock.read_artifact(each.id) for each in result.artifacts}


async def test_new_files_are_artifacts(paddock: Paddock) -> None:
    code = (
        "import os\nopen('a.txt', 'w').write('one')\n"
        "os.makedirs('out/deep')\nopen('out/deep/b.bin', 'wb').write(b'\\xff')\n"
        "open('/files/c.csv', 'w').write('x')\nopen('empty', 'w').close()\n5"
    )
    result = await paddock.run(code)
    assert (result.output, result.warnings) == (5, ())
    assert await kept(paddock, result) == {"a.txt": b"one", "out/deep/b.bin": b"\xff", "c.csv": b"x", "empty": b""}
    assert {each.filename: each.mime_type for each in result.artifacts}["a.txt"] == "text/plain"


async def test_attached_files_are_in_the_working_directory(paddock: Paddock) -> None:
    # A data directory below /tmp is mounted there too, in a folder.
    code = "import json, os, helpers\nnames = sorted(name for name in os.listdir() if not os.path.isdir(name))\n"
    result = await paddock.run(f"{code}[open('sales.csv').read(), helpers.RATE, json.dumps(1), names]", files=ATTACHED)
    assert result.output == ["a,b\n1,2\n", 3, "1", ["helpers.py", "json.py", "sales.csv"]]
    assert result.artifacts == ()


@pytest.mark.parametrize(
    "change",
    [
        "open('sales.csv', 'a').write('3,4\\n')",
        "open('/files/sales.csv', 'a').write('3,4\\n')",
        "open('new', 'w').write('a,b\\n1,2\\n3,4\\n')\nimport os\nos.replace('new', 'sales.csv')",
    ],
)
async def test_a_changed_file_is_an_artifact(paddock: Paddock, change: str) -> None:
    result = await paddock.run(change, files=ATTACHED)
    assert await kept(paddock, result) == {"sales.csv": b"a,b\n1,2\n3,4\n"}


async def test_a_file_that_is_an_artifact_already_is_kept_once(paddock: Paddock) -> None:
    write = "open('a.csv', 'w').write(text)\nawait create_artifact('a.csv', 'x')"
    assert len((await paddock.run(write, inputs={"text": "x"})).artifacts) == 1
    assert len((await paddock.run(write, inputs={"text": "y"})).artifacts) == 2


async def test_what_cannot_be_kept_is_named(paddock: Paddock) -> None:
    code = (
        "import os\nwith open('sparse.bin', 'wb') as file:\n    file.truncate(40 << 20)\n"
        "open('bad\\nname', 'w').close()\nopen('fine', 'w').close()\nopen('locked', 'w').close()\nos.chmod('locked', 0)"
    )
    result = await paddock.run(code)
    assert set(await kept(paddock, result)) == {"fine"}
    assert sorted(result.warnings) == [
        "'bad\\nname' was not kept: a file name must have 1 to 255 characters and no control characters.",
        "locked was not kept: Permission denied.",
        "sparse.bin was not kept: the files of a run may have at most 16 MB.",
    ]


async def test_links_caches_and_hidden_files_are_not_kept(paddock: Paddock) -> None:
    code = (
        "import os, tempfile\nos.symlink('/etc/passwd', 'link')\nos.symlink('.', 'loop')\nos.mkdir('__pycache__')\n"
        "open('__pycache__/x.pyc', 'w').close()\nopen('.hidden', 'w').close()\ntempfile.mkstemp(dir='.')\n"
        "import contextlib\nwith contextlib.suppress(PermissionError):\n    os.mkfifo('pipe')\n1"
    )
    result = await paddock.run(code)
    assert (result.artifacts, result.warnings) == ((), ())


async def test_a_failed_run_keeps_its_files(paddock: Paddock) -> None:
    result = await paddock.run("open('partial.txt', 'w').write('x')\n1 / 0")
    assert (result.verdict, [each.filename for each in result.artifacts]) == ("raised", ["partial.txt"])


async def test_a_program_keeps_its_files_too(paddock: Paddock) -> None:
    result = await paddock.run(
        "open('a.txt', 'w').write(open('x.txt').read())", mode="script", files=[File("x.txt", b"y")]
    )
    assert await kept(paddock, result) == {"a.txt": b"y"}


async def test_an_attached_file_named_like_the_program_stays_as_it_is(paddock: Paddock) -> None:
    result = await paddock.run("print(open('/files/main.py').read())", mode="script", files=[File("main.py", b"mine")])
    assert result.stdout == "mine\n"


async def test_nothing_is_kept_without_the_option(paddock: Paddock) -> None:
    assert (await paddock.run("open('a.txt', 'w').close()", keep_files=False)).artifacts == ()
    with pytest.raises(RequestError, match="keep_files must be True or False, not 'yes'"):
        await paddock.run("1", keep_files="yes")  # type: ignore[arg-type]
