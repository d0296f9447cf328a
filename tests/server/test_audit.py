"""The audit log: what is recorded, by whom it can be read, and what is never in it."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from paddock import Config
from paddock.config import ServerConfig, ToolsConfig
from paddock.server.audit import FAILURES_PER_MINUTE, Audit
from paddock.server.authentication import Identity, Unauthorized
from paddock.server.services import Services
from tests.cli.command import Ended, paddock
from tests.rest.conftest import REQUIRED, price, serve_rest
from tests.server.shared_services import stored_in


def entries(source: Services | Audit | Path) -> list[dict[str, Any]]:
    """The entries without their times."""
    audit = source.audit if isinstance(source, Services) else source
    path = audit.path if isinstance(audit, Audit) else audit
    found = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    return [{name: value for name, value in each.items() if name != "time"} for each in found]


async def test_accepted_and_refused_tokens_are_recorded_by_their_ids_and_never_by_their_texts() -> None:
    async with serve_rest(REQUIRED) as rest:
        token_id, text = await rest.services.store.tokens.add("ada")
        revoked_id, revoked = await rest.services.store.tokens.add("bob")
        await rest.services.store.tokens.revoke("bob")
        for token in (text, text, revoked, "pdk_000000000000_madeup", "anything"):
            await rest.http.get("/health", headers={"Authorization": f"Bearer {token}"})
        await rest.http.get("/health")
        found, raw = entries(rest.services), rest.services.audit.path.read_text()
        mode = rest.services.audit.path.stat().st_mode & 0o777
    here = {"address": "127.0.0.1"}
    assert found == [
        {"event": "auth.accepted", "principal": "ada", "token": token_id, **here},
        {"event": "auth.refused", "reason": "the token was revoked", "token": revoked_id, **here},
        {"event": "auth.refused", "reason": "this server does not know the token", **here},
        {"event": "auth.refused", "reason": found[3]["reason"], **here},
        {"event": "auth.refused", "reason": found[4]["reason"], **here},
    ]
    assert not any(secret in raw for secret in (text, revoked, "madeup", "anything", text.rpartition("_")[2]))
    assert mode == 0o600


async def test_a_call_that_the_policy_refuses_is_recorded_once_for_each_run() -> None:
    policy = ({"match": "price", "action": "deny"}, {"match": "cost", "action": "ask"})

    def cost(item: str) -> int:
        return len(item)

    config = replace(Config(engine="monty"), tools=ToolsConfig(policy=policy))
    code = """
for tool in ["price", "price", "cost"]:
    try:
        await call_tool(tool, {"item": "pass1234"})
    except Exception:
        pass
"""
    async with serve_rest(config, tools=[price, cost]) as rest:
        run = await rest.run(code)
        found, raw = entries(rest.services), rest.services.audit.path.read_text()
    whose = {"principal": "local", "run_id": run["run_id"]}
    assert found == [
        {"event": "policy.deny", **whose, "tool": "price", "rule": "match = 'price', action = 'deny'"},
        {"event": "policy.ask", **whose, "tool": "cost", "rule": "match = 'cost', action = 'ask'"},
    ]
    assert "pass1234" not in raw


async def test_definitions_that_are_saved_and_deleted_over_rest_are_recorded() -> None:
    async with serve_rest(Config(engine="monty", server=ServerConfig())) as rest:
        body = {"description": "Adds.", "code": "1 + 1"}
        saved = await rest.http.put("/definitions/sums", json=body)
        assert saved.status_code == 200, saved.text
        await rest.http.delete("/definitions/sums")
        found = entries(rest.services)
    whose = {"principal": "local", "name": "sums"}
    assert found == [
        {"event": "definition.saved", **whose, "version": 1},
        {"event": "definition.removed", **whose},
    ]


@pytest.fixture
def command(tmp_path: Path) -> Callable[..., Ended]:
    return partial(paddock, PADDOCK_DATA_DIRECTORY=str(tmp_path), PADDOCK_STORE__PATH=str(tmp_path / "paddock.db"))


def test_commands_that_change_something_are_recorded(command: Callable[..., Ended], tmp_path: Path) -> None:
    text = command("tokens", "add", "ada", "--role", "operator").out.strip()
    command("tokens", "revoke", "ada")
    found = entries(tmp_path / "audit.jsonl")
    token = {"principal": "ada", "token": text.split("_")[1]}
    by = found[0]["by"]
    assert by.startswith("uid ")
    assert found == [
        {"event": "token.added", "by": by, **token, "role": "operator"},
        {"event": "token.revoked", "by": by, **token},
    ]


def test_a_flood_of_failures_is_counted_and_not_recorded_one_by_one(tmp_path: Path) -> None:
    audit = Audit(stored_in(tmp_path))
    for _ in range(FAILURES_PER_MINUTE + 1000):
        audit.refused(Unauthorized("no"), "127.0.0.1")
    assert len(entries(audit)) == FAILURES_PER_MINUTE


def test_a_text_from_outside_cannot_forge_an_entry(tmp_path: Path) -> None:
    audit = Audit(stored_in(tmp_path))
    audit.authenticated(Identity('jwt:x\n{"event": "token.added"}', "user", token="JWT"), "127.0.0.1")  # noqa: S106
    assert [each["event"] for each in entries(audit)] == ["auth.accepted"]


def test_a_link_in_place_of_the_log_is_not_followed(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.touch()
    audit = Audit(stored_in(tmp_path))
    audit.path.symlink_to(victim)
    audit.record("token.added")
    assert victim.read_bytes() == b""


def test_a_pipe_in_place_of_the_log_is_not_waited_for(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    audit = Audit(stored_in(tmp_path))
    os.mkfifo(audit.path)
    audit.record("token.added")
    assert "the event token.added is missing" in caplog.text
