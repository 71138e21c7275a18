"""The tables of glossary.db, as numbered migrations. A released migration is never edited: add another.

On PostgreSQL the first one makes the result of the first five on SQLite; later ones are for both.
"""

from __future__ import annotations

import sqlite3

from argot.databases import PerEngine, StoreMigration
from argot.jargon_db.store.baseline import record_baseline
from argot.jargon_db.store.postgresql_tables import POSTGRESQL_DETAILS, POSTGRESQL_TABLES
from argot.jargon_db.store.verified_answers import VERIFIED_ANSWERS
from argot.sqlite import MigrationNames, run_script

_TABLES = """
-- A term is one spelling ("PUC"); `key` is its normalised form, shared by spellings that only differ in case, hyphens
-- and the like. Audiences are JSON lists. Aliases belong to a sense, so that nobody meets the alias of a sense they
-- may not read.
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

_GOVERNANCE = """
-- `removed` rows are gone for everyone. They stay because history refers to their ids and is guarded by their
-- audiences; their unique texts are set aside (`glossary_writer`), so that they stand in nobody's way.
ALTER TABLE senses ADD COLUMN version INTEGER NOT NULL DEFAULT 1;

ALTER TABLE senses ADD COLUMN review_by TEXT;

ALTER TABLE senses ADD COLUMN removed INTEGER NOT NULL DEFAULT 0;

ALTER TABLE contexts ADD COLUMN removed INTEGER NOT NULL DEFAULT 0;

CREATE INDEX senses_by_audience ON senses (audience);

DROP VIEW sense_rows;

CREATE VIEW sense_rows AS
SELECT senses.id, terms.spelling, terms.key, contexts.name AS context_name, contexts.key AS context_key,
       senses.expansion, senses.description, senses.notes, senses.owner, senses.status, senses.audience,
       contexts.audience AS context_audience, senses.updated, senses.version, senses.review_by,
       (SELECT json_group_array(hex(spelling)) FROM
           (SELECT spelling FROM aliases WHERE aliases.sense = senses.id ORDER BY place)) AS aliases
FROM senses JOIN terms ON terms.id = senses.term JOIN contexts ON contexts.id = senses.context
WHERE NOT senses.removed;

CREATE TABLE changes (
    id INTEGER PRIMARY KEY, at TEXT NOT NULL, who TEXT NOT NULL, why TEXT NOT NULL, kind TEXT NOT NULL,
    name TEXT NOT NULL, rows INTEGER NOT NULL, undoes INTEGER REFERENCES changes (id)
) STRICT;

CREATE INDEX changes_by_undone ON changes (undoes) WHERE undoes IS NOT NULL;

-- The audiences and contexts before (`*_was`) and after a row's change have columns of their own: what guards an entry
-- is everything that guarded it then, and what guards its sense and context now.
CREATE TABLE history (
    id INTEGER PRIMARY KEY, change INTEGER NOT NULL, subject TEXT NOT NULL CHECK (subject IN ('sense', 'context')),
    row INTEGER NOT NULL, key TEXT NOT NULL, key_was TEXT, context INTEGER NOT NULL, context_was INTEGER,
    audience TEXT NOT NULL, audience_was TEXT, before TEXT, after TEXT
) STRICT;

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
     LEFT JOIN contexts AS present ON present.id = iif(history.subject = 'sense', senses.context, history.row);

CREATE TRIGGER changes_are_not_replaced BEFORE INSERT ON changes WHEN EXISTS (SELECT 1 FROM changes WHERE id = NEW.id)
BEGIN SELECT raise(ABORT, 'the history of the glossary is append-only'); END;

CREATE TRIGGER changes_are_not_updated BEFORE UPDATE ON changes
BEGIN SELECT raise(ABORT, 'the history of the glossary is append-only'); END;

CREATE TRIGGER changes_are_not_deleted BEFORE DELETE ON changes
BEGIN SELECT raise(ABORT, 'the history of the glossary is append-only'); END;

