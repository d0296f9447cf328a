"""In `chroot`, guests with the same uid have the same root directory. None finds anything of the last one in it."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from tests.jail import place as places
from tests.jail.place import Place
from tests.uids import OWN

SCRIPTS = "jail/runs_of_one_uid.py"
NEW = {"/tmp": [False, False], "/files": [False, False], "/dev/shm": [False, False]}  # noqa: S108  in the guest


@pytest.fixture(scope="module")
def place() -> Iterator[Place]:
    with places.made("uid", [SCRIPTS]) as made:
        yield made


@pytest.mark.thorough  # making root directories takes long on some disks
@pytest.mark.skipif(os.geteuid() != 0 and "CI" not in os.environ, reason="only root can make the other settings")
@pytest.mark.parametrize(
    ("missing", "null"),
    [((), {}), (("mknod", "mknodat"), {"mode": "0o100600", "content": ""})],
    ids=["devices", "no devices"],
)
def test_a_guest_finds_nothing_of_the_last_one_with_its_uid(
    place: Place, missing: tuple[str, ...], null: dict[str, str]
) -> None:
    home = place.home(f"without-{len(missing)}", ordinary=False)
    told = place.told("container", SCRIPTS, OWN + (1 << 29), missing=missing, home=home)
    assert told == {"left": "ok", "met": NEW | null, "met it": []}
