"""A package is hostile code: nothing of it runs outside a guest, and nothing of it is written outside its set."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from paddock.jail.exec_installer import INSTALLER_UID
from tests.jail.place import ORDINARY, Place, made
from tests.packages.setting_packages import HANGING
from tests.packages.wheels import wheel
from tests.uids import OWN

MARK = "paddock-startup-ran-outside"
STARTUP = (
    "import os; os.environ['STARTED'] = 'yes'; "
    "[open(f'{{folder}}/{mark}-{{os.getuid()}}', 'w').close() for folder in ('/var/tmp', '/tmp', {home!r}) "
    "if os.access(folder, os.W_OK) and not os.path.exists('/files')]"
)
"""A line of a `.pth` file, which Python executes at its start: leaves a mark, except in a guest, which has /files."""


UV = """#!/bin/sh
secret=$(cat {home}/secret.txt /etc/shadow /etc/machine-id {home}/data/packages/secret 2>/dev/null)
echo x 2>/dev/null > {home}/written || echo x 2>/dev/null > {home}/data/packages/sets/written
echo x 2>/dev/null > here && made=yes
mount -t tmpfs none /tmp 2>/dev/null && mounted=yes
processes=$(ls -d /proc/[0-9]* 2>/dev/null | wc -l)
echo "error: read<$secret> made<$made> mounted<$mounted> uid<$(id -u)> processes<$processes>" >&2
exit 1
"""
"""A program that takes the place of uv, as if what an index sent had taken it over."""
PLANTING = """#!/bin/sh
case "$*" in
*"pip compile"*) printf 'planted==1.0 --hash=sha256:00\\n' > resolved.txt ;;
*"pip install"*)
    mkdir -p site
    echo > site/planted.py
    for folder in "$PWD" "$UV_CACHE_DIR" "$HOME"; do mv $folder $folder-gone; ln -s {home}/victim $folder; done ;;
esac
exit 0
"""
"""Another one, which behaves, and then puts links in the place of its folders."""


@pytest.fixture(scope="module")
def place() -> Iterator[Place]:
    with made("packages", ["packages/setting_packages.py"]) as place:
        yield place


def run(place: Place, kind: str, *, accept: bool = False) -> dict[str, Any]:
    is_ordinary = kind not in ("root", "container")
    home = place.home(kind, ordinary=is_ordinary)
    index = home / "index"
    index.mkdir()
    line = STARTUP.replace("{mark}", MARK).replace("{home!r}", repr(str(home))).replace("{{", "{").replace("}}", "}")
    wheel(index, "greeting", {"greeting.py": "def hello():\n    return 'hello'\n"})
    wheel(index, "other")
    wheel(index, "startup", {"startup.py": "", "startup.pth": line + "\n", "sitecustomize.py": line + "\n"})
    scripts = "[console_scripts]\npython = startup:main\n../../../../evil = startup:main\n"
    wheel(index, "entries", {"entries.py": "", "entries-1.0.dist-info/entry_points.txt": scripts})
    wheel(index, "about", requires=(f"greeting; '{'(' * 5000}'", "file:///etc/passwd", "x @ file:///etc/passwd"))
    wheel(index, "climber", {"climber.py": "", f"../../../../../../{str(home).lstrip('/')}/evil.py": line + "\n"})
    hostile, secret = home / "hostile" / "uv", home / "secret.txt"
    hostile.parent.mkdir()
    hostile.write_text(UV.format(home=home))
    hostile.chmod(0o755)
    hanging = home / "hanging" / "uv"
    hanging.parent.mkdir()
    hanging.write_text(f"#!/bin/sh\nsleep {HANGING} &\nexec sleep {HANGING}\n")
    hanging.chmod(0o755)
    secret.write_text("confidential")
    planting, victim = home / "planting" / "uv", home / "victim" / "site" / "private.txt"
    planting.parent.mkdir()
    planting.write_text(PLANTING.format(home=home))
    planting.chmod(0o755)
    victim.parent.mkdir(parents=True)
    victim.write_text("confidential")
    if is_ordinary:
        own = (index, *index.iterdir(), hostile.parent, hostile, hanging.parent, hanging, secret)
        for path in (*own, *home.glob("victim/**"), planting):
            os.chown(path, ORDINARY, ORDINARY)
    told = place.told(kind, "packages/setting_packages.py", OWN, accept=accept, home=home)
    assert marks(home) == []
    assert not (home / "evil.py").exists()
    assert victim.read_text() == "confidential"  # it was not moved
    assert [path for path in (home / "written", home / "data/packages/sets/written") if path.exists()] == []
    return told


def marks(home: Path) -> list[Path]:
    return [path for folder in (Path("/var/tmp"), Path("/tmp"), home) for path in folder.glob(f"{MARK}*")]  # noqa: S108


@pytest.mark.parametrize(
    ("kind", "accept"), [("root", False), ("ordinary", False), ("container", False), ("bare", True)]
)
def test_the_start_file_of_a_package_runs_in_its_guest_alone(place: Place, kind: str, accept: bool) -> None:
    told = run(place, kind, accept=accept)
    assert told["package"] == told["again"] == ["ok", "hello", None]
    assert told["start file"] == ["ok", "yes", None]
    assert told["none of it"] == ["ok", None, None]
    assert told["later cell"] == ["ok", "hello", None]
    assert told["last cell"] == ["ok", [1, "1.0", "hello"], None]
    assert told["archive path"][0] in ("ok", "rejected")
    assert told["entry points"][0] in ("ok", "rejected")
    assert told["planted links"][1] in (None, [])
    assert told["after planted links"] == ["ok", "hello", None]
    assert told["metadata"][0] == "rejected"
    assert "\n" not in told["metadata"][2]
    said = dict(re.findall(r"(\w+)<(.*?)>", told["hostile uv"]))
    assert (said["read"], said["made"], said["mounted"]) == ("", "yes", "")
    assert told["hanging uv"] == ["the packages were not installed within 1 s: ask for fewer or smaller ones", 0]
    if kind == "root":
        assert said["uid"] == str(INSTALLER_UID)
    if kind != "bare":  # which has no namespaces
        assert int(said["processes"]) < 10
