"""The MCP server, over stdio and over HTTP. `mcp.py` is the way in; `services.py` is what it stands on."""
