"""Sessions on disk: made, seen, changed by one at a time, and over when they expire."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any

import pytest

from paddock.errors import RequestError
from paddock.store.database import Store
from paddock.store.sessions import STATE_BYTES


async def test_a_session_is_there_for_who_made_it_and_for_nobody_else(store: Store) -> None:
    made = await store.sessions.create("ada", {"region": "eu"})
    assert await store.sessions.get("ada", made.id) == made
    assert made.state == {"region": "eu"}
    assert await store.sessions.get("eve", made.id) is None
    assert await store.sessions.update("eve", made.id, lambda state: {}) is None
    assert not await store.sessions.expire("eve", made.id)
    assert (await store.sessions.create("ada")).id != made.id


async def test_changes_of_a_state_that_come_at_once_are_all_in_it(path: Path) -> None:
    async with Store(path) as one, Store(path) as two:
        made = await one.sessions.create("ada", {"count": 0})
        await one.writer.flush()

        def more(state: dict[str, Any]) -> dict[str, Any]:
            return {"count": state["count"] + 1}

        changes = [(one, two)[number % 2].sessions.update("ada", made.id, more) for number in range(20)]
        await asyncio.gather(*changes)
        found = await one.sessions.get("ada", made.id)
    assert found is not None
    assert found.state == {"count": 20}


async def test_a_session_is_over_when_it_expires(store: Store) -> None:
    past = await store.sessions.create("ada", expires_at=time.time() - 1)
    future = await store.sessions.create("ada", expires_at=time.time() + 1000)
    assert await store.sessions.get("ada", past.id) is None
    assert await store.sessions.get("ada", future.id) == future
    assert (await store.sessions.expire("ada", future.id), await store.sessions.expire("ada", future.id)) == (
        True,
        False,
    )
    assert await store.sessions.get("ada", future.id) is None


async def test_a_session_that_is_used_is_noted_as_seen(store: Store) -> None:
    made = await store.sessions.create("ada")
    await store.sessions.touch("ada", made.id)
    await store.sessions.touch("ada", made.id)
    found = await store.sessions.get("ada", made.id)
    assert found is not None
    assert found.seen_at > made.seen_at


@pytest.mark.parametrize(
    ("state", "said"), [({"a": object()}, "must be JSON"), ({"a": "x" * STATE_BYTES}, "keep less")]
)
async def test_a_state_that_cannot_be_kept_is_refused_and_the_old_one_stays(
    store: Store, state: dict[str, Any], said: str
) -> None:
    with pytest.raises(RequestError, match=said):
        await store.sessions.create("ada", state)
    made = await store.sessions.create("ada", {"a": 1})
    with pytest.raises(RequestError, match=said):
        await store.sessions.update("ada", made.id, lambda _: state)
    assert await store.sessions.get("ada", made.id) == made


async def test_one_that_is_kept_is_made_then_changed_and_is_nobody_elses(store: Store) -> None:
    await store.sessions.keep("ada", "s_1", {"region": "eu"})
    made = await store.sessions.get("ada", "s_1")
    await store.sessions.keep("ada", "s_1", {"region": "us"})
    await store.sessions.keep("eve", "s_1", {"region": "stolen"})
    changed = await store.sessions.get("ada", "s_1")
    assert made is not None
    assert changed is not None
    assert (made.state, changed.state) == ({"region": "eu"}, {"region": "us"})
    assert made.created_at == changed.created_at
    assert await store.sessions.get("eve", "s_1") is None
