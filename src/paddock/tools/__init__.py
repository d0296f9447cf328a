"""Tools that scripts call: Python functions and the tools of MCP servers.

broker         answers a script's calls: policy, validation, journal, tool
toolbox        knows every tool, which of them a run may call, and how each is called
catalogue      finds tools by name; search ranks them; describe, stubs* and identifiers show them to models and checkers
functions      Python functions as tools
mcp_config     reads the configuration of MCP servers
upstream       one MCP server: connecting, listing, calling; connection, tool_list and upstream_errors are parts of it
stdio, sse     transports; streamable HTTP is the SDK's, over http_client; message_filter reads what arrives
answers        turns a server's answer into what a script gets; size moves work on large values to a thread
schema*        check arguments, explain what is wrong with them, and convert schemas to types; repair corrects arguments
policy         decides which tools scripts may call, and how often
context        adds the host's values to calls
secrets        redacts credentials; sanitize makes foreign text safe to show
"""
