"""Use cases that every surface may ask for: one function each, grouped by subject."""
