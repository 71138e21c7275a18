"""The Slack app: what comes from Slack, and what is posted there."""
