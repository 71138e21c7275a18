"""corpus.db and the original files: the store, its rows as types, their writers, ids of derived texts."""
