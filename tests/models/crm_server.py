"""A small MCP server over stdio whose answers are lists and plain values, as many servers' are."""

from __future__ import annotations

from typing import Any

from mcp.server import MCPServer

server = MCPServer("crm")


@server.tool()
def list_orders(limit: int = 2) -> list[dict[str, Any]]:
    """List the newest orders."""
    return [{"id": number, "total": 10.0 * number} for number in range(1, limit + 1)]


@server.tool()
def count_orders() -> int:
    """Count the orders."""
    return 2


@server.tool()
def create_contact(name: str, email: str) -> str:
    """Create a contact and return its id."""
    if "@" not in email:
        raise ValueError("the email address has no @")
    return f"contact-{len(name)}"


@server.tool(structured_output=False)
def read_settings(name: str) -> str:
    """Return the text of a file with settings."""
    return '{"currency": "EUR", "days": 30}'


@server.tool(structured_output=False)
def list_settings() -> list[str]:
    """List the files with settings."""
    return ["billing.json", "orders.json"]


@server.tool(structured_output=True)
def read_notes() -> dict[str, str]:
    """Return the notes, as text under a key."""
    return {"content": "alpha\nbeta\n"}


@server.tool(structured_output=True)
def read_table() -> dict[str, str]:
    """Return a table, as JSON text under a key."""
    return {"content": '{"customers": [{"id": 1}]}'}


if __name__ == "__main__":
    server.run()
