"""Reads of a document besides its newest text: its revisions, and the texts derived from its passages."""

from __future__ import annotations

import json
from collections.abc import Sequence

from argot.corpus.store.document_store import CorpusStore
from argot.corpus.store.row_mapping import DOCUMENT_COLUMNS, DOCUMENT_TABLES, Revision, build_document, dump_audience
from argot.databases import Connection
from argot.types import Audience, DerivedText, Document, Principal, Triple


def read_documents(store: CorpusStore, principal: Principal, ids: Sequence[str]) -> list[Document]:
    """Return the existing documents of these ids that this principal may read, in the order of the ids."""
    rows = store.database.connection().execute(
        f"SELECT {DOCUMENT_COLUMNS} FROM {DOCUMENT_TABLES} WHERE d.id IN (SELECT value FROM json_each(?))",  # noqa: S608
        (json.dumps(list(ids)),),
    )
    found = {one.id: one for one in map(build_document, rows) if principal.may_read(one.audience)}
    return [found[id_] for id_ in dict.fromkeys(ids) if id_ in found]


def find_same_document(connection: Connection, content: str, audience: Audience) -> Document | None:
    """Return the first document, by URI, whose live revision has this content (its hash) and exactly these readers."""
    row = connection.execute(
        # From the content to its documents: by audience, SQLite would read every document.
        f"""SELECT {DOCUMENT_COLUMNS} FROM {DOCUMENT_TABLES} AND d.id = r.document
        WHERE r.content_hash = ? AND r.state = 'live' AND a.tokens = ? ORDER BY d.uri LIMIT 1""",  # noqa: S608
        (content, dump_audience(audience)),
    ).fetchone()
    return None if row is None else build_document(row)


def list_revisions(store: CorpusStore, document: Document) -> list[Revision]:
    """Return all revisions, the live one first and then the last added first. The caller has checked who may read
    it.
    """
    rows = store.database.connection().execute(
        """SELECT id, document, content_hash, state, superseded_by, media_type, size, added_at FROM revisions
        WHERE document = ? ORDER BY state = 'live' DESC, added_at DESC, id""",
        (document.id,),
    )
    return [Revision(*row) for row in rows]


def list_revised(store: CorpusStore) -> set[str]:
    """Return ids of the documents that were replaced at least once, without access checks."""
    sql = "SELECT DISTINCT document FROM revisions WHERE state = 'superseded'"
    return {id_ for (id_,) in store.database.connection().execute(sql)}


def list_derived(store: CorpusStore) -> set[str]:
    """Return ids of the documents from which texts or triples were derived, without access checks."""
    sql = "SELECT DISTINCT document FROM derived UNION SELECT DISTINCT document FROM triples"
    return {id_ for (id_,) in store.database.connection().execute(sql)}


def list_underived_kinds(store: CorpusStore, kinds: Sequence[str]) -> list[str]:
    """List the kinds of which no text was derived from any document, without access checks."""
    sql = "SELECT 1 FROM derived WHERE kind = ? LIMIT 1"
    return [kind for kind in kinds if store.database.connection().execute(sql, (kind,)).fetchone() is None]


def read_derived(
    store: CorpusStore, principal: Principal, passages: Sequence[str]
) -> tuple[list[DerivedText], list[Triple]]:
    """Return the readable texts and triples that were derived from these passages (ids)."""
    connection, listed = store.database.connection(), json.dumps(list(passages))
    texts = connection.execute(
        """SELECT DISTINCT t.id, t.n FROM derived AS t JOIN derived_passages AS p ON p.derived = t.id
        WHERE p.passage IN (SELECT value FROM json_each(?)) ORDER BY t.n""",
        (listed,),
    ).fetchall()
    triples = connection.execute(
        "SELECT id FROM triples WHERE passage IN (SELECT value FROM json_each(?)) ORDER BY n", (listed,)
    ).fetchall()
    return (
        list(store.derived(principal, [id_ for id_, _ in texts]).values()),
        list(store.triples(principal, [id_ for (id_,) in triples]).values()),
    )
