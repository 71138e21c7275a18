"""The API: OpenAI-compatible addresses, Argot's own with server-sent events, and MCP tools for other assistants."""
