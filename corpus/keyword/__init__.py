"""The keyword index in SQLite's FTS5: its content, its queries, its rebuilding."""
