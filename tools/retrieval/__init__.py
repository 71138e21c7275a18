"""Finding passages: hybrid search, re-ranking, triples, and subjects that the documents lack."""
