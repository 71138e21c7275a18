"""The keyword index in SQLite's FTS5: what it holds, its queries, building it again."""
