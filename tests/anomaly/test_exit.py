"""A host that ran something ends quietly: exit code 0 and nothing on stderr, every time."""

from __future__ import annotations

import json
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
WITH_A_LOOP = (
    "import asyncio\nfrom paddock import Paddock\ndef tool(): pass\nasync def main():\n    {}\nasyncio.run(main())"
)
PROGRAMS = {
    **{name: WITH_A_LOOP.format(ending) for name, ending in ENDINGS.items()},
    "closed, without a loop": "from paddock import Paddock\n"
    "with Paddock() as p: print(p.run_sync('1 + 1', engine='monty').output)",
    "left open, without a loop": "from paddock import Paddock\n"
    "p = Paddock()\nprint(p.run_sync('1 + 1', engine='monty').output)",
}
LOADED = """
import asyncio, json, os, sys
import paddock.run, paddock.engines.monty, paddock.tools.broker
folder, programs, times = sys.argv[1], json.loads(sys.argv[2]), int(sys.argv[3])
def forked():
    for name, program in programs.items():
        places = {}
        for number in range(times):
            place = f"{folder}/{name}.{number}"
            os.environ["TMPDIR"] = f"{place}.tmp"
            os.mkdir(os.environ["TMPDIR"])
            pid = os.fork()
            if pid == 0:
                for descriptor, stream in ((1, "out"), (2, "err")):
                    os.dup2(os.open(f"{place}.{stream}", os.O_CREAT | os.O_WRONLY), descriptor)
                return program
            places[pid] = place
        for _ in places:
            pid, status = os.wait()
            os.mkdir(f"{places[pid]}.ended-{os.waitstatus_to_exitcode(status)}")
    sys.exit()
exec(forked())
"""
"""Goes on as several processes for each program, which have loaded what takes long, and end as any interpreter does."""
FORKS = 2


@pytest.fixture(scope="module")
def forked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what the forks said, left and ended with: `PROGRAM.NUMBER.out` and so on."""
    folder = tmp_path_factory.mktemp("forked")
    loaded = start(LOADED, str(folder), json.dumps(PROGRAMS), str(FORKS))
    assert (*loaded.communicate(), loaded.returncode) == ("", "", 0)
    return folder


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_process_that_ran_something_ends_quietly_and_leaves_no_folder(
    name: str, forked: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that was just started, and several that others were forked from."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    started = start(PROGRAMS[name])
    assert (*started.communicate(), started.returncode) == ("2\n", "", 0)
    assert list(tmp_path.iterdir()) == []
    for number in range(FORKS):
        place = forked / f"{name}.{number}"
        said = [place.with_name(f"{place.name}.{stream}").read_text() for stream in ("out", "err")]
        has_ended = place.with_name(f"{place.name}.ended-0").exists()
        assert (said, has_ended) == (["2\n", ""], True), sorted(forked.glob(f"{place.name}.ended*"))
        assert list(place.with_name(f"{place.name}.tmp").iterdir()) == []


def test_importing_the_package_starts_nothing_and_loads_little() -> None:
    program = (
        "import sys, threading\nimport paddock\n"
        "heavy = {'asyncio', 'pydantic_monty', 'msgspec', 'typer', 'rich', 'subprocess', 'paddock.run'}\n"
        "print(sorted(heavy & sys.modules.keys()), threading.active_count())"
    )
    host = start(program)
    assert (*host.communicate(), host.returncode) == ("[] 1\n", "", 0)
