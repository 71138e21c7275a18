"""The page that chooses a search strategy."""
