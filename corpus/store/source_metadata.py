"""A source's metadata about a document: a table of corpus.db, kept when the document is read again."""

from __future__ import annotations

import json
from dataclasses import dataclass

from argot.databases import Connection


@dataclass(frozen=True, slots=True)
class SourceMetadata:
    """Metadata that no file contains, or not reliably. Empty: the source does not say. `date`: ISO 8601, at least the
    year.

    A title or date takes precedence over the reader's; `labels` become tags of the document.
    """

    title: str = ""
    date: str = ""
    author: str = ""
    labels: tuple[str, ...] = ()


NO_METADATA = SourceMetadata()


def read_metadata(connection: Connection, document: str) -> SourceMetadata:
    sql = "SELECT title, date, author, labels FROM source_metadata WHERE document = ?"
    row = connection.execute(sql, (document,)).fetchone()
    if row is None:
        return NO_METADATA
    title, date, author, labels = row
    return SourceMetadata(title, date, author, tuple(json.loads(labels)))


def put_metadata(connection: Connection, document: str, metadata: SourceMetadata) -> None:
    """Store the metadata within the caller's transaction."""
    if metadata == NO_METADATA:
        connection.execute("DELETE FROM source_metadata WHERE document = ?", (document,))
        return
    labels = json.dumps(metadata.labels, ensure_ascii=False)
    connection.execute(
        "INSERT INTO source_metadata (document, title, date, author, labels) VALUES (?, ?, ?, ?, ?) "
        "ON CONFLICT (document) DO UPDATE SET (title, date, author, labels) = "
        "(excluded.title, excluded.date, excluded.author, excluded.labels)",
        (document, metadata.title, metadata.date, metadata.author, labels),
    )
