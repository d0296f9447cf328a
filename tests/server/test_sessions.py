"""Sessions: what a server keeps for clients, and for how long."""

from __future__ import annotations

import json

import pytest
from mcp import Client

from paddock import Config
from paddock.model.request import LOCAL
from paddock.server import sessions as sessions_module
from paddock.server.mcp import make_server
from paddock.server.sessions import CONNECTION, MAX_SESSIONS, Sessions
from paddock.store.tokens import UNVERIFIED_PREFIX
from tests.server.shared_services import open_services
from tests.store.working import session_row
from tests.tools.upstreams import plain


def test_an_idle_session_is_forgotten_and_others_stay() -> None:
    time = [0.0]
    sessions = Sessions(idle_seconds=100, now=lambda: time[0])
    first, lasting = sessions.get("first"), sessions.get("second")
    time[0] = 90
    assert sessions.get("second") is lasting
    time[0] = 150
    assert sessions.get("second") is lasting
    assert len(sessions) == 1
    assert sessions.get("first") is not first


def test_sessions_that_clients_open_and_leave_do_not_add_up() -> None:
    sessions = Sessions()
    first, used = sessions.get("first"), sessions.get("used")
    for number in range(MAX_SESSIONS + 5):
        sessions.get(f"left-{number}")
        assert sessions.get("used") is used
    assert len(sessions) <= MAX_SESSIONS + 1
    assert sessions.get("first") is not first


def test_the_session_over_stdio_is_never_forgotten() -> None:
    time = [0.0]
    sessions = Sessions(idle_seconds=100, now=lambda: time[0])
    only = sessions.get(CONNECTION)
    time[0] = 10_000
    assert sessions.get(CONNECTION) is only


async def test_the_store_has_the_last_use_and_the_state_of_a_session() -> None:
    fields = {"region": {"argument": "region", "servers": ["it"]}}
    accounts = {"it": [{"id": "first"}, {"id": "second"}]}
    config = Config(upstreams={"it": plain()}, context=fields, connections=accounts)
    async with open_services(config) as services, Client(make_server(services)) as client:
        await client.list_tools()
        session = services.sessions.get(CONNECTION)
        assert await session_row(services.store, session.id) is None
        run = (await client.call_tool("run_code", {"code": "1"})).structured_content
        begun = await session_row(services.store, session.id)
        await client.call_tool("set_region", {"region": "eu"})
        await client.call_tool("select_connections", {"it": "second"})
        now = await session_row(services.store, session.id)
        stored = await services.store.runs.get(LOCAL, run["run_id"])
    assert begun is not None
    assert now is not None
    assert stored is not None
    assert json.loads(begun.state_json) == {"context": {}, "connections": {}, "files": []}
    assert json.loads(now.state_json) == {"context": {"region": "eu"}, "connections": {"it": "second"}, "files": []}
    assert (now.created_at, stored.connection) == (begun.created_at, session.id)


def test_a_flood_of_sessions_leaves_those_of_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sessions_module, "MAX_SESSIONS", 10)
    known = Sessions()
    kept = known.get("of ann", "ann")
    for number in range(50):
        known.get(f"of bob {number}", "bob")
        known.get(f"of nobody {number}", f"{UNVERIFIED_PREFIX}{number}")
    assert known.get("of ann", "ann") is kept
    assert len(known) <= 11
