"""Records of a running service about itself: logs, metrics, and the marks that tie them together."""
