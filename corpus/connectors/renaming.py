"""Renames of files: the document keeps its id, revisions, audience, tags and derived texts."""

from __future__ import annotations

from argot.corpus.readers.plain_text import name_without_suffix
from argot.corpus.store import row_writes
from argot.databases import Connection


def rename_rows(connection: Connection, old_uri: str, new_uri: str, old_name: str, new_name: str) -> bool:
    """Rename within the caller's transaction; return False if there is no such document, or one of the new URI.

    A title derived from the old name is cleared, which tells `ingest_job` to read the file again.
    """
    if connection.execute("SELECT 1 FROM documents WHERE uri = ?", (new_uri,)).fetchone():
        return False
    row = connection.execute("SELECT id, title FROM documents WHERE uri = ?", (old_uri,)).fetchone()
    if row is None:
        return False
    id_, title = row
    stale = title in (name_without_suffix(old_name), old_name) and name_without_suffix(old_name) != name_without_suffix(
        new_name
    )
    connection.execute("UPDATE documents SET uri = ?, title = ? WHERE id = ?", (new_uri, "" if stale else title, id_))
    row_writes.count_document_change(connection)
    return True
