"""Root directories of the profile `chroot` are removed with the environment that they were made of, not before."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest

from paddock.config import Config, JailConfig
from paddock.jail import environments, profiles
from paddock.jail.environments import builds
from paddock.jail.uid_block import BLOCK_SIZE, HALF, UidBlock
from paddock.jail.walls import roots
from paddock.jail.zygote import Spec
from paddock.run import Paddock
from tests.bare import BARE
from tests.jail.forked import forked
from tests.uids import OWN

pytestmark = pytest.mark.skipif(
    os.geteuid() != 0 and "CI" not in os.environ, reason="only root has a use for root directories, and can make them"
)


def root_of(name: str, data: Path) -> tuple[Path, int]:
    """Make a root as the profile does, from a build of one file for an environment of that name."""
    build = builds(data) / f"key-of-{name}"
    build.mkdir(parents=True)
    (build / "module.py").write_text("1")
    environments.record(name, build.name, data)
    root, held = roots.acquire(str(environments.roots_of(data)), [str(build)], [str(build)])
    assert (root / str(build).lstrip("/") / "module.py").exists()
    return root, held


def left(data: Path) -> set[str]:
    return {path.name for path in environments.roots_of(data).iterdir()} - {"lock"}


def test_roots_are_where_the_profile_keeps_them(tmp_path: Path) -> None:
    spec = profiles.make_spec("chroot", Config(data_directory=str(tmp_path)), Spec("python", "runtime:serve"))
    assert spec.roots_directory == str(environments.roots_of(tmp_path))


def test_a_root_goes_with_its_environment_and_no_other(tmp_path: Path) -> None:
    (gone, first), (kept, second) = root_of("gone", tmp_path), root_of("kept", tmp_path)
    os.close(first)
    os.close(second)
    assert environments.remove("gone", tmp_path).removed == ["key-of-gone"]
    assert left(tmp_path) == {kept.name, f"{kept.name}.used"}
    assert not gone.exists()


def test_a_root_in_use_stays_until_another_is_removed(tmp_path: Path) -> None:
    used, held = root_of("used", tmp_path)
    environments.remove("used", tmp_path)
    assert left(tmp_path) == {used.name, f"{used.name}.used"}
    os.close(held)
    environments.remove("used", tmp_path)
    assert left(tmp_path) == set()


def test_a_root_stays_with_a_build_that_another_name_stands_for(tmp_path: Path) -> None:
    shared, held = root_of("one", tmp_path)
    os.close(held)
    environments.record("other", "key-of-one", tmp_path)
    assert environments.remove("one", tmp_path).shared == ["key-of-one"]
    assert left(tmp_path) == {shared.name, f"{shared.name}.used"}


def test_where_there_never_was_a_root_an_environment_is_removed_all_the_same(tmp_path: Path) -> None:
    (builds(tmp_path) / "key").mkdir(parents=True)
    environments.record("plain", "key", tmp_path)
    assert environments.remove("plain", tmp_path).removed == ["key"]
    assert not environments.roots_of(tmp_path).exists()


def test_the_roots_of_two_environments_stay_beside_each_other(tmp_path: Path) -> None:
    one, held = root_of("one", tmp_path)
    os.close(held)  # nobody uses it when the other is made
    other, held = root_of("other", tmp_path)
    os.close(held)
    assert one.exists()
    made = one.stat().st_ino, other.stat().st_ino
    for name in ("one", "other"):
        build = str(builds(tmp_path) / f"key-of-{name}")
        os.close(roots.acquire(str(environments.roots_of(tmp_path)), [build], [build])[1])
    assert (one.stat().st_ino, other.stat().st_ino) == made


def test_a_root_whose_runtime_has_changed_goes_when_the_next_is_made(tmp_path: Path) -> None:
    old, held = root_of("old", tmp_path)
    os.close(held)
    os.utime(builds(tmp_path) / "key-of-old", (1, 1))
    new, held = root_of("new", tmp_path)
    os.close(held)
    assert left(tmp_path) == {new.name, f"{new.name}.used"}
    assert not old.exists()


def test_a_guest_does_not_see_when_an_earlier_one_has_touched_a_device(tmp_path: Path) -> None:
    root, held = root_of("touched", tmp_path)
    os.close(held)

    def times() -> list[int]:
        os.chroot(root)
        roots.make_slot("7", 7)
        devices = [path for path in Path("/slots/7/dev").iterdir() if path.is_char_device()]
        for path in devices:
            os.utime(path, (1, 1))
        roots.make_slot("7", 7)
        return [int(time) for path in devices for time in (path.stat().st_atime, path.stat().st_mtime)]

    found = forked(times)
    assert found
    assert 1 not in found


def test_a_guest_does_not_find_the_package_set_that_an_earlier_one_with_its_uid_had(tmp_path: Path) -> None:
    root, held = root_of("shown", tmp_path)
    os.close(held)

    def make() -> None:
        os.chroot(root)
        roots.make_slot("7", 7)

    def found(installed: Path) -> list[list[str]]:
        make()
        os.chroot("/slots/7")
        os.setresuid(7, 7, 7)
        folders = (installed, *installed.parents[:3])
        return [[each.name for each in folder.iterdir()] for folder in folders if os.access(folder, os.R_OK)]

    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        installed = Path(folder, "packages", "sets", "key", "site")
        installed.mkdir(parents=True)
        (installed / "six.py").touch()
        forked(make)
        roots.add_to_slot(str(root.parent), json.loads(Path(f"{root}.used").read_text()), "7", str(installed))
        assert forked(lambda: found(installed)) == [["six.py"]]


def test_a_package_set_that_was_not_shown_completely_is_shown_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As after a SIGKILL."""
    source, target, link = tmp_path / "site", tmp_path / "root" / "packages" / "sets" / "key" / "site", os.link
    source.mkdir()
    for name in ("six.py", "seven.py"):
        (source / name).touch()

    def fail(old: str, new: str) -> None:
        monkeypatch.setattr(os, "link", link)
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "link", fail)
    with pytest.raises(KeyboardInterrupt):
        roots._link(str(source), target)
    roots._link(str(source), target)
    assert {each.name for each in target.iterdir()} == {"six.py", "seven.py"}


