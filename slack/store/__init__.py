"""The Slack app's own store."""
