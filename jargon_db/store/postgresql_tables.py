"""The tables of a glossary on PostgreSQL: those of glossary.db after all its migrations, in PostgreSQL's dialect.

Differences from `argot.jargon_db.store.schema`:

- The writer assigns numbers, continuing from the highest as SQLite does (`rows.next_number`), because nobody else
  writes meanwhile: there are no sequences, which a copy of the rows would have to set.
- An index accepts no text of more than 2,700 bytes. Texts that can be longer are indexed by a hash.
- `meta` is a table of the corpus; the glossary's is `glossary_meta`.
- The search box's index is a `tsvector` (`argot.jargon_db.store.search_index`).
"""

from __future__ import annotations

_SENSES = """
CREATE TABLE contexts (
    id BIGINT PRIMARY KEY, name TEXT NOT NULL, key TEXT NOT NULL UNIQUE,
    description TEXT NOT NULL DEFAULT '', contact TEXT NOT NULL DEFAULT '', audience TEXT NOT NULL DEFAULT '[]',
    removed INTEGER NOT NULL DEFAULT 0, version INTEGER NOT NULL DEFAULT 1
);

CREATE TABLE terms (id BIGINT PRIMARY KEY, spelling TEXT NOT NULL UNIQUE, key TEXT NOT NULL);

CREATE INDEX terms_by_key ON terms (key);

CREATE TABLE senses (
    id BIGINT PRIMARY KEY,
    term INTEGER NOT NULL REFERENCES terms (id), context INTEGER NOT NULL REFERENCES contexts (id),
    expansion TEXT NOT NULL, description TEXT NOT NULL, notes TEXT NOT NULL, owner TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('draft', 'approved', 'retired')), audience TEXT NOT NULL,
    created TEXT NOT NULL, updated TEXT NOT NULL,
    version INTEGER NOT NULL DEFAULT 1, review_by TEXT, removed INTEGER NOT NULL DEFAULT 0
);

CREATE UNIQUE INDEX senses_by_place ON senses (term, context, md5(expansion));

CREATE INDEX senses_by_context ON senses (context);

CREATE INDEX senses_by_audience ON senses (md5(audience));

CREATE TABLE aliases (
    sense INTEGER NOT NULL REFERENCES senses (id) ON DELETE CASCADE, place INTEGER NOT NULL,
    spelling TEXT NOT NULL, key TEXT NOT NULL,
    PRIMARY KEY (sense, place)
);

CREATE INDEX aliases_by_key ON aliases (key);

CREATE TABLE glossary_meta (name TEXT PRIMARY KEY, value INTEGER NOT NULL);

INSERT INTO glossary_meta (name, value) VALUES ('version', 1);

-- `aliases`: spellings as JSON list of hexadecimal UTF-8, with U+0000 as it is (`argot.jargon_db.store.nul_texts`).
CREATE VIEW sense_rows AS
SELECT senses.id, terms.spelling, terms.key, contexts.name AS context_name, contexts.key AS context_key,
       senses.expansion, senses.description, senses.notes, senses.owner, senses.status, senses.audience,
       contexts.audience AS context_audience, senses.updated, senses.version, senses.review_by,
       (SELECT coalesce(CAST(json_agg(
               replace(replace(encode(convert_to(spelling, 'UTF8'), 'hex'), 'efb79030', '00'), 'efb79031', 'efb790')
               ORDER BY place) AS text), '[]')
        FROM aliases WHERE aliases.sense = senses.id) AS aliases
FROM senses JOIN terms ON terms.id = senses.term JOIN contexts ON contexts.id = senses.context
WHERE senses.removed = 0;

CREATE TABLE sense_search (sense BIGINT PRIMARY KEY, words tsvector NOT NULL);

CREATE INDEX sense_search_by_word ON sense_search USING gin (words);
"""

