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


@pytest.mark.parametrize("ending", ENDINGS.values(), ids=ENDINGS)
def test_a_process_that_ran_something_ends_quietly_and_leaves_no_folder(
    ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    program = "import asyncio\nfrom paddock import Paddock\ndef tool(): pass\n"
    program += f"async def main():\n    {ending}\nasyncio.run(main())"
    hosts = [start(program) for _ in range(6)]
    endings = [(*host.communicate(), host.returncode) for host in hosts]
    assert endings == [("2\n", "", 0)] * 6
    assert list(tmp_path.iterdir()) == []


def test_a_process_that_ran_something_without_a_loop_ends_quietly() -> None:
    closed = "from paddock import Paddock\nwith Paddock() as p: print(p.run_sync('1 + 1', engine='monty').output)"
    left_open = "from paddock import Paddock\np = Paddock()\nprint(p.run_sync('1 + 1', engine='monty').output)"
    for program in (closed, left_open):
        hosts = [start(program) for _ in range(4)]
        assert [(*host.communicate(), host.returncode) for host in hosts] == [("2\n", "", 0)] * 4


def test_importing_the_package_starts_nothing_and_loads_little() -> None:
    program = (
        "import sys, threading\nimport paddock\n"
        "heavy = {'asyncio', 'pydantic_monty', 'msgspec', 'typer', 'rich', 'subprocess', 'paddock.run'}\n"
        "print(sorted(heavy & sys.modules.keys()), threading.active_count())"
    )
    host = start(program)
    assert (*host.communicate(), host.returncode) == ("[] 1\n", "", 0)
