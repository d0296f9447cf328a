"""Who runs Paddock, and where: an ordinary user has a network too, and where it cannot be enforced it is refused."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests import uids
from tests.jail import place as places
from tests.jail.place import Place
from tests.network.conftest import Internet, Machine
from tests.network.internet import EVIL, GOOD, METADATA

SETTINGS = """
data_directory = "{data}"
[jail]
uid_base = {uid_base}
accept_confined = true
[environments.default]
packages = []
preload = []
"""
FETCH = f"""
import socket, urllib.request
def reach(host):
    try:
        return urllib.request.urlopen(f'http://{{host}}/', timeout=10).read().decode()
    except OSError as problem:
        return type(problem).__name__
[reach('good.com'), reach('evil.com'), reach('{EVIL}'), reach('{METADATA}')]
"""
REACHED = [f"good.com at {GOOD}", "URLError", "URLError", "URLError"]
BUILD = """
import sys
from paddock.config import Config
from paddock.jail.environments import configured
from paddock.jail.environment_build import build
config = Config.load(sys.argv[1])
for name in sys.argv[2:]:
    build(configured(config, name), config.data_directory)
"""


@pytest.fixture(scope="module")
def place() -> Iterator[Place]:
    with places.made("network", ["network/driver.py", "network/held_listener.py"]) as place:
        yield place


@contextmanager
def at(
    internet: Internet, place: Place, kind: str, *before: str, engines: tuple[str, ...] = ("default",)
) -> Iterator[Machine]:
    """A machine in one of the settings of `tests/jail/setting.py`."""
    home = place.home(kind, ordinary=kind in ("ordinary", "bare"))
    settings = home / "paddock.toml"
    settings.write_text(SETTINGS.format(data=home / "data", uid_base=uids.OWN))
    env = place.variables_at(home)
    user = "ordinary" if kind in ("ordinary", "bare") else "root"
    built = subprocess.run(
        place.command(user, "-c", BUILD, str(settings), *engines), env=env, check=False, capture_output=True, text=True
    )
    assert built.returncode == 0, built.stderr
    driver = [str(place.folder / "tests" / "network" / name) for name in (*before, "driver.py")]
    machine = Machine(internet.command(*place.command(kind, *driver, str(settings))), env)
    try:
        yield machine
    finally:
        machine.close()


def test_an_ordinary_user_has_the_same_network(internet: Internet, place: Place) -> None:
    with at(internet, place, "ordinary", engines=("default", "node")) as machine:
        result = machine.run(FETCH, ["good.com"])
        script = "return await (await fetch('http://good.com/')).text()"
        node = machine.run(script, "public", language="javascript", engine="node")
    assert (result["verdict"], result["output"]) == ("ok", REACHED), result["error"]
    assert [each["outcome"] for each in result["network"]] == ["connected", "denied", "denied", "denied"]
    assert result["network"][0]["bytes"] > 50
    assert node["output"] == f"good.com at {GOOD}", node["error"]


@pytest.mark.parametrize(
    ("kind", "before"), [("container", ()), ("bare", ()), ("root", ("held_listener.py",))], ids=str
)
def test_where_a_policy_cannot_be_enforced_the_run_is_refused(
    internet: Internet, place: Place, kind: str, before: tuple[str, ...]
) -> None:
    with at(internet, place, kind, *before) as machine:
        refused = [machine.run("1", network) for network in ("public", ["good.com"])]
        without: dict[str, Any] = machine.run("1 + 1", None)
    assert [each["verdict"] for each in refused] == ["NetworkDenied"] * 2, refused
    assert "no network can be granted on this machine" in refused[0]["error"]["message"]
    assert ("has a listener already" in refused[0]["error"]["message"]) == bool(before)
    assert (without["verdict"], without["output"]) == ("ok", 2), without["error"]


def test_doctor_says_whether_hosts_can_be_granted() -> None:
    def network(*command: str) -> str:
        told = subprocess.run(
            [sys.executable, *command, "paddock", "doctor", "--json"], capture_output=True, check=False
        )
        [cpython] = [each for each in json.loads(told.stdout)["engines"] if each["name"] == "cpython"]
        return str(next(each["mechanism"] for each in cpython["guarantees"] if each["name"] == "network"))

    assert network("-m").endswith("; hosts can be granted")
    held = network(str(Path(__file__).with_name("held_listener.py")))
    assert "; no host can be granted: " in held
    assert "has a listener already" in held


def test_nothing_is_left_behind(internet: Internet, tmp_path: Path) -> None:
    """No thread, descriptor, process or namespace of a network guest outlives its Paddock."""
    program = """
import asyncio, os, sys, threading
from paddock import Config, Paddock
async def main():
    config = Config.load(sys.argv[1])
    for _ in range(2):
        async with Paddock(config) as paddock:
            code = "import urllib.request; urllib.request.urlopen('http://good.com/').read()"
            runs = [paddock.run(code, network="public") for _ in range(3)]
            assert {each.verdict for each in await asyncio.gather(*runs)} == {'ok'}
        descriptors = len(os.listdir('/proc/self/fd'))
    return descriptors
before = len(os.listdir('/proc/self/fd'))
after = asyncio.run(main())
for thread in threading.enumerate():
    if thread.name.startswith('paddock-doors'):
        thread.join(10)
print([each.name for each in threading.enumerate() if each.name.startswith('paddock-doors')],
    len(os.listdir('/proc/self/fd')) - before, os.popen('pgrep -P %d' % os.getpid()).read().split()[1:])
"""
    settings = str(internet.settings("left"))
    told = subprocess.run(
        internet.command(sys.executable, "-c", program, settings), capture_output=True, text=True, check=False
    )
    assert (told.stdout, told.stderr) == ("[] 0 []\n", "")
