"""Sessions on disk: created and changed by their principal alone."""

from __future__ import annotations

import time
from typing import Any

import pytest
import sqlalchemy as sa

from paddock.errors import RequestError
from paddock.store import sessions, tables
from paddock.store.database import Store
from paddock.store.sessions import STATE_BYTES
from tests.store.working import session_row


async def test_a_session_is_created_then_changed_and_belongs_to_its_principal(store: Store) -> None:
    await store.sessions.save("ada", "s_1", {"region": "eu"})
    made = await session_row(store, "s_1")
    await store.sessions.save("ada", "s_1", {"region": "us"})
    await store.sessions.save("eve", "s_1", {"region": "stolen"})
    changed = await session_row(store, "s_1")
    assert made is not None
    assert changed is not None
    assert (made.state_json, changed.state_json) == ('{"region": "eu"}', '{"region": "us"}')
    assert made.created_at == changed.created_at
    assert changed.principal == "ada"
    assert store.writer.lost == 0


async def test_a_used_session_is_recorded_as_seen_at_most_once_a_minute(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    await store.sessions.save("ada", "s_1", {})
    made = await session_row(store, "s_1")
    await store.sessions.touch("ada", "s_1")
    assert await session_row(store, "s_1") == made
    monkeypatch.setattr(sessions, "SEEN_SECONDS", 0.0)
    await store.sessions.touch("ada", "s_1")
    found = await session_row(store, "s_1")
    assert made is not None
    assert found is not None
    assert found.seen_at > made.seen_at


async def test_a_session_is_the_same_as_long_as_it_is_stored_whatever_the_clock_says(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    created_at = await store.sessions.save("ada", "s_1", {"a": 1})
    monkeypatch.setattr(time, "time", lambda: 1.0)
    assert await store.sessions.save("ada", "s_1", {"a": 2}) == created_at
    assert await store.sessions.get("ada", "s_1") == ({"a": 2}, created_at)
    assert await store.sessions.is_kept("ada", "s_1", created_at)
    await store.writer.write(lambda connection: connection.execute(sa.delete(tables.sessions)))
    again = await store.sessions.save("ada", "s_1", {"a": 1})
    assert again != created_at
    assert not await store.sessions.is_kept("ada", "s_1", created_at)


@pytest.mark.parametrize(
    ("state", "said"), [({"a": object()}, "must be JSON"), ({"a": "x" * STATE_BYTES}, "keep less")]
)
async def test_an_invalid_state_is_refused_and_the_old_one_stays(
    store: Store, state: dict[str, Any], said: str
) -> None:
    await store.sessions.save("ada", "s_1", {"a": 1})
    with pytest.raises(RequestError, match=said):
        await store.sessions.save("ada", "s_1", state)
    found = await session_row(store, "s_1")
    assert found is not None
    assert found.state_json == '{"a": 1}'
