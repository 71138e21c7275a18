"""Changes to rows of corpus.db. Every function works inside its caller's transaction."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from argot.corpus.database import CorpusDatabase
from argot.corpus.keyword.index_terms import build_passage_words, build_text_words
from argot.corpus.keyword.keyword_index import WORDS_TO_FORGET, choose_keyword_index
from argot.corpus.keyword.passage_languages import read_main_language, record_languages
from argot.corpus.store import document_fields, sketches
from argot.corpus.store.change_counter import count_change
from argot.corpus.store.row_mapping import build_derived_row, build_passage_row, build_triple_row, dump_audience
from argot.corpus.store.source_metadata import NO_METADATA, SourceMetadata, put_metadata
from argot.corpus.vector_ids import KINDS, VECTOR_TABLES
from argot.databases import Connection
from argot.types import Audience, DerivedText, Document, Passage, Picture, Triple


@dataclass(frozen=True, slots=True)
class NewRevision:
    """The new state of a document.

    `derived_by` names the source of its triples and derived texts; `header` precedes its title in each passage;
    `sketch` is that of `argot.corpus.minhash`; `picture_data`: the bytes of the pictures, by their hashes.
    """

    document: Document
    markdown: str
    passages: Sequence[Passage]
    triples: Sequence[Triple] = ()
    derived: Sequence[DerivedText] = ()
    derived_by: str = ""
    metadata: SourceMetadata = NO_METADATA
    header: str = ""
    sketch: bytes = b""
    pictures: Sequence[Picture] = ()
    picture_data: Mapping[str, bytes] = field(default_factory=dict)


def put_revision(connection: Connection, new: NewRevision) -> None:
    """Make this the live revision; the previous one is superseded and no longer searched."""
    document, tags = new.document, _dump_tags(new.document.tags)
    # First, while the old rows still exist: FTS5 removes words by the texts they came from.
    clear(connection, document.id)
    audience = number_audience(connection, document.audience)
    connection.execute(
        "UPDATE revisions SET state = 'superseded', superseded_by = :new "
        "WHERE document = :document AND state = 'live' AND id != :new",
        {"document": document.id, "new": document.revision_id},
    )
    connection.execute(
        """INSERT INTO documents (id, uri, title, date, tags, audience, revision, passages, header)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
        ON CONFLICT (id) DO UPDATE SET (title, date, tags, audience, revision, passages, header) =
        (excluded.title, excluded.date, excluded.tags, excluded.audience, excluded.revision, excluded.passages,
        excluded.header)""",
        (
            document.id,
            document.uri,
            document.title,
            document.date,
            tags,
            audience,
            document.revision_id,
            len(new.passages),
            new.header,
        ),
    )
    put_metadata(connection, document.id, new.metadata)
    document_fields.replace_read_fields(connection, document)
    sketches.put_sketch(connection, document.id, new.sketch)
    # Before its passages, whose rows refer to it.
    _put_revision(connection, new)
    title = build_searched_title(document.title, new.header)
    _insert(connection, "passages", (build_passage_row(passage, title, audience) for passage in new.passages))
    record_languages(connection, (passage.language for passage in new.passages))
    insert_derived(connection, new.derived, document.id, audience)
    insert_triples(connection, new.triples, document.id, audience)
    for kind in KINDS:
        choose_keyword_index(connection).insert_rows(connection, kind, document.id)
    count_document_change(connection)


def build_searched_title(title: str, header: str) -> str:
    """Build the title of each passage for the keyword index."""
    return f"{header} {title}".strip()


def insert_derived(connection: Connection, texts: Sequence[DerivedText], document: str, audience: int) -> None:
    """Insert the rows of derived texts, without the keyword index; `audience` is a number of the table of that name."""
    language = read_main_language(connection, document)
    _insert(connection, "derived", (build_derived_row(text, document, audience, language) for text in texts))
    _insert(connection, "derived_passages", _build_links(texts))


def insert_triples(
    connection: Connection,
    triples: Sequence[Triple],
    document: str,
    audience: int,
    *,
    prompt: str = "",
    model: str = "",
) -> None:
    """Insert the same for triples. Those without prompt and model came with the document."""
    made_by, language = {"prompt": prompt, "model": model}, read_main_language(connection, document)
    rows = (build_triple_row(triple, document, audience, language) for triple in triples)
    _insert(connection, "triples", ({**row, **made_by} for row in rows))


def fold_document(connection: Connection, document: str) -> None:
    """Build the columns of a document's rows that serve only the keyword index again, from their texts. The index does
    not contain them meanwhile.
    """
    title, header = connection.execute("SELECT title, header FROM documents WHERE id = ?", (document,)).fetchone()
    searched = build_searched_title(title, header)
    passages = connection.execute(
        "SELECT n, heading_path, text, language FROM passages WHERE document = ?", (document,)
    ).fetchall()
    connection.executemany(
        "UPDATE passages SET title = :title, heading = :heading, folded = :folded, identifiers = :identifiers "
        "WHERE n = :n",
        [
            {**build_passage_words(searched, json.loads(path), text, language), "n": n}
            for n, path, text, language in passages
        ],
    )
    main = read_main_language(connection, document)
    for table in ("derived", "triples"):
        rows = connection.execute(f"SELECT n, text FROM {table} WHERE document = ?", (document,)).fetchall()  # noqa: S608
        connection.executemany(
            f"UPDATE {table} SET folded = :folded, identifiers = :identifiers WHERE n = :n",  # noqa: S608
            [{**build_text_words(text, main), "n": n} for n, text in rows],
        )


def rebuild_words(database: CorpusDatabase) -> None:
    """Fold all texts again (the rules may have changed since), and rebuild the keyword indexes from them."""
    with database.writing() as connection:
        # A document at a time; the text of all passages may be larger than the memory.
        for (document,) in connection.execute("SELECT id FROM documents").fetchall():
            fold_document(connection, document)
        connection.execute("DELETE FROM passage_languages")
        languages = connection.execute("SELECT DISTINCT language FROM passages").fetchall()
        record_languages(connection, (language for (language,) in languages))
        choose_keyword_index(connection).rebuild(connection)


def clear(connection: Connection, document: str) -> None:
    """Delete everything that searches could find of a document; its revisions stay."""
    for kind in KINDS:
        choose_keyword_index(connection).delete_rows(connection, kind, document)
    for table in (*VECTOR_TABLES, "triples", "derived", "passages", "derivation_states"):
        connection.execute(f"DELETE FROM {table} WHERE document = ?", (document,))  # noqa: S608


def remove_rows(connection: Connection, document: str) -> None:
    """Delete a document and everything derived from it."""
    clear(connection, document)
    connection.execute("DELETE FROM documents WHERE id = ?", (document,))  # revisions follow
    # FTS5 keeps the words of deleted rows until its segments are merged: see `Fts5Index.forget_deleted`.
    connection.execute("INSERT INTO meta (key, value) VALUES (?, 'due') ON CONFLICT DO NOTHING", (WORDS_TO_FORGET,))
    count_document_change(connection)


def relabel_rows(connection: Connection, document: str, audience: Audience, tags: Sequence[str]) -> None:
    """Change the readers of a document, and its tags, leaving its content."""
    number = number_audience(connection, audience)
    connection.execute("UPDATE documents SET audience = ?, tags = ? WHERE id = ?", (number, _dump_tags(tags), document))
    document_fields.put_tags(connection, document, tags)
    # Each row carries the number, so that a search is narrowed without joining `documents`.
    for table in ("passages", "derived", "triples"):
        connection.execute(f"UPDATE {table} SET audience = ? WHERE document = ?", (number, document))  # noqa: S608
    for kind in KINDS:
        choose_keyword_index(connection).relabel_rows(connection, kind, document)
    count_document_change(connection)


def number_audience(connection: Connection, audience: Audience) -> int:
    text = dump_audience(audience)
    connection.execute("INSERT INTO audiences (tokens) VALUES (?) ON CONFLICT DO NOTHING", (text,))
    return int(connection.execute("SELECT n FROM audiences WHERE tokens = ?", (text,)).fetchone()[0])


def count_document_change(connection: Connection) -> None:
    """Delete audiences that no document has any more, and count the change, which makes cached results stale."""
    # A freed number may be reused for other readers, hence reads by number share one state (`_readable`).
    connection.execute("DELETE FROM audiences WHERE n NOT IN (SELECT audience FROM documents)")
    count_change(connection)


def _put_revision(connection: Connection, new: NewRevision) -> None:
    document = new.document
    # An upsert, because content that returns after a change is the same revision, live again.
    connection.execute(
        """INSERT INTO revisions
        (id, document, content_hash, state, superseded_by, media_type, markdown, size, added_at, derived_by, warnings)
        VALUES (?, ?, ?, 'live', NULL, ?, ?, ?, ?, ?, ?)
        ON CONFLICT (id) DO UPDATE SET (state, superseded_by, media_type, markdown, added_at, derived_by, warnings) =
        ('live', NULL, excluded.media_type, excluded.markdown, excluded.added_at, excluded.derived_by,
        excluded.warnings)""",
        (
            document.revision_id,
            document.id,
            document.content_hash,
            document.media_type,
            new.markdown,
            document.size,
            document.added_at,
            new.derived_by,
            json.dumps(document.warnings, ensure_ascii=False),
        ),
    )


def _build_links(derived: Iterable[DerivedText]) -> Iterable[dict[str, Any]]:
    for text in derived:
        for ordinal, passage in enumerate(dict.fromkeys(text.passage_ids)):
            yield {"derived": text.id, "passage": passage, "ordinal": ordinal}


def _insert(connection: Connection, table: str, rows: Iterable[dict[str, Any]]) -> None:
    coming = iter(rows)
    if (first := next(coming, None)) is not None:
        # All rows of one call have the same columns.
        columns = ", ".join(f'"{column}"' for column in first)  # `end` is a word of SQL
        values = ", ".join(f":{column}" for column in first)
        connection.executemany(f"INSERT INTO {table} ({columns}) VALUES ({values})", chain([first], coming))  # noqa: S608


def _dump_tags(tags: Sequence[str]) -> str:
    return json.dumps(sorted(set(tags)), ensure_ascii=False)
