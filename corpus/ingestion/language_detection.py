"""The languages of documents: of new ones when they are read, and of those that an earlier Argot stored."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace

from argot.corpus.database import CorpusDatabase
from argot.corpus.keyword.keyword_index import choose_keyword_index
from argot.corpus.keyword.passage_languages import record_languages
from argot.corpus.store.document_fields import put_missing_field
from argot.corpus.store.row_writes import count_document_change, fold_document
from argot.corpus.vector_ids import KINDS
from argot.databases import Connection
from argot.languages.detection import UNKNOWN, identify_language, identify_passage_language, name_language
from argot.languages.stemming import has_stemmer
from argot.types import LANGUAGE, DocumentField, Passage

log = logging.getLogger(__name__)

LANGUAGES_TO_DETECT = "languages_to_detect"
"""The key in `meta` that exists while documents of an earlier Argot may lack their languages."""


def list_language_fields(language: str) -> list[DocumentField]:
    """List the field that says the language of a document; empty if that is unknown."""
    return [DocumentField(LANGUAGE, name_language(language))] if language != UNKNOWN else []


def label_passages(passages: Sequence[Passage], language: str) -> list[Passage]:
    """Return the passages, each with its language; `language`: that of their document."""
    return [replace(one, language=identify_passage_language(one.text, language)) for one in passages]


def detect_missing_languages(database: CorpusDatabase) -> None:
    """Detect the languages of documents that an earlier Argot stored: some minutes for 100,000 passages.

    Each document is a transaction of its own, so a kill loses nothing. The index changes only where passages are in
    another language than English.
    """
    connection = database.connection()
    if connection.execute("SELECT 1 FROM meta WHERE key = ?", (LANGUAGES_TO_DETECT,)).fetchone() is None:
        return
    ids = [id_ for (id_,) in connection.execute("SELECT DISTINCT document FROM passages WHERE language = ''")]
    log.info("detecting the languages of %d documents", len(ids))
    for id_ in ids:
        with database.writing() as writer:
            _detect_language(writer, id_)
    with database.writing() as writer:
        writer.execute("DELETE FROM meta WHERE key = ?", (LANGUAGES_TO_DETECT,))


def _detect_language(connection: Connection, document: str) -> None:
    rows = connection.execute(
        "SELECT n, text FROM passages WHERE document = ? ORDER BY ordinal", (document,)
    ).fetchall()
    texts: dict[int, str] = dict(map(tuple, rows))
    language = identify_language("\n\n".join(texts.values()))
    found = {n: identify_passage_language(text, language) for n, text in texts.items()}
    for field in list_language_fields(language):
        put_missing_field(connection, document, field)
    changes_index = any(map(has_stemmer, found.values()))
    index = choose_keyword_index(connection)
    if changes_index:
        for kind in KINDS:
            index.delete_rows(connection, kind, document)
    connection.executemany("UPDATE passages SET language = ? WHERE n = ?", [(one, n) for n, one in found.items()])
    if changes_index:
        record_languages(connection, found.values())
        fold_document(connection, document)
        for kind in KINDS:
            index.insert_rows(connection, kind, document)
    count_document_change(connection)
