"""corpus.db and the original files: rows, schema, ids, and the outbox of what lies outside the database."""
