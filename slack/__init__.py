"""Answers in Slack: a wing of Argot."""
