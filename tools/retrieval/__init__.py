"""Finding passages: hybrid search, re-ranking, triples, and what the documents lack."""
