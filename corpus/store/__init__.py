"""corpus.db and the original files: the store, its rows as types, what writes them, ids of derived texts."""
