"""The five settings that Paddock must know, really made: which profile holds there, what it holds, what is left.

These tests need root, to become everything else. What the jail needs and a machine does not have makes them fail.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.jail import place as places
from tests.jail.place import ORDINARY, Place

pytestmark = pytest.mark.skipif(
    os.geteuid() != 0 and "CI" not in os.environ, reason="only root can make the other settings"
)
IDS = 2 << 16
BASE = 10_000_000 + os.getpid() % 10_000 * IDS
SCRIPTS = "jail/setting_scripts.py"


@pytest.fixture(scope="module")
def place() -> Iterator[Place]:
    with places.made("settings", [SCRIPTS]) as made:
        yield made


def run(place: Place, kind: str, *, accept: bool = False) -> dict[str, Any]:
    """The scripts in that setting. Its own ids, so that whatever has them afterwards was left there."""
    return place.told(kind, SCRIPTS, BASE, accept=accept)


HELD = {
    "sum": ["ok", 2, None],
    "file": ["ok", "attached", None],
    "write": ["ok", 3, None],
    "secret": ["raised", None, "FileNotFoundError"],
    "host": ["raised", None, "FileNotFoundError"],
    "network": ["raised", None, "PermissionError"],
    "memory": ["out_of_memory", None, "MemoryError"],
    "loop": ["timeout", None, "TimeoutError"],
    "bomb": ["ok", 7, None],
    "daemon": ["ok", "left", None],
    "after": ["ok", [], None],
}
NAMESPACES = HELD | {"disk": ["raised", None, "OSError"], "signal": ["raised", None, "ProcessLookupError"]}
CHROOT = HELD | {"disk": ["crashed", None, "Crashed"], "signal": ["raised", None, "PermissionError"]}
CONFINED = HELD | {
    "secret": ["raised", None, "PermissionError"],
    "host": ["raised", None, "PermissionError"],
    "signal": ["raised", None, "PermissionError"],
    "disk": ["crashed", None, "Crashed"],
    "bomb": ["raised", None, "PermissionError"],
    "daemon": ["raised", None, "PermissionError"],
}


def held(told: dict[str, Any], *ignored: str) -> dict[str, Any]:
    return {name: result for name, result in told["results"].items() if name not in ("uid", "proc", *ignored)}


def left(folder: Path) -> list[str]:
    """What a setting left on the machine: processes with its ids, files in memory, files of guests."""
    found = []
    for status in Path("/proc").glob("[0-9]*/status"):
        try:
            text = status.read_text()
        except (FileNotFoundError, ProcessLookupError):
            continue
        uid = int(text.partition("\nUid:")[2].split()[0])
        if "\nState:\tZ" in text:
            continue  # it holds nothing, and is the first process's to see off
        if uid == ORDINARY or BASE <= uid < BASE + IDS:
            found.append(f"{status}: {uid}")
    found += [str(path) for path in Path("/dev/shm").glob("paddock-*") if path.stat().st_uid == ORDINARY]  # noqa: S108
    return found + [str(path) for path in folder.glob("home-*/data/roots/*/slots/*/tmp/*")]


def test_root_has_namespaces(place: Place) -> None:
    told = run(place, "root")
    assert (told["profile"], held(told), told["children"]) == ("namespaces", NAMESPACES, [])
    assert told["results"]["proc"] == ["ok", True, None]
    assert all(BASE <= uid < BASE + IDS for uid in told["uids"])
    assert left(place.folder) == []


def test_an_ordinary_user_has_namespaces(place: Place) -> None:
    told = run(place, "ordinary")
    assert (told["profile"], held(told), told["children"]) == ("namespaces", NAMESPACES, [])
    assert (told["results"]["proc"], told["uids"]) == (["ok", True, None], [ORDINARY])
    assert left(place.folder) == []


def test_root_in_a_container_has_chroot(place: Place) -> None:
    told = run(place, "container")
    assert (told["profile"], held(told), told["children"]) == ("chroot", CHROOT, [])
    assert told["results"]["proc"] == ["ok", False, None]
    assert all(BASE <= uid < BASE + IDS for uid in told["uids"])
    assert left(place.folder) == []


def test_an_ordinary_user_without_namespaces_has_confined_if_that_is_accepted(place: Place) -> None:
    told = run(place, "bare", accept=True)
    assert (told["profile"], held(told), told["children"]) == ("confined", CONFINED, [])
    assert told["uids"] == [ORDINARY]
    assert left(place.folder) == []


def test_an_ordinary_user_without_namespaces_has_nothing_otherwise_and_is_told_why(place: Place) -> None:
    reasons = run(place, "bare")["unavailable"].splitlines()
    assert reasons[0] == "no profile of the jail works here."
    assert [reason.partition(":")[0] for reason in reasons[1:]] == ["namespaces", "chroot", "confined"]
    assert "let it pass unshare" in reasons[1]
    assert "only root can change the root directory" in reasons[2]
    assert "jail.accept_confined" in reasons[3]
    assert left(place.folder) == []


def test_an_ordinary_user_who_may_not_mount_proc_has_namespaces_without_it(place: Place) -> None:
    told = run(place, "masked")
    assert (told["profile"], held(told), told["children"]) == ("namespaces", NAMESPACES, [])
    assert (told["results"]["proc"], told["uids"]) == (["ok", False, None], [ORDINARY])
    assert left(place.folder) == []
