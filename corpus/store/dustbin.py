"""The dustbin: the data of removed documents from which they can be restored.

Their passages, vectors and derived texts are deleted. It contains the originals, the Markdown of all revisions, and the
labels, from which everything else is rebuilt with the same ids.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from argot.clock import timestamp
from argot.corpus.store.document_fields import replace_given_fields
from argot.corpus.store.document_store import CorpusStore
from argot.corpus.store.row_mapping import load_audience
from argot.databases import Connection
from argot.document_names import name_in
from argot.errors import InvalidInput, NotFound
from argot.types import Audience, DocumentField, Principal

ERASING = ""
"""Removal time of documents that are being erased: they are in no list, and overdue whatever the setting, so that an
interrupted erasure is continued."""
_REVISION_COLUMNS = "id, document, content_hash, state, superseded_by, media_type, markdown, size, added_at"


@dataclass(frozen=True, slots=True)
class RemovedDocument:
    """A document in the dustbin. `removed_at`: ISO 8601, UTC."""

    id: str
    uri: str
    name: str
    title: str
    media_type: str
    content_hash: str
    tags: tuple[str, ...]
    audience: Audience
    passages: int
    removed_at: str


@dataclass(frozen=True, slots=True)
class ErasedDocuments:
    """Identifiers of documents that are being erased, with which other stores find data derived from them.

    `texts`: the Markdown of all their revisions; `originals`: the hashes of their files; `passages`: the ids of those
    that they had when they were removed.
    """

    ids: frozenset[str]
    addresses: frozenset[str]
    passages: frozenset[str]
    texts: tuple[str, ...]
    originals: frozenset[str]


def list_removed(store: CorpusStore, principal: Principal) -> list[RemovedDocument]:
    """List the removed documents that this principal could read, the last removed first."""
    rows = store.database.connection().execute(
        """SELECT d.id, d.uri, d.title, r.media_type, r.content_hash, d.tags, d.tokens, d.passages, d.removed_at
        FROM removed_documents AS d JOIN removed_revisions AS r ON r.id = d.revision
        WHERE d.removed_at != ''
        ORDER BY d.removed_at DESC, d.uri"""
    )
    return [
        RemovedDocument(
            id=id_,
            uri=uri,
            name=name_in(uri),
            title=title,
            media_type=media_type,
            content_hash=content_hash,
            tags=tuple(json.loads(tags)),
            audience=load_audience(tokens),
            passages=passages,
            removed_at=removed_at,
        )
        for id_, uri, title, media_type, content_hash, tags, tokens, passages, removed_at in rows
        if principal.may_read(load_audience(tokens))
    ]


def find_removed(store: CorpusStore, principal: Principal, id_or_name_or_uri: str) -> RemovedDocument:
    """Return the removed document of this id, URI or name.

    Raises:
        NotFound: there is none that this principal could read.
        InvalidInput: several have this name.
    """
    wanted = id_or_name_or_uri
    removed = list_removed(store, principal)
    found = [one for one in removed if wanted in {one.id, one.uri}] or [one for one in removed if one.name == wanted]
    if len(found) > 1:
        uris = "\n".join(f"  {one.uri}" for one in found)
        raise InvalidInput(f"{len(found)} removed documents are called '{wanted}'. Give the URI of one:\n{uris}")
    if not found:
        raise NotFound(f"There is no removed document '{wanted}'. See them all with: argot documents removed")
    return found[0]


def is_in_again(store: CorpusStore, document: str) -> bool:
    """Return whether a removed document (id) has been added again meanwhile, without access checks."""
    row = store.database.connection().execute("SELECT 1 FROM documents WHERE id = ?", (document,)).fetchone()
    return row is not None


def list_removed_before(store: CorpusStore, moment: str) -> list[str]:
    """Return ids of the documents removed before this moment (ISO 8601, UTC), without access checks."""
    sql = "SELECT id FROM removed_documents WHERE removed_at < ?"
    return [id_ for (id_,) in store.database.connection().execute(sql, (moment,))]


def read_erased(store: CorpusStore, documents: Sequence[str]) -> ErasedDocuments:
    """Return the identifiers of a removed document's text; for one that was added again, only those it no longer
    has.
    """
    connection = store.database.connection()
    ids, addresses, passages, texts, originals = set[str](), set[str](), set[str](), [], set[str]()
    for document in documents:
        rows = connection.execute("SELECT uri FROM removed_documents WHERE id = ?", (document,)).fetchall()
        if not rows:
            continue
        if not is_in_again(store, document):
            ids.add(document)
            addresses.add(rows[0][0])
        sql = "SELECT id FROM removed_passages WHERE document = ?"
        passages |= {id_ for (id_,) in connection.execute(sql, (document,))}
        sql = "SELECT markdown, content_hash FROM removed_revisions WHERE document = ?"
        for markdown, content_hash in connection.execute(sql, (document,)):
            texts.append(markdown)
            originals.add(content_hash)
    return ErasedDocuments(
        frozenset(ids), frozenset(addresses), frozenset(passages - store.live(passages)), tuple(texts),
        frozenset(originals),
    )  # fmt: skip


def read_living_texts(store: CorpusStore, sources: Iterable[str]) -> list[str]:
    """Return the newest Markdown of the documents with these ids, addresses or passages (ids), without access checks;
    also of those in the dustbin, which may be restored, but not of those that are being erased.
    """
    listed = json.dumps(list(sources))
    ids = "(SELECT value FROM json_each(?))"
    rows = store.database.connection().execute(
        f"""SELECT r.markdown FROM documents AS d JOIN revisions AS r ON r.id = d.revision
        WHERE d.id IN {ids} OR d.uri IN {ids} OR d.id IN (SELECT document FROM passages WHERE id IN {ids})
        UNION ALL
        SELECT r.markdown FROM removed_documents AS d JOIN removed_revisions AS r ON r.id = d.revision
        WHERE d.removed_at != '' AND (d.id IN {ids} OR d.uri IN {ids}
            OR d.id IN (SELECT document FROM removed_passages WHERE id IN {ids}))""",  # noqa: S608
        (listed,) * 6,
    )
    return [str(markdown) for (markdown,) in rows]


# -- within the caller's transaction ---------------------------------------------------------------------------------


def keep_removed(connection: Connection, document: str, *, erasing: bool = False) -> None:
    """Copy a document that is about to be removed; it must not be in the dustbin already.

    Args:
        erasing: it cannot be restored, and stays only until all data derived from it are erased.
    """
    connection.execute(
        """INSERT INTO removed_documents (id, uri, title, tags, tokens, revision, passages, removed_at, fields)
        SELECT d.id, d.uri, d.title, d.tags, a.tokens, d.revision, d.passages, ?,
            (SELECT json_group_array(json_array(f.name, f.value)) FROM document_fields AS f
             WHERE f.document = d.id AND f.origin = 'given')
        FROM documents AS d JOIN audiences AS a ON a.n = d.audience WHERE d.id = ?""",
        (ERASING if erasing else timestamp("seconds"), document),
    )
    connection.execute(
        "INSERT INTO removed_passages (document, id) SELECT document, id FROM passages WHERE document = ?", (document,)
    )
    connection.execute(
        f"INSERT INTO removed_revisions ({_REVISION_COLUMNS}) "  # noqa: S608
        f"SELECT {_REVISION_COLUMNS} FROM revisions WHERE document = ?",
        (document,),
    )


def take_back(connection: Connection, removed: str, document: str) -> None:
    """Return a restored document's other revisions to it, and remove it from the dustbin. The id differs if its source
    had been renamed before.
    """
    connection.execute(
        f"""INSERT INTO revisions ({_REVISION_COLUMNS})
        SELECT id, ?, content_hash, 'superseded', superseded_by, media_type, markdown, size, added_at
        FROM removed_revisions WHERE document = ? ON CONFLICT DO NOTHING""",  # noqa: S608
        (document, removed),
    )
    sql = "SELECT fields FROM removed_documents WHERE id = ?"
    fields = [DocumentField(*pair) for (text,) in connection.execute(sql, (removed,)) for pair in json.loads(text)]
    if fields:
        replace_given_fields(connection, document, fields)
    connection.execute("DELETE FROM removed_documents WHERE id = ?", (removed,))


def mark_erasing(connection: Connection, documents: Sequence[str]) -> None:
    """Mark these documents as being erased, before the first row of them is deleted."""
    sql = "UPDATE removed_documents SET removed_at = ? WHERE id = ?"
    connection.executemany(sql, [(ERASING, document) for document in documents])


def erase_removed(connection: Connection, documents: Sequence[str]) -> None:
    """Delete removed documents; their originals are queued for deletion."""
    for document in documents:
        connection.execute(
            "INSERT INTO ledger (document, content_hash) SELECT document, content_hash FROM removed_revisions "
            "WHERE document = ? ON CONFLICT DO NOTHING",
            (document,),
        )
        connection.execute("DELETE FROM removed_documents WHERE id = ?", (document,))
