"""The languages that passages have or had, besides English: each adds its stems to the words of a question."""

from __future__ import annotations

from collections.abc import Iterable

from argot.databases import Connection
from argot.languages.stemming import has_stemmer


def read_languages(connection: Connection) -> list[str]:
    """Return the languages (ISO 639-1) with stems of their own in the index."""
    rows = connection.execute("SELECT language FROM passage_languages ORDER BY language")
    return [language for (language,) in rows]


def record_languages(connection: Connection, languages: Iterable[str]) -> None:
    """Record the languages of new passages. One that no passage has any more stays: it finds nothing."""
    connection.executemany(
        "INSERT INTO passage_languages (language) VALUES (?) ON CONFLICT DO NOTHING",
        [(language,) for language in sorted(set(languages)) if has_stemmer(language)],
    )


def read_main_language(connection: Connection, document: str) -> str:
    """Return the language of most passages of a document (id), in which its derived texts are."""
    row = connection.execute(
        "SELECT language FROM passages WHERE document = ? GROUP BY language ORDER BY count(*) DESC, language LIMIT 1",
        (document,),
    ).fetchone()
    return str(row[0]) if row else ""
