"""Paddock without Linux: on a Python that imitates macOS, not on a real Mac."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.command import EMPTY, Ended, environment, paddock

ROOT = Path(__file__).parents[2]
PATH = f"{Path(__file__).parent / 'fake_macos'}:{ROOT / 'src'}:{ROOT}"
NO_JAIL = "the jail needs Linux kernel features, which Darwin does not have"


def on_macos(*arguments: str) -> Ended:
    return paddock(*arguments, PYTHONPATH=PATH)


def python(program: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-W", "error", "-c", program]
    return subprocess.run(
        command, capture_output=True, text=True, cwd=EMPTY, env=environment(PYTHONPATH=PATH), timeout=60, check=False
    )


def test_the_fake_macos_lacks_linux_features() -> None:
    names = "pidfd_open eventfd memfd_create waitid P_PID sched_getaffinity setns CLONE_NEWUSER"
    ran = python(
        "import os, platform, select, signal, sys\n"
        f"print(sys.platform, platform.system(), [name for name in {names.split()} if hasattr(os, name)],\n"
        "      hasattr(select, 'epoll'), hasattr(signal, 'pidfd_send_signal'))"
    )
    assert (ran.stdout, ran.stderr) == ("darwin Darwin [] False False\n", "")


def test_a_script_runs_on_monty() -> None:
    assert on_macos("run", "-c", "1 + 1") == Ended(0, "2\n", "")
    result = json.loads(on_macos("run", "-c", "print('hi')\n1 / 0", "--json").out)
    assert (result["verdict"], result["engine"], result["stdout"]) == ("raised", "monty", "hi\n")
    assert result["error"]["type"] == "ZeroDivisionError"


def test_a_failed_script_is_reported_as_run_on_monty_and_not_on_full_python() -> None:
    ended = on_macos("run", "-c", "import pandas")
    assert (ended.status, ended.out) == (1, "")
    *_, error, note = ended.err.splitlines()
    assert error == "ModuleNotFoundError: No module named 'pandas'"
    assert note == f"This ran on monty, which supports a subset of Python; full Python cannot run here: {NO_JAIL}"


@pytest.mark.parametrize("engine", ["cpython", "quickjs", "node"])
def test_an_engine_that_needs_the_jail_is_unavailable(engine: str) -> None:
    language = "python" if engine == "cpython" else "javascript"
    ended = on_macos("run", "-c", "1", "--engine", engine, "--language", language)
    assert (ended.status, ended.out) == (1, "")
    assert f"engine '{engine}' is not available here; available: monty" in ended.err


def test_doctor_reports_what_works_and_what_is_missing_as_json() -> None:
    ended = on_macos("doctor", "--json")
    report = json.loads(ended.out)
    monty, *full = report["engines"]
    assert (ended.status, ended.err, report["platform"]) == (0, "", "Darwin arm64")
    assert (monty["name"], monty["available"], monty["walls"][0].partition(":")[0]) == ("monty", True, "unjailed")
    assert [(engine["name"], engine["available"], engine["detail"]) for engine in full] == [
        (name, False, f"needs the jail: {NO_JAIL}") for name in ("cpython", "quickjs", "node")
    ]
    assert report["missing"] == [
        NO_JAIL,
        "cpython, quickjs and node need the jail; here Python runs on monty alone",
    ]


def test_doctor_reports_what_is_missing_as_text() -> None:
    shown = on_macos("doctor").out.splitlines()
    assert f"cpython   no  needs the jail: {NO_JAIL}" in shown
    assert f"missing   {NO_JAIL}" in shown


LIBRARY = """
import asyncio
from paddock import Paddock, Verdict

def double(number: int) -> int:
    return 2 * number

async def main() -> None:
    async with Paddock(tools=[double]) as paddock:
        for number in range(5):
            result = await paddock.run("(await double({'number': n}))['result']", inputs={"n": number})
            assert (result.engine, result.output) == ("monty", 2 * number), result
        ended = await paddock.run("while True:\\n    pass", limits={"wall_seconds": 0.2})
        assert ended.verdict is Verdict.TIMEOUT, ended
        spinning = asyncio.create_task(paddock.run("while True:\\n    pass"))
        await asyncio.wait([spinning], timeout=0.2)
        spinning.cancel()
        assert isinstance((await asyncio.gather(spinning, return_exceptions=True))[0], asyncio.CancelledError)
        results = await asyncio.gather(*(paddock.run(f"{number} + 1") for number in range(20)))
        assert [result.output for result in results] == list(range(1, 21))

asyncio.run(main())
print("done")
"""


def test_the_library_runs_scripts_calls_tools_times_out_and_cancels() -> None:
    ran = python(LIBRARY)
    assert (ran.stdout, ran.stderr) == ("done\n", "")


def test_lint_works() -> None:
    ended = on_macos("lint", "-c", "import os")
    assert ended.status == 1
    assert "`os` imported but unused" in ended.out
