"""Documents that are nearly the same: found by the bands of their sketches, of which an index finds those in common."""

from __future__ import annotations

import json
from dataclasses import dataclass

from argot.corpus.minhash import likeness
from argot.corpus.store.document_store import CorpusStore
from argot.corpus.store.revision_reads import read_documents
from argot.databases import Connection
from argot.types import Document, Principal

NEAR_DUPLICATE_SHARE = 0.8
"""Share of the wording. A changed number in a short policy keeps more, another year's edition usually less."""
_MAX_PAIRS = 200
"""Maximum documents compared: copies of a form that thousands fill in are all alike."""


@dataclass(frozen=True, slots=True)
class NearDuplicate:
    """Two documents that are nearly the same. `likeness`: the share of their wording, from 0 to 1, estimated."""

    document: Document
    other: Document
    likeness: float


def find_near_duplicates(
    store: CorpusStore, principal: Principal, document: Document | None = None
) -> list[NearDuplicate]:
    """Find near duplicates of the document, or of any, that this principal may read; the likest first."""
    pairs = _find_pairs(store.database.connection(), document.id if document else None)
    ids = sorted({id_ for first, second, _ in pairs for id_ in (first, second)})
    readable = {one.id: one for one in read_documents(store, principal, ids)}
    found = [
        NearDuplicate(readable[first], readable[second], share)
        for first, second, share in pairs
        if first in readable and second in readable
    ]
    return sorted(found, key=lambda one: (-one.likeness, one.document.uri, one.other.uri))


def _find_pairs(connection: Connection, document: str | None) -> list[tuple[str, str, float]]:
    # Each pair once; for one document the pairs that it comes first in.
    which = "a.document < b.document" if document is None else "a.document = ? AND b.document != a.document"
    rows = connection.execute(
        f"""SELECT DISTINCT a.document, b.document FROM document_bands AS a
        JOIN document_bands AS b ON b.band = a.band AND b.part = a.part WHERE {which} LIMIT ?""",  # noqa: S608
        (*([] if document is None else [document]), _MAX_PAIRS * (1 if document else 10)),
    ).fetchall()
    ids = json.dumps(sorted({id_ for row in rows for id_ in row}))
    sketches = dict(
        connection.execute(
            "SELECT document, sketch FROM document_sketches WHERE document IN (SELECT value FROM json_each(?))", (ids,)
        )
    )
    shares = ((first, second, likeness(sketches[first], sketches[second])) for first, second in rows)
    return [(first, second, share) for first, second, share in shares if share >= NEAR_DUPLICATE_SHARE]
