"""Reverts a corpus.db to its form before sources, as a knowledge base of an earlier version has it."""

import sqlite3

TABLES = (
    "passage_languages",
    "pictures",
    "source_metadata",
    "source_items",
    "sources",
    "removed_passages",
    "removed_revisions",
    "removed_documents",
    "derivation_states",
    "derivation_spending",
    "document_fields",
    "document_sketches",
    "document_bands",
    "citation_counts",
    "quantised_vectors",
    "keyword_totals",
    *(f"{kind}_{what}" for kind in ("passage", "derived", "triple") for what in ("vocabulary", "blocks", "readers")),
)


def before_sources(connection: sqlite3.Connection) -> None:
    """Undo migration m008 and later ones, so that they can be applied again."""
    for table in TABLES:
        connection.execute(f"DROP TABLE {table}")
    connection.execute("DROP INDEX documents_by_date")
    connection.execute("ALTER TABLE documents DROP COLUMN header")
    connection.execute("ALTER TABLE revisions DROP COLUMN warnings")
    connection.execute("ALTER TABLE derived DROP COLUMN picture")
    connection.execute("ALTER TABLE passages DROP COLUMN language")
    connection.execute("DELETE FROM _sqlite_migrations WHERE migration_set = 'corpus' AND name >= 'm008'")
    connection.execute("PRAGMA user_version = 7")
