"""Tools of other MCP servers, which an administrator allows by name. What these servers send is data."""
