"""What only the host may add to a call is known by its name, and belongs to a tool that declares it."""

from __future__ import annotations

from typing import Any

import pytest

from paddock.tools.by_hand import passed_by_hand


@pytest.mark.parametrize(
    "name",
    ["token", "accessToken", "API-Key", "authorization", "password", "Cookie", "connectionId", "session_id", "_meta"],
)
def test_credentials_and_connections_are_the_hosts(name: str) -> None:
    schemas: list[dict[str, Any]] = [{}, {"type": "object"}, {"properties": {"a": {}}}, {"properties": None}]
    for schema in schemas:
        assert passed_by_hand({"a": 1, name: "x"}, schema) == [name]


@pytest.mark.parametrize("name", ["text", "page_token", "nextToken", "keyword", "region", "session", "tokens", ""])
def test_other_fields_are_the_scripts(name: str) -> None:
    assert passed_by_hand({name: 1}, {}) == []


@pytest.mark.parametrize("schema", [{"properties": {"token": {}}}, {"properties": {"api_key": {"type": "string"}}}])
def test_a_tool_that_declares_such_a_field_takes_them(schema: dict[str, Any]) -> None:
    assert passed_by_hand({"token": "x"}, schema) == []
