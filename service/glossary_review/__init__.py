"""Decisions of managers: missed terms, meanings mined from the documents, and the impact of a change."""
