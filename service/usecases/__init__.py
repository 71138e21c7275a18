"""Use cases that every surface may call: one function each, grouped by subject."""
