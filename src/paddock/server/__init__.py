"""The MCP server. `mcp` answers requests. Its other modules:

- `stdio` and `http` are the transports; `connections` and `request_memory` limit what HTTP requests take.
- `services` holds what the tools share: the Paddock, the runs in progress, the sessions, the store and the queue.
- `run_queue` decides which runs may start; `sessions` describes callers and keeps their state between calls.
- `tool` is the form of all tools and results; `images` puts images into answers.
- `code_tools` turns definitions into tools that run code.
- `builtin_tools` (detached runs, discovery), `artifact_tools`, `files` and `session_tools` are all other tools.
- `prompts` explains the code tools to an agent; `readiness` is the health check.
"""
