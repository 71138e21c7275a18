"""How many answers cited a document, counted by day: no question is kept here, and nobody who asked."""

from __future__ import annotations

import json
from collections.abc import Collection

from argot.clock import timestamp
from argot.corpus.store.document_store import CorpusStore
from argot.types import Document


def count_cited(store: CorpusStore, uris: Collection[str]) -> None:
    """One more answer rests on these documents. What is gone by now, or a conversation's own, is not counted."""
    with store.database.writing() as connection:
        connection.execute(
            """INSERT INTO citation_counts (document, day, answers)
            SELECT d.id, ?, 1 FROM documents AS d JOIN audiences AS a ON a.n = d.audience
            WHERE d.uri IN (SELECT value FROM json_each(?)) AND a.tokens NOT LIKE '%"thread:%'
            ON CONFLICT (document, day) DO UPDATE SET answers = answers + 1""",
            (timestamp("seconds")[:10], json.dumps(list(uris))),
        )


def cited_by_day(store: CorpusStore, document: Document) -> dict[str, int]:
    """Answers by day (2027-01-31), the last first. The caller has checked who may read the document."""
    rows = store.database.connection().execute(
        "SELECT day, answers FROM citation_counts WHERE document = ? ORDER BY day DESC", (document.id,)
    )
    return dict(rows.fetchall())
