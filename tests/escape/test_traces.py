"""The suite looks for traces after each hostile program. Here traces are left on purpose, and must be found."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from subprocess import PIPE

import pytest

from paddock.jail.profiles import UIDS
from paddock.jail.walls import roots
from tests.escape import traces
from tests.escape.conftest import UID_BASE, Rig

ALONE = """
from paddock.jail.walls import namespaces
namespaces.unshare(namespaces.NEW_NET)
print("on", flush=True)
input()
"""


async def left(rig: Rig, before: traces.Traces) -> dict[str, object]:
    return traces._excess(before, await traces.settled(rig.paddock))


@pytest.mark.parametrize("rig", ["namespaces", "chroot"], indirect=True)
async def test_a_network_namespace_is_seen(rig: Rig) -> None:
    assert (await rig.run("1 + 1")).output == 2
    before = await traces.settled(rig.paddock)
    # Two, because one that was about to end may have been counted before.
    processes = [subprocess.Popen([sys.executable, "-c", ALONE], stdin=PIPE, stdout=PIPE) for _ in range(2)]
    assert [process.stdout and process.stdout.readline() for process in processes] == [b"on\n", b"on\n"]
    assert {"processes", "networks"} <= (await left(rig, before)).keys()
    for process in processes:
        process.communicate(b"\n")
    await traces.same_as(before, rig.paddock)


@pytest.mark.parametrize("rig", ["chroot"], indirect=True)
async def test_a_file_of_a_guest_is_seen(rig: Rig) -> None:
    assert (await rig.run("1 + 1")).output == 2
    before = await traces.settled(rig.paddock)
    data = Path(rig.paddock._config.data_directory)
    ours = {str(uid) for uid in range(UID_BASE, UID_BASE + UIDS)}
    slot = next(slot for slot in data.glob("roots/*/slots/*") if slot.name in ours)
    for folder in roots.WRITABLE:
        (slot / folder / "paddock-escape").touch()
        assert await left(rig, before) == {"written": {f"{slot / folder}/paddock-escape"}}
        (slot / folder / "paddock-escape").unlink()
    await traces.same_as(before, rig.paddock)
