"""What the suite looks for after each hostile program: here it is really left, and must be seen."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from paddock.jail.profiles import UIDS
from paddock.jail.walls import roots
from paddock.jail.walls.cgroup import Slots
from tests.escape import traces
from tests.escape.conftest import UID_BASE, Rig

ALONE = """
from paddock.jail.walls import namespaces
namespaces.unshare(namespaces.NEW_NET)
print("on", flush=True)
input()
"""
WRITES = """
import os, sys
for _ in sys.stdin:
    os.write(int(sys.argv[1]), bytes(1 << 20))
    print("written", flush=True)
"""
GROUPS = 8
"""So many that what others on this machine let go of meanwhile does not hide them all."""


async def left(rig: Rig, before: traces.Traces) -> dict[str, object]:
    return traces._excess(before, await traces.settled(rig.paddock))


async def test_a_network_namespace_is_seen(rig: Rig) -> None:
    if rig.profile == "confined":
        pytest.skip("the suite is where no namespace can be made")
    assert (await rig.run("1 + 1")).output == 2
    before = await traces.settled(rig.paddock)
    with subprocess.Popen([sys.executable, "-c", ALONE], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"on\n"
        assert {"processes", "networks"} <= (await left(rig, before)).keys()
        process.communicate(b"\n")
    await traces.same_as(before, rig.paddock)


async def test_a_file_of_a_guest_is_seen(rig: Rig) -> None:
    if rig.profile != "chroot":
        pytest.skip("guests have no files on a disk")
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


async def test_a_control_group_that_was_removed_and_still_holds_memory_is_seen(rig: Rig) -> None:
    assert (await rig.run("1 + 1")).output == 2
    slots = traces.pool_of(rig.paddock)._bounds._source
    if not isinstance(slots, Slots):
        pytest.skip("a watcher bounds guests here")
    taken = [slots.take() for _ in range(GROUPS)]
    with tempfile.TemporaryFile(dir="/dev/shm") as held:
        before = await traces.settled(rig.paddock)
        command = [sys.executable, "-c", WRITES, str(held.fileno())]
        with subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0, pass_fds=[held.fileno()]
        ) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            for slot in taken:  # what is first written in a group is the group's
                slot.enter(process.pid)
                process.stdin.write(b"\n")
                assert process.stdout.readline() == b"written\n"
        for slot in taken:
            assert slot.kill()
            slot.remove()
            slots._all.remove(slot)
        assert (await left(rig, before)).keys() == {"dying"}
    await traces.same_as(before, rig.paddock)