async def test_files_of_guests_whose_reapers_were_killed_go_when_a_warden_starts(visible_data: Path) -> None:
    base = OWN + (1 << 30)
    settings = replace(BARE, jail=JailConfig(profile="chroot", uid_base=base), data_directory=str(visible_data))

    async def uid() -> int:
        async with Paddock(settings) as paddock:
            result = await paddock.run("import os\nos.getuid()", engine="cpython")
            assert isinstance(result.output, int)
            return result.output

    [used] = environments.roots_of(visible_data).glob(f"*/{roots.SLOTS}/{await uid()}")
    first = base + -base % BLOCK_SIZE
    unused, in_use, foreign = first + HALF - 1, first + BLOCK_SIZE, base + profiles.UIDS
    slots = {owner: used.parent / str(owner) for owner in (unused, in_use, foreign, first + 2 * BLOCK_SIZE)}
    block = UidBlock(in_use, BLOCK_SIZE)
    try:
        for slot in slots.values():
            (slot / "tmp" / "left" / "behind").mkdir(parents=True)
        await uid()
        assert {owner for owner, slot in slots.items() if list((slot / "tmp").iterdir())} == {in_use, foreign}
    finally:
        block.close()
        for slot in slots.values():
            shutil.rmtree(slot)


async def test_wardens_that_start_together_do_not_keep_each_other_from_uids(
    visible_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each removes what was left of all the others' uids."""
    base = OWN + (1 << 30) + (1 << 20)
    first = base + -base % BLOCK_SIZE
    settings = replace(BARE, jail=JailConfig(profile="chroot", uid_base=base), data_directory=str(visible_data))

    async def run() -> None:
        async with Paddock(settings) as paddock:
            assert (await paddock.run("1 + 1", engine="cpython")).output == 2

    await run()
    monkeypatch.setattr(profiles, "UIDS", 1 << 16)
    [used] = environments.roots_of(visible_data).glob(f"*/{roots.SLOTS}/{first}")
    slots = [used.parent / str(uid) for uid in range(first + HALF - 1, first + profiles.UIDS, BLOCK_SIZE)]
    try:
        for slot in slots:
            (slot / "tmp").mkdir(parents=True)
            for number in range(200):
                (slot / "tmp" / str(number)).mkdir()
        await asyncio.gather(*(run() for _ in range(4)))
    finally:
        for slot in slots:
            shutil.rmtree(slot)


async def test_a_hundred_wardens_have_uids_at_once(visible_data: Path) -> None:
    """With `jail.fresh_layout`, each guest has one."""
    base = OWN + (1 << 30) + (2 << 20)
    settings = replace(BARE, jail=JailConfig(profile="chroot", uid_base=base), data_directory=str(visible_data))
    blocks = [UidBlock(base, 1 << 20) for _ in range(100)]
    try:
        async with Paddock(settings) as paddock:
            assert (await paddock.run("1 + 1", engine="cpython")).output == 2
    finally:
        for block in blocks:
            block.close()
