"""What the graph's nodes use: reading of questions, search, re-ranking, citations."""
