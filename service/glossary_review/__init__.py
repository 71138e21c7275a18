"""What managers decide on: missed terms, meanings mined from the documents, and the impact of a change."""
