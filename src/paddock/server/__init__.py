"""The MCP server, over stdio and over HTTP. `mcp.py` answers requests; `services.py` holds what its tools share."""
