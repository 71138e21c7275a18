"""learning.db: sets of training pairs, and what people changed in them."""
