"""The MCP server. `mcp` answers requests. Its other modules:

- `services` holds what all callers share: the Paddock, the store, the sessions and the queue. `runs`, `artifacts` and
  `session_tools` are what callers do with them; `readiness` is the health check. None of these knows about MCP.
- `run_queue` decides which runs may start; `sessions` describes callers and keeps their state between calls.
- `code_tools` turns definitions into MCP tools; `builtin_tools` and `artifact_tools` are all other tools. `tool` is the
  form of tools and results. `prompts` explains the code tools to an agent.
- `stdio` and `http` are the transports; `connections` and `request_memory` limit what HTTP requests take, and
  `authentication` and `jwt_issuer` identify who sends them. `rest` is the REST API.
- For operators: `metrics`, `logs`, `tracing` and `audit` say what happens; `allowances` limits each caller; `reload`
  applies a changed configuration.
"""
