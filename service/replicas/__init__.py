"""State that several services on the same stores share: limits, turns, a secret, and work that only one does."""
