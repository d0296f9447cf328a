"""Builds that are killed, cancelled, or started twice."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from paddock.errors import EnvironmentFailed
from paddock.jail import environments
from paddock.jail.environment_build import abuild, alease, build, lease
from paddock.jail.environments import Environment, builds
from tests.environments import building, gated, heard, own, sdist


@pytest.fixture(autouse=True)
def packages_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No name here may reach an index, where a package of that name may exist."""
    monkeypatch.setenv("UV_FIND_LINKS", str(tmp_path))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "cache"))


def test_two_processes_that_build_the_same_build_it_once(tmp_path: Path) -> None:
    gate, data = gated(tmp_path, "slow"), tmp_path / "data"
    with building(data, "slow") as first:
        said = heard(first, "Building slow")
        with building(data, "slow") as second:
            waited = heard(second, "Waiting")
            gate.touch()
            said, waited = said + heard(first, "never"), waited + heard(second, "never")
    assert (first.returncode, second.returncode) == (0, 0)
    key = own("slow").key
    assert waited == ["Waiting for another process that builds or removes this environment", key]
    assert said[0].startswith("Building environment 'own'")
    assert said[-1] == key
    assert sorted(path.name for path in builds(data).iterdir()) == [key, f"{key}.lock"]


def test_a_build_that_is_killed_does_not_count_and_is_swept_up(tmp_path: Path) -> None:
    gate, data = gated(tmp_path, "slow"), tmp_path / "data"
    killed = building(data, "slow")
    heard(killed, "Building slow")
    killed.kill()
    killed.communicate()
    assert environments.ready(own("slow"), data) is None
    assert environments.current_build("own", data) is None
    assert environments.partial_of(data, own("slow").key).exists()
    gate.touch()  # what uv still does, it does alone; then it lets go of the lock
    built = build(own("slow"), data)
    assert built.installed == {"slow": "1.0"}
    assert sorted(path.name for path in builds(data).iterdir()) == [built.key, f"{built.key}.lock"]


def test_what_killed_builds_of_others_left_is_swept_up_and_what_is_locked_stays(tmp_path: Path) -> None:
    left, locked = builds(tmp_path) / "left.partial", builds(tmp_path) / "locked.partial"
    for folder in (left, locked):
        (folder / "bin").mkdir(parents=True)
    with environments.lock_of(tmp_path, "locked", exclusive=True) as lock:
        assert lock.try_take()
        build(own(), tmp_path)
        assert (left.exists(), locked.exists()) == (False, True)
    environments.sweep(tmp_path)
    assert not locked.exists()


async def test_a_cancelled_build_ends_uv_and_leaves_nothing(tmp_path: Path) -> None:
    gated(tmp_path, "slow")
    begun, loop = asyncio.Event(), asyncio.get_running_loop()

    def tell(line: str) -> None:
        if "Building slow" in line:
            loop.call_soon_threadsafe(begun.set)

    for start in (abuild, alease):
        task = asyncio.create_task(start(own("slow"), tmp_path / "data", tell))
        await begun.wait()
        begun.clear()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert list(builds(tmp_path / "data").iterdir()) == []


async def test_waiting_for_another_build_can_be_cancelled(tmp_path: Path) -> None:
    builds(tmp_path).mkdir(parents=True)
    waiting, loop = asyncio.Event(), asyncio.get_running_loop()

    def tell(line: str) -> None:
        loop.call_soon_threadsafe(waiting.set)

    with environments.lock_of(tmp_path, own().key, exclusive=True) as lock:
        assert lock.try_take()
        task = asyncio.create_task(abuild(own(), tmp_path, tell))
        await waiting.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task


def test_a_lease_gives_the_old_environment_where_the_new_one_fails(tmp_path: Path) -> None:
    sdist(tmp_path, "broken", "raise SystemExit('no compiler here')")
    with pytest.raises(EnvironmentFailed, match="no compiler here"):
        lease(own("broken"), tmp_path)
    old = build(own(), tmp_path)
    with lease(own("broken"), tmp_path) as held:
        assert held.built == old
        assert "no compiler here" in str(held.problem)
    sdist(tmp_path, "broken")
    with lease(own("broken"), tmp_path) as held:
        assert (held.built.installed, held.problem) == ({"broken": "1.0"}, None)
    assert environments.current_build("own", tmp_path) == held.built


def test_what_is_leased_is_not_removed(tmp_path: Path) -> None:
    with lease(own(), tmp_path) as held, lease(own(), tmp_path):
        assert environments.remove("own", tmp_path) == environments.Removal(in_use=[held.built.key])
        assert environments.current_build("own", tmp_path) == held.built
    assert environments.remove("own", tmp_path) == environments.Removal(removed=[held.built.key])
    assert (list(builds(tmp_path).iterdir()), environments.built_names(tmp_path)) == ([], [])


def test_no_other_user_can_take_the_locks_of_builds(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        build(own(), tmp_path)
    finally:
        os.umask(before)
    locks = [*builds(tmp_path).glob("*.lock"), *builds(tmp_path).parent.glob("*.lock")]
    assert [path.stat().st_mode & 0o777 for path in locks] == [0o600, 0o600]


def test_every_build_that_a_name_stood_for_is_removed_but_what_another_name_shares(tmp_path: Path) -> None:
    sdist(tmp_path, "first")
    sdist(tmp_path, "second")
    first, second = build(own("first"), tmp_path), build(own("second"), tmp_path)
    build(Environment("other", ("first",)), tmp_path)
    assert environments.remove("own", tmp_path) == environments.Removal(removed=[second.key], shared=[first.key])
    assert (environments.current_build("own", tmp_path), environments.current_build("other", tmp_path)) == (None, first)
    assert environments.remove("own", tmp_path) == environments.Removal()


@pytest.mark.parametrize("damage", ["", "{", "[]", '{"key": "x"}'])
def test_a_damaged_record_or_manifest_counts_as_none(tmp_path: Path, damage: str) -> None:
    built = build(own(), tmp_path)
    (builds(tmp_path).parent / "own.json").write_text(damage)
    assert environments.current_build("own", tmp_path) is None
    manifest = Path(built.path) / environments.MANIFEST
    manifest.chmod(0o644)
    manifest.write_text(damage)
    assert environments.ready(own(), tmp_path) is None
    assert build(own(), tmp_path) == built
    assert environments.current_build("own", tmp_path) == built
