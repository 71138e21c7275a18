-- A glossary.db as Argot 0.3 wrote it: conflicts let stand are rows of the history that change nothing.
CREATE TABLE "_sqlite_migrations" (
   "id" INTEGER PRIMARY KEY,
   "migration_set" TEXT,
   "name" TEXT,
   "applied_at" TEXT
);
CREATE TABLE contexts (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL, key TEXT NOT NULL UNIQUE,
    description TEXT NOT NULL DEFAULT '', contact TEXT NOT NULL DEFAULT '', audience TEXT NOT NULL DEFAULT '[]'
, removed INTEGER NOT NULL DEFAULT 0, version INTEGER NOT NULL DEFAULT 1) STRICT;
CREATE TABLE terms (
    id INTEGER PRIMARY KEY, spelling TEXT NOT NULL UNIQUE, key TEXT NOT NULL
) STRICT;
CREATE TABLE senses (
    id INTEGER PRIMARY KEY,
    term INTEGER NOT NULL REFERENCES terms (id), context INTEGER NOT NULL REFERENCES contexts (id),
    expansion TEXT NOT NULL, description TEXT NOT NULL, notes TEXT NOT NULL, owner TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('draft', 'approved', 'retired')), audience TEXT NOT NULL,
    created TEXT NOT NULL, updated TEXT NOT NULL, version INTEGER NOT NULL DEFAULT 1, review_by TEXT, removed INTEGER NOT NULL DEFAULT 0,
    UNIQUE (term, context, expansion)
) STRICT;
CREATE TABLE aliases (
    sense INTEGER NOT NULL REFERENCES senses (id) ON DELETE CASCADE, place INTEGER NOT NULL,
    spelling TEXT NOT NULL, key TEXT NOT NULL,
    PRIMARY KEY (sense, place)
) STRICT, WITHOUT ROWID;
CREATE TABLE misses (
    id INTEGER PRIMARY KEY, term TEXT NOT NULL, key TEXT NOT NULL UNIQUE
, dismissed TEXT, dismissed_by TEXT, why TEXT NOT NULL DEFAULT '') STRICT;
CREATE TABLE miss_questions (
    id INTEGER PRIMARY KEY, miss INTEGER NOT NULL REFERENCES misses (id) ON DELETE CASCADE,
    question TEXT NOT NULL, principal TEXT NOT NULL, thread TEXT NOT NULL, asked TEXT NOT NULL, shared INTEGER NOT NULL DEFAULT 0, told TEXT,
    UNIQUE (miss, thread, question)
) STRICT;
CREATE TABLE meta (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE changes (
    id INTEGER PRIMARY KEY, at TEXT NOT NULL, who TEXT NOT NULL, why TEXT NOT NULL, kind TEXT NOT NULL,
    name TEXT NOT NULL, rows INTEGER NOT NULL, undoes INTEGER REFERENCES changes (id)
) STRICT;
CREATE TABLE history (
    id INTEGER PRIMARY KEY, change INTEGER NOT NULL, subject TEXT NOT NULL CHECK (subject IN ('sense', 'context')),
    row INTEGER NOT NULL, key TEXT NOT NULL, key_was TEXT, context INTEGER NOT NULL, context_was INTEGER,
    audience TEXT NOT NULL, audience_was TEXT, before TEXT, after TEXT
) STRICT;
CREATE VIRTUAL TABLE sense_search USING fts5 (
    term, aliases, expansion, description, tokenize = 'ascii', prefix = '1 2 3', detail = 'column'
);
CREATE TABLE proposals (
    id INTEGER PRIMARY KEY, term TEXT NOT NULL, key TEXT NOT NULL, context TEXT NOT NULL,
    expansion TEXT NOT NULL, expansion_key TEXT NOT NULL, description TEXT NOT NULL, description_audience TEXT NOT NULL,
    evidence TEXT NOT NULL, audiences TEXT NOT NULL, origin TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('open', 'accepted', 'merged', 'dismissed')),
    created TEXT NOT NULL, created_by TEXT NOT NULL, updated TEXT NOT NULL,
    decided TEXT, decided_by TEXT, why TEXT NOT NULL DEFAULT '', sense INTEGER REFERENCES senses (id), score REAL,
    UNIQUE (key, expansion_key)
) STRICT;
CREATE TABLE uses (
    week TEXT NOT NULL, sense INTEGER NOT NULL REFERENCES senses (id), count INTEGER NOT NULL,
    PRIMARY KEY (week, sense)
) STRICT, WITHOUT ROWID;
CREATE TABLE mined (source TEXT PRIMARY KEY, reader INTEGER NOT NULL) STRICT, WITHOUT ROWID;
INSERT INTO _sqlite_migrations (id, migration_set, name, applied_at) VALUES (1, 'argot.jargon_db', 'm001_glossary', '2026-11-22 18:50:40.824999+00:00');
INSERT INTO _sqlite_migrations (id, migration_set, name, applied_at) VALUES (2, 'argot.jargon_db', 'm002_governance', '2026-11-22 18:50:40.867961+00:00');
INSERT INTO _sqlite_migrations (id, migration_set, name, applied_at) VALUES (3, 'argot.jargon_db', 'm003_mining', '2026-11-22 18:50:40.877947+00:00');
INSERT INTO _sqlite_migrations (id, migration_set, name, applied_at) VALUES (4, 'argot.jargon_db', 'm004_context_versions', '2026-11-22 18:50:40.895969+00:00');
INSERT INTO contexts (id, name, key, description, contact, audience, removed, version) VALUES (1, 'NAND', 'nand', '', '', '[]', 0, 1);
INSERT INTO contexts (id, name, key, description, contact, audience, removed, version) VALUES (2, 'Legal', 'legal', '', '', '[]', 0, 1);
INSERT INTO terms (id, spelling, key) VALUES (1, 'PUC', 'puc');
INSERT INTO terms (id, spelling, key) VALUES (2, 'WLB', 'wlb');
INSERT INTO terms (id, spelling, key) VALUES (3, 'TFL', 'tfl');
INSERT INTO terms (id, spelling, key) VALUES (4, 'QXZ', 'qxz');
INSERT INTO terms (id, spelling, key) VALUES (5, 'VLT', 'vlt');
INSERT INTO terms (id, spelling, key) VALUES (6, 'HID', 'hid');
INSERT INTO senses (id, term, context, expansion, description, notes, owner, status, audience, created, updated, version, review_by, removed) VALUES (1, 1, 1, 'peripheral under cell', '', '', '', 'approved', '[]', '2026-11-22T18:50:40+00:00', '2026-11-22T18:50:40+00:00', 1, NULL, 0);
INSERT INTO senses (id, term, context, expansion, description, notes, owner, status, audience, created, updated, version, review_by, removed) VALUES (2, 1, 1, 'power up control', '', '', '', 'approved', '[]', '2026-11-22T18:50:40+00:00', '2026-11-22T18:50:40+00:00', 1, NULL, 0);
INSERT INTO senses (id, term, context, expansion, description, notes, owner, status, audience, created, updated, version, review_by, removed) VALUES (3, 2, 1, 'wafer-level burn-in', '', '', '', 'approved', '[]', '2026-11-22T18:50:40+00:00', '2026-11-22T18:50:40+00:00', 1, NULL, 0);
INSERT INTO senses (id, term, context, expansion, description, notes, owner, status, audience, created, updated, version, review_by, removed) VALUES (4, 2, 1, 'word line bias', '', '', 'nina', 'approved', '[]', '2026-11-22T18:50:40+00:00', '2026-11-22T18:50:40+00:00', 2, NULL, 0);
INSERT INTO senses (id, term, context, expansion, description, notes, owner, status, audience, created, updated, version, review_by, removed) VALUES (5, 3, 1, 'thin film layer', '', '', '', 'approved', '[]', '2026-11-22T18:50:40+00:00', '2026-11-22T18:50:40+00:00', 1, NULL, 0);
INSERT INTO senses (id, term, context, expansion, description, notes, owner, status, audience, created, updated, version, review_by, removed) VALUES (6, 3, 2, 'thin film layer', '', '', '', 'approved', '[]', '2026-11-22T18:50:41+00:00', '2026-11-22T18:50:41+00:00', 1, NULL, 0);
INSERT INTO senses (id, term, context, expansion, description, notes, owner, status, audience, created, updated, version, review_by, removed) VALUES (7, 4, 1, 'quick zone', '', '', '', 'approved', '[]', '2026-11-22T18:50:41+00:00', '2026-11-22T18:50:41+00:00', 1, NULL, 0);
INSERT INTO senses (id, term, context, expansion, description, notes, owner, status, audience, created, updated, version, review_by, removed) VALUES (8, 4, 1, 'quiet zone', 'since revision 3', '', '', 'approved', '[]', '2026-11-22T18:50:41+00:00', '2026-11-22T18:50:41+00:00', 2, NULL, 0);
INSERT INTO senses (id, term, context, expansion, description, notes, owner, status, audience, created, updated, version, review_by, removed) VALUES (9, 5, 1, 'voltage', '', '', '', 'approved', '[]', '2026-11-22T18:50:41+00:00', '2026-11-22T18:50:41+00:00', 1, NULL, 0);
INSERT INTO senses (id, term, context, expansion, description, notes, owner, status, audience, created, updated, version, review_by, removed) VALUES (10, 5, 1, CAST(X'0072656d6f7665640031300065383736383336323162353139643061' AS TEXT), '', '', 'nina', 'retired', '[]', '2026-11-22T18:50:41+00:00', '2026-11-22T18:50:41+00:00', 2, NULL, 1);
INSERT INTO senses (id, term, context, expansion, description, notes, owner, status, audience, created, updated, version, review_by, removed) VALUES (11, 6, 1, 'hidden', '', '', '', 'approved', '["fab"]', '2026-11-22T18:50:41+00:00', '2026-11-22T18:50:41+00:00', 1, NULL, 0);
INSERT INTO senses (id, term, context, expansion, description, notes, owner, status, audience, created, updated, version, review_by, removed) VALUES (12, 6, 1, 'open', '', '', '', 'approved', '[]', '2026-11-22T18:50:41+00:00', '2026-11-22T18:50:41+00:00', 1, NULL, 0);
INSERT INTO senses (id, term, context, expansion, description, notes, owner, status, audience, created, updated, version, review_by, removed) VALUES (13, 6, 1, 'plain', '', '', '', 'approved', '[]', '2026-11-22T18:50:41+00:00', '2026-11-22T18:50:41+00:00', 1, NULL, 0);
INSERT INTO aliases (sense, place, spelling, key) VALUES (2, 0, CAST(X'500043' AS TEXT), 'pc');
INSERT INTO meta (name, value) VALUES ('version', 22);
INSERT INTO changes (id, at, who, why, kind, name, rows, undoes) VALUES (1, '2026-11-22T18:50:40.925+00:00', 'argot', '', 'edit', '', 2, NULL);
INSERT INTO changes (id, at, who, why, kind, name, rows, undoes) VALUES (2, '2026-11-22T18:50:40.944+00:00', 'argot', '', 'edit', '', 1, NULL);
INSERT INTO changes (id, at, who, why, kind, name, rows, undoes) VALUES (3, '2026-11-22T18:50:40.965+00:00', 'nina', 'two teams say so', 'let stand', 'conflicting_expansion', 2, NULL);
INSERT INTO changes (id, at, who, why, kind, name, rows, undoes) VALUES (4, '2026-11-22T18:50:40.976+00:00', 'argot', '', 'edit', '', 1, NULL);
INSERT INTO changes (id, at, who, why, kind, name, rows, undoes) VALUES (5, '2026-11-22T18:50:40.979+00:00', 'nina', '', 'draft', '', 1, NULL);
INSERT INTO changes (id, at, who, why, kind, name, rows, undoes) VALUES (6, '2026-11-22T18:50:40.987+00:00', 'nina', 'both are used', 'approve', '', 2, NULL);
INSERT INTO changes (id, at, who, why, kind, name, rows, undoes) VALUES (7, '2026-11-22T18:50:40.995+00:00', 'argot', '', 'edit', '', 1, NULL);
INSERT INTO changes (id, at, who, why, kind, name, rows, undoes) VALUES (8, '2026-11-22T18:50:41.003+00:00', 'argot', '', 'edit', '', 2, NULL);
INSERT INTO changes (id, at, who, why, kind, name, rows, undoes) VALUES (9, '2026-11-22T18:50:41.019+00:00', 'admin', '', 'let stand', 'same_elsewhere', 2, NULL);
INSERT INTO changes (id, at, who, why, kind, name, rows, undoes) VALUES (10, '2026-11-22T18:50:41.024+00:00', 'admin', 'Change 9 rolled back.', 'roll back', '', 2, 9);
INSERT INTO changes (id, at, who, why, kind, name, rows, undoes) VALUES (11, '2026-11-22T18:50:41.035+00:00', 'argot', '', 'edit', '', 1, NULL);
INSERT INTO changes (id, at, who, why, kind, name, rows, undoes) VALUES (12, '2026-11-22T18:50:41.037+00:00', 'argot', '', 'edit', '', 1, NULL);
INSERT INTO changes (id, at, who, why, kind, name, rows, undoes) VALUES (13, '2026-11-22T18:50:41.048+00:00', 'nina', '', 'let stand', 'conflicting_expansion', 2, NULL);
INSERT INTO changes (id, at, who, why, kind, name, rows, undoes) VALUES (14, '2026-11-22T18:50:41.051+00:00', 'nina', '', 'edit', '', 1, NULL);
INSERT INTO changes (id, at, who, why, kind, name, rows, undoes) VALUES (15, '2026-11-22T18:50:41.055+00:00', 'argot', '', 'edit', '', 1, NULL);
INSERT INTO changes (id, at, who, why, kind, name, rows, undoes) VALUES (16, '2026-11-22T18:50:41.068+00:00', 'nina', 'a vault, too', 'accept', '', 2, NULL);
INSERT INTO changes (id, at, who, why, kind, name, rows, undoes) VALUES (17, '2026-11-22T18:50:41.072+00:00', 'nina', 'Change 16 rolled back.', 'roll back', '', 2, 16);
INSERT INTO changes (id, at, who, why, kind, name, rows, undoes) VALUES (18, '2026-11-22T18:50:41.085+00:00', 'argot', '', 'edit', '', 1, NULL);
INSERT INTO changes (id, at, who, why, kind, name, rows, undoes) VALUES (19, '2026-11-22T18:50:41.094+00:00', 'argot', '', 'edit', '', 1, NULL);
INSERT INTO changes (id, at, who, why, kind, name, rows, undoes) VALUES (20, '2026-11-22T18:50:41.103+00:00', 'argot', '', 'edit', '', 1, NULL);
INSERT INTO changes (id, at, who, why, kind, name, rows, undoes) VALUES (21, '2026-11-22T18:50:41.108+00:00', 'admin', 'all three', 'let stand', 'conflicting_expansion', 3, NULL);
INSERT INTO history (id, change, subject, row, key, key_was, context, context_was, audience, audience_was, before, after) VALUES (1, 1, 'context', 1, '', NULL, 1, NULL, '[]', NULL, NULL, '{"context":"NAND","description":"","contact":"","audience":[]}');
INSERT INTO history (id, change, subject, row, key, key_was, context, context_was, audience, audience_was, before, after) VALUES (2, 1, 'sense', 1, 'puc', NULL, 1, NULL, '[]', NULL, NULL, '{"term":"PUC","context":"NAND","expansion":"peripheral under cell","description":"","notes":"","aliases":[],"owner":"","status":"approved","audience":[],"review_by":null}');
INSERT INTO history (id, change, subject, row, key, key_was, context, context_was, audience, audience_was, before, after) VALUES (3, 2, 'sense', 2, 'puc', NULL, 1, NULL, '[]', NULL, NULL, '{"term":"PUC","context":"NAND","expansion":"power up control","description":"","notes":"","aliases":["P\u0000C"],"owner":"","status":"approved","audience":[],"review_by":null}');
INSERT INTO history (id, change, subject, row, key, key_was, context, context_was, audience, audience_was, before, after) VALUES (4, 3, 'sense', 1, 'puc', NULL, 1, NULL, '[]', NULL, '{"term":"PUC","context":"NAND","expansion":"peripheral under cell","description":"","notes":"","aliases":[],"owner":"","status":"approved","audience":[],"review_by":null}', '{"term":"PUC","context":"NAND","expansion":"peripheral under cell","description":"","notes":"","aliases":[],"owner":"","status":"approved","audience":[],"review_by":null}');
INSERT INTO history (id, change, subject, row, key, key_was, context, context_was, audience, audience_was, before, after) VALUES (5, 3, 'sense', 2, 'puc', NULL, 1, NULL, '[]', NULL, '{"term":"PUC","context":"NAND","expansion":"power up control","description":"","notes":"","aliases":["P\u0000C"],"owner":"","status":"approved","audience":[],"review_by":null}', '{"term":"PUC","context":"NAND","expansion":"power up control","description":"","notes":"","aliases":["P\u0000C"],"owner":"","status":"approved","audience":[],"review_by":null}');
INSERT INTO history (id, change, subject, row, key, key_was, context, context_was, audience, audience_was, before, after) VALUES (6, 4, 'sense', 3, 'wlb', NULL, 1, NULL, '[]', NULL, NULL, '{"term":"WLB","context":"NAND","expansion":"wafer-level burn-in","description":"","notes":"","aliases":[],"owner":"","status":"approved","audience":[],"review_by":null}');
INSERT INTO history (id, change, subject, row, key, key_was, context, context_was, audience, audience_was, before, after) VALUES (7, 5, 'sense', 4, 'wlb', NULL, 1, NULL, '[]', NULL, NULL, '{"term":"WLB","context":"NAND","expansion":"word line bias","description":"","notes":"","aliases":[],"owner":"nina","status":"draft","audience":[],"review_by":null}');
INSERT INTO history (id, change, subject, row, key, key_was, context, context_was, audience, audience_was, before, after) VALUES (8, 6, 'sense', 3, 'wlb', NULL, 1, NULL, '[]', NULL, '{"term":"WLB","context":"NAND","expansion":"wafer-level burn-in","description":"","notes":"","aliases":[],"owner":"","status":"approved","audience":[],"review_by":null}', '{"term":"WLB","context":"NAND","expansion":"wafer-level burn-in","description":"","notes":"","aliases":[],"owner":"","status":"approved","audience":[],"review_by":null}');
INSERT INTO history (id, change, subject, row, key, key_was, context, context_was, audience, audience_was, before, after) VALUES (9, 6, 'sense', 4, 'wlb', NULL, 1, NULL, '[]', NULL, '{"term":"WLB","context":"NAND","expansion":"word line bias","description":"","notes":"","aliases":[],"owner":"nina","status":"draft","audience":[],"review_by":null}', '{"term":"WLB","context":"NAND","expansion":"word line bias","description":"","notes":"","aliases":[],"owner":"nina","status":"approved","audience":[],"review_by":null}');
INSERT INTO history (id, change, subject, row, key, key_was, context, context_was, audience, audience_was, before, after) VALUES (10, 7, 'sense', 5, 'tfl', NULL, 1, NULL, '[]', NULL, NULL, '{"term":"TFL","context":"NAND","expansion":"thin film layer","description":"","notes":"","aliases":[],"owner":"","status":"approved","audience":[],"review_by":null}');
INSERT INTO history (id, change, subject, row, key, key_was, context, context_was, audience, audience_was, before, after) VALUES (11, 8, 'context', 2, '', NULL, 2, NULL, '[]', NULL, NULL, '{"context":"Legal","description":"","contact":"","audience":[]}');
INSERT INTO history (id, change, subject, row, key, key_was, context, context_was, audience, audience_was, before, after) VALUES (12, 8, 'sense', 6, 'tfl', NULL, 2, NULL, '[]', NULL, NULL, '{"term":"TFL","context":"Legal","expansion":"thin film layer","description":"","notes":"","aliases":[],"owner":"","status":"approved","audience":[],"review_by":null}');
INSERT INTO history (id, change, subject, row, key, key_was, context, context_was, audience, audience_was, before, after) VALUES (13, 9, 'sense', 5, 'tfl', NULL, 1, NULL, '[]', NULL, '{"term":"TFL","context":"NAND","expansion":"thin film layer","description":"","notes":"","aliases":[],"owner":"","status":"approved","audience":[],"review_by":null}', '{"term":"TFL","context":"NAND","expansion":"thin film layer","description":"","notes":"","aliases":[],"owner":"","status":"approved","audience":[],"review_by":null}');
INSERT INTO history (id, change, subject, row, key, key_was, context, context_was, audience, audience_was, before, after) VALUES (14, 9, 'sense', 6, 'tfl', NULL, 2, NULL, '[]', NULL, '{"term":"TFL","context":"Legal","expansion":"thin film layer","description":"","notes":"","aliases":[],"owner":"","status":"approved","audience":[],"review_by":null}', '{"term":"TFL","context":"Legal","expansion":"thin film layer","description":"","notes":"","aliases":[],"owner":"","status":"approved","audience":[],"review_by":null}');
INSERT INTO history (id, change, subject, row, key, key_was, context, context_was, audience, audience_was, before, after) VALUES (15, 10, 'sense', 5, 'tfl', NULL, 1, NULL, '[]', NULL, '{"term":"TFL","context":"NAND","expansion":"thin film layer","description":"","notes":"","aliases":[],"owner":"","status":"approved","audience":[],"review_by":null}', '{"term":"TFL","context":"NAND","expansion":"thin film layer","description":"","notes":"","aliases":[],"owner":"","status":"approved","audience":[],"review_by":null}');
INSERT INTO history (id, change, subject, row, key, key_was, context, context_was, audience, audience_was, before, after) VALUES (16, 10, 'sense', 6, 'tfl', NULL, 2, NULL, '[]', NULL, '{"term":"TFL","context":"Legal","expansion":"thin film layer","description":"","notes":"","aliases":[],"owner":"","status":"approved","audience":[],"review_by":null}', '{"term":"TFL","context":"Legal","expansion":"thin film layer","description":"","notes":"","aliases":[],"owner":"","status":"approved","audience":[],"review_by":null}');
INSERT INTO history (id, change, subject, row, key, key_was, context, context_was, audience, audience_was, before, after) VALUES (17, 11, 'sense', 7, 'qxz', NULL, 1, NULL, '[]', NULL, NULL, '{"term":"QXZ","context":"NAND","expansion":"quick zone","description":"","notes":"","aliases":[],"owner":"","status":"approved","audience":[],"review_by":null}');
INSERT INTO history (id, change, subject, row, key, key_was, context, context_was, audience, audience_was, before, after) VALUES (18, 12, 'sense', 8, 'qxz', NULL, 1, NULL, '[]', NULL, NULL, '{"term":"QXZ","context":"NAND","expansion":"quiet zone","description":"","notes":"","aliases":[],"owner":"","status":"approved","audience":[],"review_by":null}');
INSERT INTO history (id, change, subject, row, key, key_was, context, context_was, audience, audience_was, before, after) VALUES (19, 13, 'sense', 7, 'qxz', NULL, 1, NULL, '[]', NULL, '{"term":"QXZ","context":"NAND","expansion":"quick zone","description":"","notes":"","aliases":[],"owner":"","status":"approved","audience":[],"review_by":null}', '{"term":"QXZ","context":"NAND","expansion":"quick zone","description":"","notes":"","aliases":[],"owner":"","status":"approved","audience":[],"review_by":null}');
INSERT INTO history (id, change, subject, row, key, key_was, context, context_was, audience, audience_was, before, after) VALUES (20, 13, 'sense', 8, 'qxz', NULL, 1, NULL, '[]', NULL, '{"term":"QXZ","context":"NAND","expansion":"quiet zone","description":"","notes":"","aliases":[],"owner":"","status":"approved","audience":[],"review_by":null}', '{"term":"QXZ","context":"NAND","expansion":"quiet zone","description":"","notes":"","aliases":[],"owner":"","status":"approved","audience":[],"review_by":null}');
INSERT INTO history (id, change, subject, row, key, key_was, context, context_was, audience, audience_was, before, after) VALUES (21, 14, 'sense', 8, 'qxz', NULL, 1, NULL, '[]', NULL, '{"term":"QXZ","context":"NAND","expansion":"quiet zone","description":"","notes":"","aliases":[],"owner":"","status":"approved","audience":[],"review_by":null}', '{"term":"QXZ","context":"NAND","expansion":"quiet zone","description":"since revision 3","notes":"","aliases":[],"owner":"","status":"approved","audience":[],"review_by":null}');
INSERT INTO history (id, change, subject, row, key, key_was, context, context_was, audience, audience_was, before, after) VALUES (22, 15, 'sense', 9, 'vlt', NULL, 1, NULL, '[]', NULL, NULL, '{"term":"VLT","context":"NAND","expansion":"voltage","description":"","notes":"","aliases":[],"owner":"","status":"approved","audience":[],"review_by":null}');
INSERT INTO history (id, change, subject, row, key, key_was, context, context_was, audience, audience_was, before, after) VALUES (23, 16, 'sense', 10, 'vlt', NULL, 1, NULL, '[]', NULL, NULL, '{"term":"VLT","context":"NAND","expansion":"vault","description":"","notes":"","aliases":[],"owner":"nina","status":"approved","audience":[],"review_by":null}');
INSERT INTO history (id, change, subject, row, key, key_was, context, context_was, audience, audience_was, before, after) VALUES (24, 16, 'sense', 9, 'vlt', NULL, 1, NULL, '[]', NULL, '{"term":"VLT","context":"NAND","expansion":"voltage","description":"","notes":"","aliases":[],"owner":"","status":"approved","audience":[],"review_by":null}', '{"term":"VLT","context":"NAND","expansion":"voltage","description":"","notes":"","aliases":[],"owner":"","status":"approved","audience":[],"review_by":null}');
INSERT INTO history (id, change, subject, row, key, key_was, context, context_was, audience, audience_was, before, after) VALUES (25, 17, 'sense', 10, 'vlt', NULL, 1, NULL, '[]', NULL, '{"term":"VLT","context":"NAND","expansion":"vault","description":"","notes":"","aliases":[],"owner":"nina","status":"approved","audience":[],"review_by":null}', NULL);
INSERT INTO history (id, change, subject, row, key, key_was, context, context_was, audience, audience_was, before, after) VALUES (26, 17, 'sense', 9, 'vlt', NULL, 1, NULL, '[]', NULL, '{"term":"VLT","context":"NAND","expansion":"voltage","description":"","notes":"","aliases":[],"owner":"","status":"approved","audience":[],"review_by":null}', '{"term":"VLT","context":"NAND","expansion":"voltage","description":"","notes":"","aliases":[],"owner":"","status":"approved","audience":[],"review_by":null}');
INSERT INTO history (id, change, subject, row, key, key_was, context, context_was, audience, audience_was, before, after) VALUES (27, 18, 'sense', 11, 'hid', NULL, 1, NULL, '["fab"]', NULL, NULL, '{"term":"HID","context":"NAND","expansion":"hidden","description":"","notes":"","aliases":[],"owner":"","status":"approved","audience":["fab"],"review_by":null}');
INSERT INTO history (id, change, subject, row, key, key_was, context, context_was, audience, audience_was, before, after) VALUES (28, 19, 'sense', 12, 'hid', NULL, 1, NULL, '[]', NULL, NULL, '{"term":"HID","context":"NAND","expansion":"open","description":"","notes":"","aliases":[],"owner":"","status":"approved","audience":[],"review_by":null}');
INSERT INTO history (id, change, subject, row, key, key_was, context, context_was, audience, audience_was, before, after) VALUES (29, 20, 'sense', 13, 'hid', NULL, 1, NULL, '[]', NULL, NULL, '{"term":"HID","context":"NAND","expansion":"plain","description":"","notes":"","aliases":[],"owner":"","status":"approved","audience":[],"review_by":null}');
INSERT INTO history (id, change, subject, row, key, key_was, context, context_was, audience, audience_was, before, after) VALUES (30, 21, 'sense', 11, 'hid', NULL, 1, NULL, '["fab"]', NULL, '{"term":"HID","context":"NAND","expansion":"hidden","description":"","notes":"","aliases":[],"owner":"","status":"approved","audience":["fab"],"review_by":null}', '{"term":"HID","context":"NAND","expansion":"hidden","description":"","notes":"","aliases":[],"owner":"","status":"approved","audience":["fab"],"review_by":null}');
INSERT INTO history (id, change, subject, row, key, key_was, context, context_was, audience, audience_was, before, after) VALUES (31, 21, 'sense', 12, 'hid', NULL, 1, NULL, '[]', NULL, '{"term":"HID","context":"NAND","expansion":"open","description":"","notes":"","aliases":[],"owner":"","status":"approved","audience":[],"review_by":null}', '{"term":"HID","context":"NAND","expansion":"open","description":"","notes":"","aliases":[],"owner":"","status":"approved","audience":[],"review_by":null}');
INSERT INTO history (id, change, subject, row, key, key_was, context, context_was, audience, audience_was, before, after) VALUES (32, 21, 'sense', 13, 'hid', NULL, 1, NULL, '[]', NULL, '{"term":"HID","context":"NAND","expansion":"plain","description":"","notes":"","aliases":[],"owner":"","status":"approved","audience":[],"review_by":null}', '{"term":"HID","context":"NAND","expansion":"plain","description":"","notes":"","aliases":[],"owner":"","status":"approved","audience":[],"review_by":null}');
INSERT INTO sense_search (rowid, term, aliases, expansion, description) VALUES (1, 'puc', '', 'peripheral under cell', '');
INSERT INTO sense_search (rowid, term, aliases, expansion, description) VALUES (2, 'puc', 'pc', 'power up control', '');
INSERT INTO sense_search (rowid, term, aliases, expansion, description) VALUES (3, 'wlb', '', 'wafer level burn in', '');
INSERT INTO sense_search (rowid, term, aliases, expansion, description) VALUES (4, 'wlb', '', 'word line bias', '');
INSERT INTO sense_search (rowid, term, aliases, expansion, description) VALUES (5, 'tfl', '', 'thin film layer', '');
INSERT INTO sense_search (rowid, term, aliases, expansion, description) VALUES (6, 'tfl', '', 'thin film layer', '');
INSERT INTO sense_search (rowid, term, aliases, expansion, description) VALUES (7, 'qxz', '', 'quick zone', '');
INSERT INTO sense_search (rowid, term, aliases, expansion, description) VALUES (8, 'qxz', '', 'quiet zone', 'since revision 3');
INSERT INTO sense_search (rowid, term, aliases, expansion, description) VALUES (9, 'vlt', '', 'voltage', '');
INSERT INTO sense_search (rowid, term, aliases, expansion, description) VALUES (11, 'hid', '', 'hidden', '');
INSERT INTO sense_search (rowid, term, aliases, expansion, description) VALUES (12, 'hid', '', 'open', '');
INSERT INTO sense_search (rowid, term, aliases, expansion, description) VALUES (13, 'hid', '', 'plain', '');
INSERT INTO proposals (id, term, key, context, expansion, expansion_key, description, description_audience, evidence, audiences, origin, status, created, created_by, updated, decided, decided_by, why, sense, score) VALUES (1, 'VLT', 'vlt', 'NAND', 'vault', 'vault', '', '[]', '[]', '["[]"]', 'person', 'open', '2026-11-22T18:50:41+00:00', '', '2026-11-22T18:50:41+00:00', '2026-11-22T18:50:41+00:00', 'nina', 'a vault, too', 10, NULL);
CREATE UNIQUE INDEX "idx__sqlite_migrations_migration_set_name"
    ON "_sqlite_migrations" ("migration_set", "name");
CREATE INDEX terms_by_key ON terms (key);
CREATE INDEX senses_by_context ON senses (context);
CREATE INDEX aliases_by_key ON aliases (key);
CREATE INDEX senses_by_audience ON senses (audience);
CREATE VIEW sense_rows AS
SELECT senses.id, terms.spelling, terms.key, contexts.name AS context_name, contexts.key AS context_key,
       senses.expansion, senses.description, senses.notes, senses.owner, senses.status, senses.audience,
       contexts.audience AS context_audience, senses.updated, senses.version, senses.review_by,
       (SELECT json_group_array(hex(spelling)) FROM
           (SELECT spelling FROM aliases WHERE aliases.sense = senses.id ORDER BY place)) AS aliases
FROM senses JOIN terms ON terms.id = senses.term JOIN contexts ON contexts.id = senses.context
WHERE NOT senses.removed;
CREATE INDEX changes_by_undone ON changes (undoes) WHERE undoes IS NOT NULL;
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
CREATE INDEX proposals_by_status ON proposals (status);
CREATE INDEX uses_by_sense ON uses (sense);
CREATE INDEX proposals_by_sense ON proposals (sense) WHERE sense IS NOT NULL;
