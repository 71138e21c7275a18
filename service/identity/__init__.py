"""Who there is, how they prove it, and what they may do."""
