"""The five settings that Paddock must know, really made: which profile holds there, what it holds, what is left.

These tests need root, to become everything else. What the jail needs and a machine does not have makes them fail.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar

import pytest

from paddock.cli.doctor import _show
from paddock.cli.render import Screen
from paddock.jail.limits import BEST_EFFORT, REQUIRED
from paddock.jail.walls import landlock
from tests.jail import place as places
from tests.jail.place import ORDINARY, Place
from tests.uids import OWN

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.skipif(os.geteuid() != 0 and "CI" not in os.environ, reason="only root can make the other settings"),
]
IDS = 1 << 20
BASE = OWN + (1 << 29)
SCRIPTS = "jail/setting_scripts.py"
COMMAND = ("typer", "click", "annotated_doc", "shellingham", "rich")
"""What the command `paddock` needs beside what the library does."""


@pytest.fixture(scope="module")
def place() -> Iterator[Place]:
    with places.made("settings", [SCRIPTS], COMMAND) as made:
        yield made


def run(place: Place, kind: str, *, accept: bool = False, missing: Sequence[str] = ()) -> dict[str, Any]:
    """Run the scripts in that setting. It has its own uids, so whatever has them afterwards was left behind."""
    return place.told(kind, SCRIPTS, BASE, accept=accept, missing=missing)


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
    assert "allow unshare" in reasons[1]
    assert "only root can change the root directory" in reasons[2]
    assert "jail.accept_confined" in reasons[3]
    assert left(place.folder) == []


def test_an_ordinary_user_who_may_not_mount_proc_has_namespaces_without_it(place: Place) -> None:
    told = run(place, "masked")
    assert (told["profile"], held(told), told["children"]) == ("namespaces", NAMESPACES, [])
    assert (told["results"]["proc"], told["uids"]) == (["ok", False, None], [ORDINARY])
    assert left(place.folder) == []


def unavailable(place: Place, kind: str, *missing: str, accept: bool = False) -> list[str]:
    """The lines of the error that says why nothing runs there."""
    told = run(place, kind, missing=missing, accept=accept)
    assert list(told) == ["unavailable"]
    assert left(place.folder) == []
    lines: list[str] = told["unavailable"].splitlines()
    return lines


NO_SECCOMP = (
    "[Errno 38] seccomp: Function not implemented; the kernel needs CONFIG_SECCOMP_FILTER, and a container must allow "
    "seccomp(2)."
)
NO_LANDLOCK = "Landlock: not in this kernel; it needs Linux 5.13 with `landlock` in CONFIG_LSM or in lsm= at boot."


@pytest.mark.parametrize(
    ("kind", "accept", "built"),
    [("root", False, ["namespaces", "chroot"]), ("container", False, ["chroot"]), ("bare", True, ["confined"])],
)
def test_without_seccomp_nothing_runs(place: Place, kind: str, built: list[str], *, accept: bool) -> None:
    first, *reasons = unavailable(place, kind, "seccomp", accept=accept)
    why = dict(reason.split(": ", 1) for reason in reasons)
    walled = "a guest could not be walled in: OSError: [Errno 38] seccomp: Function not implemented."
    assert (first, list(why)) == ("no profile of the jail works here.", ["namespaces", "chroot", "confined"])
    assert {profile: why[profile] for profile in built} == dict.fromkeys(built, f"{walled} {NO_SECCOMP}")


@pytest.mark.parametrize("kind", ["root", "container"])
def test_landlock_is_a_second_wall_where_there_are_others(place: Place, kind: str) -> None:
    told = run(place, kind, missing=["landlock_create_ruleset"])
    assert (told["profile"], held(told)) == {"root": ("namespaces", NAMESPACES), "container": ("chroot", CHROOT)}[kind]
    assert left(place.folder) == []


def test_without_landlock_nothing_is_confined(place: Place) -> None:
    reasons = unavailable(place, "bare", "landlock_create_ruleset", accept=True)
    assert reasons[3] == f"confined: Landlock is version 0 here, and 3 is needed. {NO_LANDLOCK}"


@pytest.mark.parametrize(("kind", "accept"), [("container", False), ("bare", True)])
def test_where_nothing_bounds_memory_nothing_runs(place: Place, kind: str, *, accept: bool) -> None:
    assert unavailable(place, kind, "/proc", accept=accept) == [f"nothing limits the memory of guests here. {NO_PROC}"]


def test_where_proc_hides_what_cannot_be_read_nothing_runs_without_a_control_group(place: Place) -> None:
    (reason,) = unavailable(place, "bare", "hidepid", accept=True)
    assert "/proc hides processes whose memory cannot be read: mount /proc without hidepid" in reason


NO_PROC = (
    "[Errno 2] No such file or directory: '/proc/self/mountinfo': control groups are found through /proc; or: "
    "/proc does not show the memory of our own children: mount /proc without hidepid and subset, and allow reading "
    "smaps_rollup (Linux 5.4 or newer)"
)


def of_full_python(words: str) -> str:
    return words.partition("\ncpython ")[2].partition("\nquickjs ")[0]


class Doctor:
    """What `paddock doctor` reports about full Python in one setting, as JSON and as text."""

    built: ClassVar[set[Path]] = set()  # homes that have the environment

    def __init__(
        self,
        place: Place,
        kind: str,
        *missing: str,
        accept: bool = False,
        required: bool = False,
        status: int = 0,
    ) -> None:
        self._place, self._kind, self._missing = place, kind, missing
        self._home = place.home(kind, ordinary=kind not in ("root", "container"))
        self._settings = self._home / "paddock.toml"
        self._settings.write_text(
            f"data_directory = '{self._home}/data'\n[jail]\nuid_base = {BASE}\n"
            f"accept_confined = {str(accept).lower()}\nrequire_control_group = {str(required).lower()}\n"
            "[environments.default]\npackages = []\npreload = []\n"
        )
        self._status = status
        if self._home not in self.built:
            self._paddock(0, "env", "build", "default")
            self.built.add(self._home)
        document = json.loads(self._paddock(status, "doctor", "--json"))
        self._document = document
        self.report = next(each for each in document["engines"] if each["name"] == "cpython")

    @property
    def text(self) -> str:
        """The text for the report that was read as JSON."""
        with tempfile.TemporaryFile("w+") as words:
            _show(Screen(words), self._document)
            words.seek(0)
            return of_full_python(words.read())

    @property
    def said(self) -> str:
        """The text that the command prints."""
        return of_full_python(self._paddock(self._status, "doctor"))

    @property
    def kept(self) -> dict[str, str]:
        """The first words of the mechanism behind each guarantee."""
        kept = {each["name"]: each["mechanism"] for each in self.report["guarantees"] if each["mechanism"]}
        return {name: re.split(" ?[:;,(]| that ", mechanism)[0] for name, mechanism in kept.items()}

    @property
    def missing(self) -> dict[str, str]:
        return {each["name"]: each["missing"] for each in self.report["guarantees"] if each["missing"]}

    def _paddock(self, status: int, *arguments: str) -> str:
        ran = subprocess.run(
            self._place.command(self._kind, "-m", "paddock", *arguments, missing=self._missing),
            capture_output=True,
            text=True,
            env=self._place.variables_at(self._home) | {"PADDOCK_CONFIG": str(self._settings)},
            check=False,
        )
        assert (ran.returncode, "Traceback" in ran.stderr) == (status, False), ran.stderr
        return ran.stdout


WITH_NAMESPACES = {
    "files": "mount namespace",
    "network": "network namespace without an interface",
    "processes": "pid namespace",
    "kernel surface": "seccomp",
    "resources": "a watcher",
}
WITH_A_ROOT = WITH_NAMESPACES | {
    "files": "its own root directory",
    "network": "seccomp",
    "processes": "a uid for each guest",
}
ALONE = WITH_A_ROOT | {"files": f"Landlock {landlock.abi()}", "processes": "seccomp"}


@pytest.mark.parametrize(
    ("kind", "profile", "kept"),
    [
        ("root", "namespaces", WITH_NAMESPACES | {"resources": "control group"}),
        ("ordinary", "namespaces", WITH_NAMESPACES),
        ("container", "chroot", WITH_A_ROOT),
        ("bare", "confined", ALONE),
        ("masked", "namespaces", WITH_NAMESPACES),
    ],
)
def test_doctor_tells_what_holds_in_each_setting(place: Place, kind: str, profile: str, kept: dict[str, str]) -> None:
    doctor = Doctor(place, kind, accept=profile == "confined")
    report = doctor.report
    assert (report["available"], report["profile"], doctor.kept, doctor.missing) == (True, profile, kept, {})
    lines = (doctor.said if kind == "root" else doctor.text).splitlines()
    assert re.fullmatch(r"  yes ready in \d+ ms, then \d+\.\d\d ms per run", lines[0])
    held = [f"{each['name']}: {each['mechanism']}" for each in report["guarantees"]]
    assert [line.strip() for line in lines[1:7]] == [f"profile {profile}", *held]
    inexact = {
        each["name"]: each["best_effort"].partition(". ")[0] for each in report["guarantees"] if each["best_effort"]
    }
    assert inexact == ({} if kind == "root" else {"resources": BEST_EFFORT})
    assert [line for line in lines if "best effort" in line] == [
        f"{'':<14}best effort: {each['name']}: {each['best_effort']}"
        for each in report["guarantees"]
        if each["best_effort"]
    ]
    assert [line for line in lines if "missing" in line] == []
    assert left(place.folder) == []


def test_doctor_tells_how_to_get_a_control_group_that_is_required(place: Place) -> None:
    doctor = Doctor(place, "ordinary", required=True)
    assert (doctor.report["available"], doctor.report["detail"]) == (False, "guests cannot be limited here")
    assert doctor.missing["resources"].startswith(REQUIRED)
    assert "systemd-run --user --scope -p Delegate=yes" in doctor.missing["resources"]
    assert f"missing: resources: {doctor.missing['resources']}" in doctor.text


def test_doctor_tells_what_to_allow_where_no_profile_works(place: Place) -> None:
    doctor = Doctor(place, "bare")
    assert (doctor.report["available"], doctor.report["profile"]) == (False, None)
    assert doctor.kept == {"network": "seccomp", "kernel surface": "seccomp", "resources": "a watcher"}
    assert list(doctor.missing) == ["files", "processes"]
    ways = doctor.missing["files"].removeprefix("one of these: ").split("; or ")
    assert [way.partition(": ")[0] for way in ways] == ["namespaces", "chroot", "confined"]
    assert "allow unshare, setns, mount" in ways[0]
    assert "only root can change the root directory" in ways[1]
    assert "set jail.accept_confined" in ways[2]
    for text in (doctor.said, doctor.text):
        assert text.startswith("  no  no profile of the jail works here\n")
        assert f"missing: files, processes: {doctor.missing['files']}" in text


@pytest.mark.parametrize(
    ("kind", "gone", "status", "missing"),
    [
        ("root", "seccomp", 3, {"network": NO_SECCOMP, "kernel surface": NO_SECCOMP}),
        ("bare", "landlock_create_ruleset", 0, {"files": NO_LANDLOCK, "processes": NO_LANDLOCK}),
        ("container", "/proc", 3, {"resources": NO_PROC}),
    ],
)
def test_doctor_tells_what_to_install_where_a_mechanism_is_gone(
    place: Place, kind: str, gone: str, status: int, missing: dict[str, str]
) -> None:
    doctor = Doctor(place, kind, gone, accept=True, status=status)
    assert (doctor.report["available"], doctor.report["profile"]) == (False, None)
    for name, todo in missing.items():
        assert todo.rstrip(".") in doctor.missing[name]
    assert [todo in doctor.text for todo in doctor.missing.values()] == [True] * len(doctor.missing)
