"""What the Slack surface keeps, and on whose behalf it asks."""
