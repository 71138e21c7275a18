"""learning.db: sets of training pairs, and people's changes to them."""
