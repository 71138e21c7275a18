"""What is searched: vectors in Chroma, words in SQLite's FTS5, and the generations of the vector index."""
