"""Tools to try things on: those of real servers, as they describe themselves in shape, and a shop of our own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from paddock.config import Config, GuestsConfig, ToolsConfig
from paddock.model.environments import EnvironmentConfig
from paddock.model.tools import Hints, Tool

DATA = Path(__file__).parent / "data"


def real_tools() -> list[Tool]:
    """Tools of the servers `everything`, `filesystem` and `memory` of the MCP project; the texts are ours."""
    servers = json.loads((DATA / "real_tools.json").read_text(encoding="utf-8"))
    return [_tool(server, described) for server, tools in servers.items() for described in tools]


def _tool(server: str, described: dict[str, Any]) -> Tool:
    hints = described["annotations"]
    return Tool(
        server,
        described["name"],
        described["description"],
        described["inputSchema"],
        described.get("outputSchema"),
        Hints(hints.get("readOnlyHint"), hints.get("destructiveHint")),
        title=described["title"],
    )


ORDERS = Tool(
    "shop",
    "orders",
    "Orders of the shop. Newest first.",
    {
        "type": "object",
        "properties": {
            "status": {"enum": ["open", "paid", "sent"], "description": "Only orders in this state"},
            "since": {"type": "string", "format": "date"},
            "limit": {"type": "integer", "default": 20, "minimum": 1, "maximum": 100},
            "customer": {"anyOf": [{"type": "integer"}, {"$ref": "#/$defs/Person"}, {"type": "null"}]},
        },
        "required": ["status"],
        "$defs": {
            "Person": {"type": "object", "properties": {"first name": {"type": "string"}}, "required": ["first name"]}
        },
    },
    {
        "type": "object",
        "properties": {
            "rows": {"type": "array", "items": {"$ref": "#/$defs/Order"}},
            "totals": {"type": "object", "additionalProperties": {"type": "number"}},
            "next": {"type": ["string", "null"]},
        },
        "required": ["rows", "totals"],
        "$defs": {
            "Order": {
                "type": "object",
                "properties": {
                    "id": {"type": "integer"},
                    "state": {"const": "open"},
                    "replaces": {"$ref": "#/$defs/Order"},
                    "lines": {
                        "type": "array",
                        "items": {"type": "object", "properties": {"item": {"type": "string"}}, "required": ["item"]},
                    },
                },
                "required": ["id", "lines"],
            }
        },
    },
    Hints(read_only=True),
    tags=("sales",),
)
CANCEL = Tool(
    "shop",
    "cancel-order",
    "Cancels an order.",
    {"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"], "additionalProperties": False},
    {"type": "boolean"},
    Hints(destructive=True),
    tags=("sales", "danger"),
)
PING = Tool("shop", "ping", "Says that the shop is there.", {"type": "object", "properties": {}})
ANYTHING = Tool("legacy", "orders", "Does what it is told.")
SHOP = [ORDERS, CANCEL, PING, ANYTHING]


def config(tools: ToolsConfig | None = None, /, **upstreams: Any) -> Config:
    """These servers, with guests of the bare environment, which start quickly."""
    return Config(
        environments={**Config().environments, "bare": EnvironmentConfig()},
        cpython=GuestsConfig(environment="bare", min_waiting=1, max_waiting=1),
        tools=tools or ToolsConfig(),
        upstreams=upstreams,
    )
