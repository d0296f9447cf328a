"""Definitions on disk: each save is a version, and old versions stay known."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from paddock.store import definitions as stored
from paddock.store.database import Store
from paddock.store.definitions import peek_versions


async def test_each_change_of_a_definition_is_a_new_version(store: Store) -> None:
    definitions = store.definitions
    first = await definitions.save("ada", "report", {"description": "one"})
    same = await definitions.save("ada", "report", {"description": "one"})
    second = await definitions.save("ada", "report", {"description": "two"})
    assert (first.version, same, second.version) == (1, first, 2)
    assert await definitions.list("ada") == [second]
    history = await definitions.history("ada", "report")
    assert [(was.version, was.is_current, was.spec) for was in history] == [
        (2, True, {"description": "two"}),
        (1, False, {"description": "one"}),
    ]


async def test_a_removed_definition_continues_its_version_numbers_when_saved_again(store: Store) -> None:
    definitions = store.definitions
    await definitions.save("ada", "report", {"a": 1})
    assert (await definitions.remove("ada", "report"), await definitions.remove("ada", "report")) == (True, False)
    assert await definitions.list("ada") == []
    (removed,) = await definitions.history("ada", "report")
    assert removed.removed_at is not None
    assert (await definitions.save("ada", "report", {"a": 1})).version == 2


async def test_old_versions_and_removed_names_make_room_for_later_ones(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stored, "OLD_BYTES", 4 * (stored.VERSION_BYTES + 1100))
    definitions, names = store.definitions, [f"n{number}" for number in range(20)]
    await definitions.save("eve", "hers", {"text": "x" * 1000})
    await definitions.remove("eve", "hers")
    await definitions.save("ada", "kept", {"text": "x" * 1000})
    for name in names:
        await definitions.save("ada", name, {"text": "x" * 1000})
        await definitions.remove("ada", name)
    await definitions.save("ada", "kept", {"text": "y"})
    assert [name for name in names if await definitions.history("ada", name)] == names[-4:]
    assert [each.spec["text"] for each in await definitions.list("ada")] == ["y"]
    assert len(await definitions.history("eve", "hers")) == 1


async def test_definitions_of_another_principal_are_invisible(store: Store) -> None:
    definitions = store.definitions
    saved = await definitions.save("ada", "report", {})
    assert (await definitions.list("eve"), await definitions.history("eve", "report")) == ([], [])
    assert not await definitions.remove("eve", "report")
    hers = await definitions.save("eve", "report", {"hers": True})
    assert (await definitions.list("ada"), await definitions.list("eve")) == ([saved], [hers])


async def test_current_definitions_are_listed_by_name(store: Store) -> None:
    for name in ("b", "a", "c"):
        await store.definitions.save("ada", name, {})
    await store.definitions.save("ada", "a", {"new": True})
    assert [(each.name, each.version) for each in await store.definitions.list("ada")] == [("a", 2), ("b", 1), ("c", 1)]


async def test_concurrent_saves_each_create_a_version_and_one_is_current(path: Path) -> None:
    async with Store(path) as one, Store(path) as two:
        saves = [(one, two)[number % 2].definitions.save("ada", "report", {"a": number}) for number in range(10)]
        assert sorted(saved.version for saved in await asyncio.gather(*saves)) == list(range(1, 11))
        history = await one.definitions.history("ada", "report")
    assert [saved.is_current for saved in history] == [True] + [False] * 9


async def test_current_versions_can_be_read_without_opening_the_store(store: Store, tmp_path: Path) -> None:
    await store.definitions.save("ada", "report", {"a": 1})
    await store.definitions.save("ada", "report", {"a": 2})
    await store.definitions.save("ada", "gone", {})
    await store.definitions.remove("ada", "gone")
    await store.definitions.save("eve", "other", {})
    versions = await store.definitions.versions("ada")
    assert peek_versions(store.path, "ada") == versions
    assert {name: number for name, (number, _) in versions.items()} == {"report": 2}
    assert peek_versions(tmp_path / "nothing.db", "ada") == {}
    (tmp_path / "odd.db").write_bytes(b"not a database" * 100)
    assert peek_versions(tmp_path / "odd.db", "ada") is None
