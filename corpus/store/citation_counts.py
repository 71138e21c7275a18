"""Counts of the answers that cited a document, by day: neither the question nor the asker is recorded."""

from __future__ import annotations

import json
from collections.abc import Collection

from argot.clock import timestamp
from argot.corpus.store.document_store import CorpusStore
from argot.corpus.store.row_mapping import load_audience
from argot.databases import Connection
from argot.types import Document, Principal, is_of_thread


def count_citations(store: CorpusStore, uris: Collection[str]) -> None:
    """Count one more answer for these documents. Deleted ones, and those of a conversation, are not counted."""
    with store.database.writing() as connection:
        connection.execute(
            """INSERT INTO citation_counts (document, day, answers)
            SELECT d.id, ?, 1 FROM documents AS d JOIN audiences AS a ON a.n = d.audience
            WHERE d.uri IN (SELECT value FROM json_each(?)) AND a.tokens NOT LIKE '%"thread:%'
            ON CONFLICT (document, day) DO UPDATE SET answers = citation_counts.answers + 1""",
            (timestamp("seconds")[:10], json.dumps(list(uris))),
        )


def count_by_day(store: CorpusStore, document: Document) -> dict[str, int]:
    """Return answers by day (2027-01-31), the last first. The caller has checked who may read the document."""
    rows = store.database.connection().execute(
        "SELECT day, answers FROM citation_counts WHERE document = ? ORDER BY day DESC", (document.id,)
    )
    return dict(rows.fetchall())


def list_most_cited(
    store: CorpusStore, principal: Principal, since: str, until: str, most: int
) -> tuple[list[tuple[str, str, int]], int]:
    """Return the documents that answers of these days (both included) cite most: id, URI and number of answers; and how
    many documents they cite in all. Only readable ones are included.
    """
    with store.database.reading() as connection:
        rows = connection.execute(
            f"""SELECT d.id, d.uri, sum(c.answers) AS number, count(*) OVER () FROM citation_counts AS c
            JOIN documents AS d ON d.id = c.document
            WHERE c.day BETWEEN ? AND ? AND {_READ} GROUP BY d.id ORDER BY number DESC, d.uri LIMIT ?""",  # noqa: S608
            (since, until, _list_audiences(connection, principal), most),
        ).fetchall()
    return [(id_, uri, number) for id_, uri, number, _ in rows], rows[0][3] if rows else 0


def list_never_cited(
    store: CorpusStore, principal: Principal, start: int, most: int
) -> tuple[list[tuple[str, str]], int]:
    """List readable documents that no answer ever cited, by location: ids and URIs of some from `start` on; and how
    many there are.
    """
    wanted = f"{_READ} AND NOT EXISTS (SELECT 1 FROM citation_counts AS c WHERE c.document = d.id)"  # noqa: S608
    with store.database.reading() as connection:
        audiences = _list_audiences(connection, principal)
        rows = connection.execute(
            f"SELECT d.id, d.uri FROM documents AS d WHERE {wanted} ORDER BY d.uri LIMIT ? OFFSET ?",  # noqa: S608
            (audiences, most, start),
        ).fetchall()
        number = connection.execute(f"SELECT count(*) FROM documents AS d WHERE {wanted}", (audiences,))  # noqa: S608
        return [(id_, uri) for id_, uri in rows], int(number.fetchone()[0])


_READ = "d.audience IN (SELECT CAST(value AS INTEGER) FROM json_each(?))"


def _list_audiences(connection: Connection, principal: Principal) -> str:
    """Return the numbers of the audiences whose documents the principal may read, without those of a single
    conversation.
    """
    rows = connection.execute("SELECT n, tokens FROM audiences").fetchall()
    read = [(n, load_audience(tokens)) for n, tokens in rows]
    return json.dumps([n for n, audience in read if principal.may_read(audience) and not is_of_thread(audience)])
