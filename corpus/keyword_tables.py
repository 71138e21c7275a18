"""The tables of the keyword indexes: for rankings on both engines, for phrases on PostgreSQL only."""

from __future__ import annotations

NAMES = ("passage", "derived", "triple")

# `postings` are those of one word in one block of rows, 6 bytes each (`argot.corpus.keyword.posting_blocks`). The block
# comes first in the key, so that a document's changes are adjacent; the key is separate from the values, since SQLite
# then looks it up twice as fast. `audiences`: the number of each row's audience.
_BLOCKS = """
CREATE TABLE {name}_vocabulary (
    id INTEGER PRIMARY KEY,
    token TEXT NOT NULL UNIQUE,
    rows INTEGER NOT NULL
);
CREATE INDEX {name}_vocabulary_forgotten ON {name}_vocabulary (id) WHERE rows <= 0;

CREATE TABLE {name}_blocks (
    block INTEGER NOT NULL,
    word INTEGER NOT NULL,
    postings BLOB NOT NULL,
    PRIMARY KEY (block, word)
);

CREATE TABLE {name}_readers (
    block INTEGER PRIMARY KEY,
    audiences BLOB NOT NULL
);
"""

# Postings change with each document: a full page would move a row at every change. They do not compress.
_ROOM = """
ALTER TABLE {name}_blocks SET (fillfactor = 80, toast_tuple_target = 8160);
ALTER TABLE {name}_blocks ALTER COLUMN postings SET STORAGE EXTERNAL;
ALTER TABLE {name}_readers ALTER COLUMN audiences SET STORAGE EXTERNAL;
"""

# The ids of a row's tokens in their order, each between blanks.
_SEQUENCES = """
CREATE TABLE {name}_sequences (
    n INTEGER PRIMARY KEY,
    title TEXT NOT NULL,
    heading TEXT NOT NULL,
    body TEXT NOT NULL,
    identifiers TEXT NOT NULL
);
"""

_TOTALS = "CREATE TABLE keyword_totals (name TEXT PRIMARY KEY, rows INTEGER NOT NULL, tokens INTEGER NOT NULL);\n"

RANKED_TABLES = frozenset(
    {"keyword_totals", *(f"{name}_{table}" for name in NAMES for table in ("vocabulary", "blocks", "readers"))}
)
"""All tables that both engines have. They are derived from the rows, and never copied from one engine to another."""

BLOCK_TABLES = _TOTALS + "".join(_BLOCKS.format(name=name) for name in NAMES)
POSTGRESQL_TABLES = BLOCK_TABLES + "".join((_ROOM + _SEQUENCES).format(name=name) for name in NAMES)
