"""The API: OpenAI-compatible, our own with server-sent events, and tools for other assistants (MCP)."""
