"""Node behind the walls of every profile, in the settings that make them.

These tests need root, to become everything else. What the jail needs and a machine does not have makes them fail.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest

from tests.jail import place as places
from tests.jail.place import Place
from tests.uids import OWN

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.skipif(os.geteuid() != 0 and "CI" not in os.environ, reason="only root can make the other settings"),
]
BASE = OWN + (1 << 30)
SCRIPTS = "node/node_setting_scripts.py"


@pytest.fixture(scope="module")
def place() -> Iterator[Place]:
    with places.made("node", [SCRIPTS]) as made:
        yield made


def run(place: Place, kind: str, *, accept: bool = False) -> dict[str, Any]:
    # Node is large: each of the two users has it once, for the settings with namespaces and without.
    ordinary = kind not in ("root", "container")
    home = place.home("ordinary" if ordinary else "root", ordinary=ordinary)
    return place.told(kind, SCRIPTS, BASE, accept=accept, home=home)


HELD = {
    "sum": ["ok", 2, None],
    "file": ["ok", "attached", None],
    "write": ["ok", 3, None],
    "module": ["ok", "/", None],
    "program": ["ok", "2\n", None],
    "thread": ["ok", 7, None],
    "pool": ["ok", "ENOENT", None],
    "secret": ["raised", None, "Error"],
    "network": ["raised", None, "Error"],
    "child": ["ok", "42\n", None],
    "exec": ["crashed", "out\n", "Crashed"],  # it has become a shell, which ended without a word to the host
    "heap": ["out_of_memory", None, "MemoryError"],
    "buffers": ["out_of_memory", None, "MemoryError"],
    "loop": ["timeout", None, "TimeoutError"],
    "abort": ["crashed", None, "Crashed"],
    "typescript": ["ok", 3, None],
}


@pytest.mark.parametrize("kind", ["root", "ordinary", "container"])
def test_with_namespaces_and_without_node_runs_and_nothing_opens(place: Place, kind: str) -> None:
    assert run(place, kind) == HELD


def test_a_confined_node_is_one_process_and_starts_no_other_program(place: Place) -> None:
    assert run(place, "bare", accept=True) == HELD | {
        "child": ["raised", None, "Error"],
        "exec": ["crashed", None, "Crashed"],  # Node ends itself where another program may not be started
    }
