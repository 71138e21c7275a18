"""Argot in Slack, on Bolt for Python."""
