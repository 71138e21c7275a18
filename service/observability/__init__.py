"""Records of a running service about itself: logs, metrics, and the ids that connect them."""