CREATE TRIGGER history_is_not_replaced BEFORE INSERT ON history WHEN EXISTS (SELECT 1 FROM history WHERE id = NEW.id)
BEGIN SELECT raise(ABORT, 'the history of the glossary is append-only'); END;

CREATE TRIGGER history_is_not_updated BEFORE UPDATE ON history
BEGIN SELECT raise(ABORT, 'the history of the glossary is append-only'); END;

CREATE TRIGGER history_is_not_deleted BEFORE DELETE ON history
BEGIN SELECT raise(ABORT, 'the history of the glossary is append-only'); END;

-- Folded words (`argot.jargon_db.store.search_words`), written in the transaction of the sense.
CREATE VIRTUAL TABLE sense_search USING fts5 (
    term, aliases, expansion, description, tokenize = 'ascii', prefix = '1 2 3', detail = 'column'
);

CREATE TABLE proposals (
    id INTEGER PRIMARY KEY, term TEXT NOT NULL, key TEXT NOT NULL, context TEXT NOT NULL,
    expansion TEXT NOT NULL, expansion_key TEXT NOT NULL, description TEXT NOT NULL, description_audience TEXT NOT NULL,
    evidence TEXT NOT NULL, audiences TEXT NOT NULL, origin TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('open', 'accepted', 'merged', 'dismissed')),
    created TEXT NOT NULL, created_by TEXT NOT NULL, updated TEXT NOT NULL,
    decided TEXT, decided_by TEXT, why TEXT NOT NULL DEFAULT '', sense INTEGER REFERENCES senses (id),
    UNIQUE (key, expansion_key)
) STRICT;

CREATE INDEX proposals_by_status ON proposals (status);

ALTER TABLE misses ADD COLUMN dismissed TEXT;

ALTER TABLE misses ADD COLUMN dismissed_by TEXT;

ALTER TABLE misses ADD COLUMN why TEXT NOT NULL DEFAULT '';

ALTER TABLE miss_questions ADD COLUMN shared INTEGER NOT NULL DEFAULT 0;

ALTER TABLE miss_questions ADD COLUMN told TEXT;

CREATE TABLE uses (
    week TEXT NOT NULL, sense INTEGER NOT NULL REFERENCES senses (id), count INTEGER NOT NULL,
    PRIMARY KEY (week, sense)
) STRICT, WITHOUT ROWID;

CREATE INDEX uses_by_sense ON uses (sense)
"""

_MINING = """
-- How sure a proposal is: 0 to 1; null: nobody reckoned.
ALTER TABLE proposals ADD COLUMN score REAL;

CREATE INDEX proposals_by_sense ON proposals (sense) WHERE sense IS NOT NULL;

