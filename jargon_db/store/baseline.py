"""The first change in history: the content of a glossary before history was kept."""

from __future__ import annotations

import sqlite3

from argot.jargon_db.store.journal import Heading, Journal, Place
from argot.jargon_db.store.rows import read_context, read_sense, select
from argot.jargon_db.store.search_words import search_row
from argot.jargon_db.store.snapshots import record_context, record_sense
from argot.jargon_db.store.writing_connection import SqliteWriter

_SENSES = """
SELECT sense_rows.*, senses.context AS context_id
FROM sense_rows JOIN senses ON senses.id = sense_rows.id ORDER BY sense_rows.id
"""


def record_baseline(conn: sqlite3.Connection) -> None:
    """Record every context and sense as if added now, and fill the index of the search box."""
    journal = Journal(SqliteWriter(conn), Heading(why="What there was when history began.", kind="baseline"))
    for row in select(conn, "SELECT * FROM contexts ORDER BY id", {}):
        context = read_context(row)
        journal.record("context", context.id, None, (Place("", context.id), record_context(context)))
    for row in select(conn, _SENSES, {}):
        sense = read_sense(row)
        journal.record("sense", sense.id, None, (Place(row["key"], row["context_id"]), record_sense(sense)))
        journal.index(search_row(sense.id, sense))
    journal.finish()
