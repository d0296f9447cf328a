"""Takes the arguments out of a large tool call, before the MCP SDK parses the message on the event loop."""

from __future__ import annotations

import json
from typing import Any

REMAINING_BYTES = 128 * 1024
"""The largest message without the arguments of its tool call. The SDK parses it, and keeps what starts a session."""


class Unreadable(Exception):
    """Raised for a message that is not JSON."""


def take_arguments(body: bytes) -> tuple[bytes, dict[str, Any] | None]:
    """Return the message with empty arguments, and those that it had; None if it is not a tool call with some."""
    try:
        message = json.loads(body)
    except (ValueError, RecursionError) as problem:
        raise Unreadable(f"it is not JSON: {problem}") from None
    if not isinstance(message, dict) or message.get("method") != "tools/call":
        return body, None
    params = message.get("params")
    if not isinstance(params, dict) or not isinstance(params.get("arguments"), dict):
        return body, None
    arguments, params["arguments"] = params["arguments"], {}
    return json.dumps(message).encode(), arguments
