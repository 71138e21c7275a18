"""What a running service writes down about itself: logs, metrics, and the marks that tie them together."""
