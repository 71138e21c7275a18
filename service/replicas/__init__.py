"""What several services on the same stores have in common: limits, turns, a secret, and who does what is done once."""