_HISTORY = """
CREATE TABLE changes (
    id BIGINT PRIMARY KEY, at TEXT NOT NULL, who TEXT NOT NULL, why TEXT NOT NULL, kind TEXT NOT NULL,
    name TEXT NOT NULL, rows INTEGER NOT NULL, undoes INTEGER REFERENCES changes (id)
);

CREATE INDEX changes_by_undone ON changes (undoes) WHERE undoes IS NOT NULL;

CREATE TABLE history (
    id BIGINT PRIMARY KEY, change INTEGER NOT NULL, subject TEXT NOT NULL CHECK (subject IN ('sense', 'context')),
    row INTEGER NOT NULL, key TEXT NOT NULL, key_was TEXT, context INTEGER NOT NULL, context_was INTEGER,
    audience TEXT NOT NULL, audience_was TEXT, before TEXT, after TEXT
);

CREATE INDEX history_by_change ON history (change);

CREATE INDEX history_by_row ON history (subject, row);

CREATE INDEX history_by_key ON history (key);

CREATE INDEX history_by_key_was ON history (key_was) WHERE key_was IS NOT NULL;

CREATE VIEW history_rows AS
SELECT history.*, changes.at, changes.who, changes.why, changes.kind,
       contexts.audience AS context_audience, earlier.audience AS context_was_audience,
       senses.audience AS audience_now, present.audience AS context_audience_now
FROM history JOIN changes ON changes.id = history.change
     JOIN contexts ON contexts.id = history.context LEFT JOIN contexts AS earlier ON earlier.id = history.context_was
     LEFT JOIN senses ON history.subject = 'sense' AND senses.id = history.row
     LEFT JOIN contexts AS present
        ON present.id = CASE WHEN history.subject = 'sense' THEN senses.context ELSE history.row END;

CREATE TABLE accepted_conflicts (
    change INTEGER NOT NULL REFERENCES changes (id) DEFERRABLE INITIALLY DEFERRED, kind TEXT NOT NULL,
    sense INTEGER NOT NULL REFERENCES senses (id), said TEXT NOT NULL,
    PRIMARY KEY (change, kind, sense)
);

CREATE FUNCTION glossary_is_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        RAISE EXCEPTION 'the history of the glossary is append-only' USING ERRCODE = 'integrity_constraint_violation';
    END
$$;

CREATE TRIGGER changes_are_not_updated BEFORE UPDATE ON changes EXECUTE FUNCTION glossary_is_append_only();

CREATE TRIGGER changes_are_not_deleted BEFORE DELETE OR TRUNCATE ON changes
    EXECUTE FUNCTION glossary_is_append_only();

CREATE TRIGGER history_is_not_updated BEFORE UPDATE ON history EXECUTE FUNCTION glossary_is_append_only();

CREATE TRIGGER history_is_not_deleted BEFORE DELETE OR TRUNCATE ON history
    EXECUTE FUNCTION glossary_is_append_only();
"""

_QUEUES = """
CREATE TABLE misses (
    id BIGINT PRIMARY KEY, term TEXT NOT NULL, key TEXT NOT NULL,
    dismissed TEXT, dismissed_by TEXT, why TEXT NOT NULL DEFAULT ''
);

CREATE INDEX misses_by_key ON misses USING hash (key);

CREATE TABLE miss_questions (
    id BIGINT PRIMARY KEY, miss INTEGER NOT NULL REFERENCES misses (id) ON DELETE CASCADE,
    question TEXT NOT NULL, principal TEXT NOT NULL, thread TEXT NOT NULL, asked TEXT NOT NULL,
    shared INTEGER NOT NULL DEFAULT 0, told TEXT
);

CREATE INDEX miss_questions_by_miss ON miss_questions (miss);

CREATE TABLE proposals (
    id BIGINT PRIMARY KEY, term TEXT NOT NULL, key TEXT NOT NULL, context TEXT NOT NULL,
    expansion TEXT NOT NULL, expansion_key TEXT NOT NULL, description TEXT NOT NULL, description_audience TEXT NOT NULL,
    evidence TEXT NOT NULL, audiences TEXT NOT NULL, origin TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('open', 'accepted', 'merged', 'dismissed')),
    created TEXT NOT NULL, created_by TEXT NOT NULL, updated TEXT NOT NULL,
    decided TEXT, decided_by TEXT, why TEXT NOT NULL DEFAULT '', sense INTEGER REFERENCES senses (id), score REAL
);

CREATE INDEX proposals_by_key ON proposals (key);

CREATE INDEX proposals_by_status ON proposals (status);

CREATE INDEX proposals_by_sense ON proposals (sense) WHERE sense IS NOT NULL;

CREATE TABLE uses (
    week TEXT NOT NULL, sense INTEGER NOT NULL REFERENCES senses (id), count INTEGER NOT NULL,
    PRIMARY KEY (week, sense)
);

CREATE INDEX uses_by_sense ON uses (sense);

CREATE TABLE mined (source TEXT PRIMARY KEY, reader INTEGER NOT NULL)
"""

POSTGRESQL_TABLES = _SENSES + _HISTORY + _QUEUES

POSTGRESQL_DETAILS = """
ALTER TABLE senses ADD COLUMN details TEXT NOT NULL DEFAULT '';

CREATE OR REPLACE VIEW sense_rows AS
SELECT senses.id, terms.spelling, terms.key, contexts.name AS context_name, contexts.key AS context_key,
       senses.expansion, senses.description, senses.notes, senses.owner, senses.status, senses.audience,
       contexts.audience AS context_audience, senses.updated, senses.version, senses.review_by,
       (SELECT coalesce(CAST(json_agg(
               replace(replace(encode(convert_to(spelling, 'UTF8'), 'hex'), 'efb79030', '00'), 'efb79031', 'efb790')
               ORDER BY place) AS text), '[]')
        FROM aliases WHERE aliases.sense = senses.id) AS aliases, senses.details
FROM senses JOIN terms ON terms.id = senses.term JOIN contexts ON contexts.id = senses.context
WHERE senses.removed = 0;

CREATE TABLE import_columns (name TEXT PRIMARY KEY, columns TEXT NOT NULL)
"""
