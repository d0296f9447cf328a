"""What clients connect to: the MCP server, over stdio and over HTTP."""
