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
def create_contact(name: str, email: str) -> str:
    """Create a contact and return its id."""
    if "@" not in email:
        raise ValueError("the email address has no @")
    return f"contact-{len(name)}"


if __name__ == "__main__":
    server.run()
