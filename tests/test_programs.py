"""A script as a program of its own: main.py, arguments, an exit code."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from paddock.errors import RequestError
from paddock.model.files import File
from paddock.model.result import Verdict
from paddock.run import Paddock
from tests.bare import BARE

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def paddock() -> AsyncIterator[Paddock]:
    async with Paddock(BARE) as opened:
        yield opened


@pytest.mark.parametrize(
    ("code", "verdict", "exit_code", "error"),
    [
        ("print('x')", Verdict.OK, 0, None),
        ("import sys; sys.exit()", Verdict.OK, 0, None),
        ("import sys; sys.exit(3)", Verdict.RAISED, 3, "SystemExit"),
        ("import sys; sys.exit('no')", Verdict.RAISED, 1, "SystemExit"),
        ("import os; os._exit(0)", Verdict.OK, 0, None),
        ("import os; os._exit(7)", Verdict.RAISED, 7, "SystemExit"),
        ("import os; os.execv('/bin/sh', ['sh', '-c', 'exit 5'])", Verdict.RAISED, 5, "SystemExit"),
        ("1 / 0", Verdict.RAISED, 1, "ZeroDivisionError"),
        ("return 1", Verdict.REJECTED, 1, "SyntaxError"),
        ("x = = 1", Verdict.REJECTED, 1, "SyntaxError"),
        ("'\ud800'", Verdict.REJECTED, None, "SyntaxError"),
        ("import os; os.kill(os.getpid(), 11)", Verdict.CRASHED, None, "Crashed"),
        ("while True: pass", Verdict.TIMEOUT, None, "TimeoutError"),
    ],
)
async def test_its_exit_code_decides_how_it_ended(
    paddock: Paddock, code: str, verdict: Verdict, exit_code: int | None, error: str | None
) -> None:
    wall_seconds = 0.3 if verdict is Verdict.TIMEOUT else 30
    result = await paddock.run(code, mode="script", limits={"wall_seconds": wall_seconds})
    assert (result.verdict, result.exit_code, result.output) == (verdict, exit_code, None)
    assert (result.error.type if result.error else None) == error


async def test_it_finds_its_arguments_and_an_empty_standard_input(paddock: Paddock) -> None:
    code = "import sys\nprint(sys.argv, __name__, repr(sys.stdin.read()))"
    result = await paddock.run(code, mode="script", argv=["a b", "--ü", ""])
    assert result.stdout == "['main.py', 'a b', '--ü', ''] __main__ ''\n"
    assert (result.engine, result.engine_reason) == ("cpython", "script mode")


async def test_its_traceback_is_on_its_stderr(paddock: Paddock) -> None:
    result = await paddock.run("print('out')\n1 / 0", mode="script", engine="cpython")
    assert (result.stdout, result.engine_reason) == ("out\n", "requested")
    assert result.stderr.startswith('Traceback (most recent call last):\n  File "main.py", line 2, in <module>\n')
    assert result.stderr.endswith("ZeroDivisionError: division by zero\n")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"mode": "scrip"}, "unknown mode 'scrip'; did you mean 'script'?"),
        ({"mode": "script", "engine": "monty"}, "engine 'monty' cannot run programs"),
        ({"mode": "script", "type_check": True}, "type_check does not work in mode 'script'"),
        ({"argv": ["x"]}, "set mode='script' too"),
        ({"mode": "script", "argv": "x"}, "argv must be a list of strings, not str"),
        ({"mode": "script", "argv": [1]}, "argv contains 1, which cannot be a program's argument"),
        ({"mode": "script", "argv": ["a\0b"]}, "cannot be a program's argument"),
        ({"mode": "script", "argv": ["\ud800"]}, "cannot be a program's argument"),
        ({"mode": "script", "argv": ["x" * 200_000]}, "argv is larger than 128 KB"),
    ],
)
async def test_invalid_requests_for_a_program_are_refused(
    paddock: Paddock, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(RequestError, match=message):
        await paddock.run("1", **options)


async def test_without_full_python_a_program_is_refused() -> None:
    async with Paddock(engines={"monty": "paddock.engines.monty:MontyEngine"}) as light:
        result = await light.run("1", mode="script")
    assert result.error is not None
    assert (result.verdict, result.error.type) == (Verdict.REJECTED, "EngineUnavailable")


async def test_any_number_of_files_may_be_attached(paddock: Paddock) -> None:
    files = [File(f"a-rather-long-name-of-an-attached-file-{number}.csv", b"x") for number in range(1000)]
    result = await paddock.run("print(len(files))", mode="script", files=files)
    assert result.stdout == "1000\n"


async def test_a_file_that_grows_beyond_its_limit_is_an_error_of_the_program(paddock: Paddock) -> None:
    code = "import os\nwith open('a', 'wb') as file:\n    file.write(b'x' * 1001)"
    result = await paddock.run(code, mode="script", limits={"file_bytes": 1000})
    assert result.stderr.endswith("OSError: [Errno 27] File too large\n")
    within = await paddock.run(code, mode="script", limits={"file_bytes": 1001})
    assert (within.verdict, within.stderr) == (Verdict.OK, "")


@pytest.mark.parametrize("end", ["", "\nos._exit(0)"])
async def test_an_incomplete_character_at_the_end_becomes_a_replacement_character(paddock: Paddock, end: str) -> None:
    result = await paddock.run(f"import os\nos.write(1, b'a\\xe2\\x82')\nos.write(2, b'\\xc3'){end}", mode="script")
    assert (result.verdict, result.stdout, result.stderr) == (Verdict.OK, "a\ufffd", "\ufffd")
