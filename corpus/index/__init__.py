"""The vector index in Chroma: what is embedded, generations, soundness, and the outbox of what is not in SQLite."""
