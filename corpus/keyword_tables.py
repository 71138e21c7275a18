"""The tables of the keyword index on PostgreSQL, as a migration."""

from __future__ import annotations

# The covering index is read alone, without the rows of the table, so all that a score needs stands in it.
_TABLES = """
CREATE TABLE {name}_vocabulary (
    id integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    token text COLLATE "C" NOT NULL UNIQUE,
    rows integer NOT NULL
) WITH (fillfactor = 70);
CREATE INDEX {name}_vocabulary_forgotten ON {name}_vocabulary (id) WHERE rows <= 0;

-- `counts`: how often the word stands in the title (the lowest 3 bits), and in headings, twice, and text. `length`:
-- tokens of the row. The rows are many, and as narrow as can be.
CREATE TABLE {name}_postings (
    word integer NOT NULL,
    n integer NOT NULL,
    audience integer NOT NULL,
    counts smallint NOT NULL,
    length smallint NOT NULL,
    PRIMARY KEY (word, n) INCLUDE (audience, counts, length)
);

-- The ids of a row's tokens in their order, each between blanks. `length`: how many there are.
CREATE TABLE {name}_sequences (
    n integer PRIMARY KEY,
    length integer NOT NULL,
    title text NOT NULL,
    heading text NOT NULL,
    body text NOT NULL,
    identifiers text NOT NULL
);
"""

KEYWORD_TABLES = "CREATE TABLE keyword_totals (name text PRIMARY KEY, rows bigint NOT NULL, tokens bigint NOT NULL);\n"
KEYWORD_TABLES += "".join(_TABLES.format(name=name) for name in ("passage", "derived", "triple"))
