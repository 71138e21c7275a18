"""The words of senses as each engine finds them: an index of SQLite's FTS5, or a `tsvector` of PostgreSQL.

Words are folded before (`argot.jargon_db.store.search_words`), so that neither engine needs language support. On
PostgreSQL each word of a sense has a weight: A in the term or an alias, B in the expansion, C in the description; the
best one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from argot.databases import Dialect
from argot.jargon_db.store.search_words import SearchRow
from argot.jargon_db.store.writing_connection import WritingConnection

COLUMNS = (1, 2, 3)
"""The columns that are searched: terms and aliases, also expansions, also descriptions."""
_FTS5 = ("{term aliases}", "{term aliases expansion}", "{term aliases expansion description}")
_WEIGHTS = "ABC"
_MAX_WORD_CHARS = 255
"""Maximum of a word on PostgreSQL, which accepts 2,046 bytes; a longer one is found by its beginning."""
_MAX_VECTOR_BYTES = 1_000_000
"""Maximum of the words of one sense: somewhat less than a `tsvector` holds. The rest of a longer description is not
found."""
_BYTES_EACH = 8
_FORGET = {
    "sqlite": "DELETE FROM sense_search WHERE rowid = ?",
    "postgresql": "DELETE FROM sense_search WHERE sense = ?",
}


def index_words(connection: WritingConnection, rows: Iterable[SearchRow]) -> None:
    if connection.dialect.engine == "sqlite":
        connection.add_rows("sense_search", "rowid, term, aliases, expansion, description", rows)
    else:
        connection.add_rows("sense_search", "sense, words", ((row[0], _build_vector(row)) for row in rows))


def forget_words(connection: WritingConnection, senses: Iterable[int]) -> None:
    connection.executemany(_FORGET[connection.dialect.engine], [(sense,) for sense in senses])


def build_word_query(dialect: Dialect, words: Sequence[str], columns: int) -> str:
    """Build the query for `sql/search_words*.sql`: all of these words or prefixes, in the first columns."""
    # Quoted, so that no word is read as an operator of the full-text language; the star finds beginnings.
    if dialect.engine == "sqlite":
        wanted = " AND ".join(f'"{word}" *' for word in words)
        return f"{_FTS5[columns - 1]} : ({wanted})"
    return " & ".join(f"{_quote(word[:_MAX_WORD_CHARS])}:*{_WEIGHTS[:columns]}" for word in words)


def _build_vector(row: SearchRow) -> str:
    _, term, aliases, expansion, description = row
    weights: dict[str, str] = {}
    left = _MAX_VECTOR_BYTES
    for weight, text in zip(_WEIGHTS, (f"{term} {aliases}", expansion, description), strict=True):
        for word in text.split():
            cut = word[:_MAX_WORD_CHARS]
            if cut not in weights:
                left -= len(cut.encode()) + _BYTES_EACH
                if left < 0:
                    break
                weights[cut] = weight
    return " ".join(f"{_quote(word)}:1{weight}" for word, weight in weights.items())


def _quote(word: str) -> str:
    return "'" + word.replace("\\", "\\\\").replace("'", "''") + "'"
