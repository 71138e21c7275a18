"""The use cases of Slack's channels and people."""
