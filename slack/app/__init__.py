"""The Slack app: receiving from Slack, and posting there."""
