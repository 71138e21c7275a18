"""On whose behalf Slack asks."""
