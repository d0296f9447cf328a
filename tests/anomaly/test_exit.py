"""A host that ran something ends quietly: exit code 0 and nothing on stderr, every time."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.anomaly.processes import start

ENDINGS = {
    "a run": "async with Paddock() as p: print((await p.run('1 + 1', engine='monty')).output)",
    "without leaving the block": "p = Paddock(); print((await p.run('1 + 1', engine='monty')).output)",
    "after a timeout": (
        "async with Paddock() as p: "
        "await p.run('while True: pass', engine='monty', limits={'wall_seconds': 0.05}); print(2)"
    ),
    "after a cancelled run": (
        "p = Paddock(); t = asyncio.create_task(p.run('while True: pass', engine='monty')); "
        "await p.run('1', engine='monty'); t.cancel(); await asyncio.wait([t]); await p.aclose(); print(2)"
    ),
    "after output and calls": (
        "p = Paddock(tools=[tool]); r = await p.run('print(1)\\nfor _ in range(5): await tool()', engine='monty'); "
        "await p.aclose(); print(len(r.calls) - 3)"
    ),
}


LOADED = """
import asyncio, os, sys
import paddock.run, paddock.engines.monty_execution, paddock.tools.broker
from paddock import Paddock
for number in range(int(sys.argv[1])):
    if os.fork() == 0:
        for descriptor, name in ((1, "out"), (2, "err")):
            os.dup2(os.open(f"{sys.argv[2]}/{number}.{name}", os.O_CREAT | os.O_WRONLY), descriptor)
        break
else:
    print(*(os.waitstatus_to_exitcode(os.wait()[1]) for _ in range(int(sys.argv[1]))))
    sys.exit()
"""
"""Goes on as so many processes that have loaded what takes long, each of which ends as any interpreter does."""
FORKS = 3


def assert_quiet(program: str, folder: Path) -> None:
    """Run this in a process that was just started, and in several that were not: each says 2 and ends, no more."""
    started, loaded = start(program), start(LOADED + program, str(FORKS), str(folder))
    assert (*started.communicate(), started.returncode) == ("2\n", "", 0)
    assert (*loaded.communicate(), loaded.returncode) == (" ".join("0" * FORKS) + "\n", "", 0)
    said = [[(folder / f"{number}.{name}").read_text() for name in ("out", "err")] for number in range(FORKS)]
    assert said == [["2\n", ""]] * FORKS


@pytest.mark.parametrize("ending", ENDINGS.values(), ids=ENDINGS)
def test_a_process_that_ran_something_ends_quietly_and_leaves_no_folder(
    ending: str, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    program = "import asyncio\nfrom paddock import Paddock\ndef tool(): pass\n"
    program += f"async def main():\n    {ending}\nasyncio.run(main())"
    assert_quiet(program, tmp_path_factory.mktemp("said"))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "program",
    [
        "with Paddock() as p: print(p.run_sync('1 + 1', engine='monty').output)",
        "p = Paddock()\nprint(p.run_sync('1 + 1', engine='monty').output)",
    ],
    ids=["closed", "left open"],
)
def test_a_process_that_ran_something_without_a_loop_ends_quietly(program: str, tmp_path: Path) -> None:
    assert_quiet(f"from paddock import Paddock\n{program}", tmp_path)


def test_importing_the_package_starts_nothing_and_loads_little() -> None:
    program = (
        "import sys, threading\nimport paddock\n"
        "heavy = {'asyncio', 'pydantic_monty', 'msgspec', 'typer', 'rich', 'subprocess', 'paddock.run'}\n"
        "print(sorted(heavy & sys.modules.keys()), threading.active_count())"
    )
    host = start(program)
    assert (*host.communicate(), host.returncode) == ("[] 1\n", "", 0)