-- Which texts were mined, so that none is read twice. A source is whatever its owner calls a text that never changes (a
-- document's revision); `reader` is the version of the miner that read it.
CREATE TABLE mined (source TEXT PRIMARY KEY, reader INTEGER NOT NULL) STRICT, WITHOUT ROWID
"""

_CONTEXT_VERSIONS = """
-- How often a context was saved, as senses have it: who saves second sees what the other wrote.
ALTER TABLE contexts ADD COLUMN version INTEGER NOT NULL DEFAULT 1
"""

_ACCEPTED_CONFLICTS = """
-- Conflicts that were accepted, a row for each sense of each, with what it said when it was judged. `change` refers to
-- a row that is written at the end of the same transaction.
CREATE TABLE accepted_conflicts (
    change INTEGER NOT NULL REFERENCES changes (id) DEFERRABLE INITIALLY DEFERRED, kind TEXT NOT NULL,
    sense INTEGER NOT NULL REFERENCES senses (id), said TEXT NOT NULL,
    PRIMARY KEY (change, kind, sense)
) STRICT, WITHOUT ROWID;

-- They used to be read from the history: a change accepted conflicts if it entered a sense without changing it, until
-- it was rolled back. What was accepted so is carried over; the history stays as it is.
CREATE TEMP VIEW judged AS
SELECT changes.id AS change, changes.kind, changes.name, history.row AS sense,
       json_remove(history.after, '$.owner', '$.status', '$.audience', '$.review_by') AS said
FROM changes JOIN history ON history.change = changes.id AND history.subject = 'sense' AND history.after IS NOT NULL
WHERE changes.kind NOT IN ('roll back', 'import', 'baseline')
  AND EXISTS (SELECT 1 FROM history AS kept WHERE kept.change = changes.id AND kept.before = kept.after)
  AND NOT EXISTS (SELECT 1 FROM changes AS later WHERE later.undoes = changes.id)
ORDER BY history.id;

INSERT OR REPLACE INTO accepted_conflicts (change, kind, sense, said)
SELECT change, name, sense, said FROM judged WHERE kind = 'let stand';

INSERT OR REPLACE INTO accepted_conflicts (change, kind, sense, said)
SELECT change, accepted.kind, sense, said
FROM judged, (SELECT 'conflicting_expansion' AS kind UNION ALL SELECT 'duplicate') AS accepted
WHERE judged.kind <> 'let stand';

DROP VIEW judged
"""

_VOICES = """
-- People's parts in a proposal: who suggested it, who confirmed that the term means this, and comments.
CREATE TABLE proposal_voices (
    id INTEGER PRIMARY KEY, proposal INTEGER NOT NULL REFERENCES proposals (id) ON DELETE CASCADE,
    person TEXT NOT NULL, kind TEXT NOT NULL CHECK (kind IN ('suggest', 'confirm', 'comment')),
    words TEXT NOT NULL, at TEXT NOT NULL
);

CREATE INDEX proposal_voices_by_proposal ON proposal_voices (proposal);

CREATE INDEX proposal_voices_by_person ON proposal_voices (person, at);

-- The person who looks at a proposal; empty: nobody yet.
ALTER TABLE proposals ADD COLUMN reviewer TEXT NOT NULL DEFAULT '';

-- When each contact of a context was last sent a digest of suggestions.
CREATE TABLE digests (contact TEXT PRIMARY KEY, sent TEXT NOT NULL)
"""


_DETAILS = """
-- Labels, relations, source, example and concept as JSON (`argot.jargon_db.store.details`); empty: none.
ALTER TABLE senses ADD COLUMN details TEXT NOT NULL DEFAULT '';

DROP VIEW sense_rows;

CREATE VIEW sense_rows AS
SELECT senses.id, terms.spelling, terms.key, contexts.name AS context_name, contexts.key AS context_key,
       senses.expansion, senses.description, senses.notes, senses.owner, senses.status, senses.audience,
       contexts.audience AS context_audience, senses.updated, senses.version, senses.review_by,
       (SELECT json_group_array(hex(spelling)) FROM
           (SELECT spelling FROM aliases WHERE aliases.sense = senses.id ORDER BY place)) AS aliases, senses.details
FROM senses JOIN terms ON terms.id = senses.term JOIN contexts ON contexts.id = senses.context
WHERE NOT senses.removed;

-- The meaning of the columns of a list, as a person corrected it, by the list's file name.
CREATE TABLE import_columns (name TEXT PRIMARY KEY, columns TEXT NOT NULL) STRICT, WITHOUT ROWID
"""


def _govern(connection: sqlite3.Connection) -> None:
    """Record the existing glossary in the history as one change of kind "baseline", so that history is complete."""
    run_script(connection, _GOVERNANCE)
    record_baseline(connection)


MIGRATIONS: tuple[StoreMigration, ...] = (
    PerEngine(_TABLES, POSTGRESQL_TABLES),
    *(PerEngine(step, "") for step in (_govern, _MINING, _CONTEXT_VERSIONS, _ACCEPTED_CONFLICTS)),
    PerEngine(_DETAILS, POSTGRESQL_DETAILS),
    _VOICES,
    VERIFIED_ANSWERS,
)
NAMES = MigrationNames(
    "argot.jargon_db",
    (
        "m001_glossary",
        "m002_governance",
        "m003_mining",
        "m004_context_versions",
        "m005_accepted_conflicts",
        "m006_details",
    ),
)
