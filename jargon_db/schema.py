"""The tables of glossary.db, as migrations. A migration that has been released is never edited: add another."""

from __future__ import annotations

from sqlite_utils import Database, Migrations

migrations = Migrations("argot.jargon_db")


@migrations()
def m001_glossary(db: Database) -> None:
    """Contexts, terms, senses with their aliases, misses with their questions, and the version counter.

    A term is one spelling ("PUC"); `key` is its normalised form, shared by spellings that only differ in case, hyphens
    and the like. Audiences are JSON lists. Aliases belong to a sense, so that nobody meets the alias of a sense they
    may not read.
    """
    for sql in _TABLES.strip().split(";\n\n"):
        db.execute(sql)


_TABLES = """
CREATE TABLE contexts (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL, key TEXT NOT NULL UNIQUE,
    description TEXT NOT NULL DEFAULT '', contact TEXT NOT NULL DEFAULT '', audience TEXT NOT NULL DEFAULT '[]'
) STRICT;

CREATE TABLE terms (
    id INTEGER PRIMARY KEY, spelling TEXT NOT NULL UNIQUE, key TEXT NOT NULL
) STRICT;

CREATE INDEX terms_by_key ON terms (key);

CREATE TABLE senses (
    id INTEGER PRIMARY KEY,
    term INTEGER NOT NULL REFERENCES terms (id), context INTEGER NOT NULL REFERENCES contexts (id),
    expansion TEXT NOT NULL, description TEXT NOT NULL, notes TEXT NOT NULL, owner TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('draft', 'approved', 'retired')), audience TEXT NOT NULL,
    created TEXT NOT NULL, updated TEXT NOT NULL,
    UNIQUE (term, context, expansion)
) STRICT;

CREATE INDEX senses_by_context ON senses (context);

CREATE TABLE aliases (
    sense INTEGER NOT NULL REFERENCES senses (id) ON DELETE CASCADE, place INTEGER NOT NULL,
    spelling TEXT NOT NULL, key TEXT NOT NULL,
    PRIMARY KEY (sense, place)
) STRICT, WITHOUT ROWID;

CREATE INDEX aliases_by_key ON aliases (key);

CREATE TABLE misses (
    id INTEGER PRIMARY KEY, term TEXT NOT NULL, key TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE miss_questions (
    id INTEGER PRIMARY KEY, miss INTEGER NOT NULL REFERENCES misses (id) ON DELETE CASCADE,
    question TEXT NOT NULL, principal TEXT NOT NULL, thread TEXT NOT NULL, asked TEXT NOT NULL,
    UNIQUE (miss, thread, question)
) STRICT;

CREATE TABLE meta (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;

INSERT INTO meta (name, value) VALUES ('version', 1);

CREATE VIEW sense_rows AS
SELECT senses.id, terms.spelling, terms.key, contexts.name AS context_name, contexts.key AS context_key,
       senses.expansion, senses.description, senses.notes, senses.owner, senses.status, senses.audience,
       contexts.audience AS context_audience, senses.updated,
       (SELECT json_group_array(hex(spelling)) FROM
           (SELECT spelling FROM aliases WHERE aliases.sense = senses.id ORDER BY place)) AS aliases
FROM senses JOIN terms ON terms.id = senses.term JOIN contexts ON contexts.id = senses.context
"""
