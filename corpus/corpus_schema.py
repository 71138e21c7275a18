"""The schema of corpus.db, as numbered migrations. Migrations are only ever added, so that a store of any age is
migrated.
"""

from __future__ import annotations

import json
import sqlite3

from argot.corpus.keyword_tables import BLOCK_TABLES, POSTGRESQL_TABLES
from argot.corpus.postgresql_schema import ROW_SECURITY, guard_documents, translate_documents, translate_fields
from argot.databases import PerEngine, StoreMigration
from argot.sqlite import MigrationNames, run_script

_DOCUMENTS = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

-- The distinct sets of readers. Few, however many documents: searches are narrowed by their numbers.
CREATE TABLE audiences (n INTEGER PRIMARY KEY, tokens TEXT NOT NULL UNIQUE);

CREATE TABLE documents (
    id TEXT PRIMARY KEY,
    uri TEXT NOT NULL UNIQUE,
    title TEXT NOT NULL,
    date TEXT,
    tags TEXT NOT NULL DEFAULT '[]',
    audience INTEGER NOT NULL REFERENCES audiences(n),
    revision TEXT NOT NULL,
    passages INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX documents_by_audience ON documents(audience);

-- Superseded revisions keep their Markdown, so that a citation of them can be explained; they never answer.
CREATE TABLE revisions (
    id TEXT PRIMARY KEY,
    document TEXT NOT NULL REFERENCES documents(id) ON DELETE CASCADE,
    content_hash TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('live', 'superseded')),
    superseded_by TEXT,
    media_type TEXT NOT NULL,
    markdown TEXT NOT NULL,
    size INTEGER NOT NULL,
    added_at TEXT NOT NULL,
    derived_by TEXT NOT NULL DEFAULT ''
) WITHOUT ROWID;
CREATE INDEX revisions_by_document ON revisions(document);
CREATE INDEX revisions_by_content ON revisions(content_hash, state);

-- Passages of live revisions only. `title` and `folded` are what the keyword index holds (folded: null when as text).
CREATE TABLE passages (
    n INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    document TEXT NOT NULL REFERENCES documents(id) ON DELETE CASCADE,
    revision TEXT NOT NULL REFERENCES revisions(id) ON DELETE CASCADE,
    audience INTEGER NOT NULL REFERENCES audiences(n),
    ordinal INTEGER NOT NULL,
    start INTEGER NOT NULL,
    end INTEGER NOT NULL,
    text TEXT NOT NULL,
    header TEXT NOT NULL,
    heading_path TEXT NOT NULL,
    page INTEGER,
    page_kind TEXT,
    boxes TEXT NOT NULL DEFAULT '[]',
    before TEXT NOT NULL DEFAULT '',
    after TEXT NOT NULL DEFAULT '',
    title TEXT NOT NULL,
    heading TEXT NOT NULL,
    folded TEXT,
    identifiers TEXT NOT NULL DEFAULT ''
);
CREATE INDEX passages_by_document ON passages(document, ordinal);
CREATE INDEX passages_by_audience ON passages(audience);
"""

_DERIVED = """
CREATE TABLE derived (
    n INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    document TEXT NOT NULL REFERENCES documents(id) ON DELETE CASCADE,
    audience INTEGER NOT NULL REFERENCES audiences(n),
    kind TEXT NOT NULL,
    text TEXT NOT NULL,
    prompt TEXT NOT NULL DEFAULT '',
    model TEXT NOT NULL DEFAULT '',
    folded TEXT,
    identifiers TEXT NOT NULL DEFAULT ''
);
CREATE INDEX derived_by_document ON derived(document);

CREATE TABLE derived_passages (
    derived TEXT NOT NULL REFERENCES derived(id) ON DELETE CASCADE,
    passage TEXT NOT NULL REFERENCES passages(id) ON DELETE CASCADE,
    ordinal INTEGER NOT NULL,
    PRIMARY KEY (derived, passage)
) WITHOUT ROWID;
CREATE INDEX derived_passages_by_passage ON derived_passages(passage);

CREATE TABLE triples (
    n INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    document TEXT NOT NULL REFERENCES documents(id) ON DELETE CASCADE,
    audience INTEGER NOT NULL REFERENCES audiences(n),
    source TEXT NOT NULL,
    action TEXT NOT NULL,
    target TEXT NOT NULL,
    passage TEXT NOT NULL REFERENCES passages(id) ON DELETE CASCADE,
    text TEXT NOT NULL,
    folded TEXT,
    identifiers TEXT NOT NULL DEFAULT ''
);
CREATE INDEX triples_by_document ON triples(document);
CREATE INDEX triples_by_passage ON triples(passage);
"""

_WORDS = """
CREATE VIEW passage_texts AS SELECT n, title, heading, coalesce(folded, text) AS body, identifiers FROM passages;
CREATE VIEW derived_searched AS SELECT n, coalesce(folded, text) AS body, identifiers FROM derived;
CREATE VIEW triple_searched AS SELECT n, coalesce(folded, text) AS body, identifiers FROM triples;

CREATE VIRTUAL TABLE passage_words USING fts5(title, heading, body, identifiers,
    content='passage_texts', content_rowid='n', tokenize='porter unicode61 remove_diacritics 2');
CREATE VIRTUAL TABLE derived_words USING fts5(body, identifiers,
    content='derived_searched', content_rowid='n', tokenize='porter unicode61 remove_diacritics 2');
CREATE VIRTUAL TABLE triple_words USING fts5(body, identifiers,
    content='triple_searched', content_rowid='n', tokenize='porter unicode61 remove_diacritics 2');
"""

_INGEST = """
-- Originals that may have to go: a row is written before a file is, and goes in the transaction that makes the revision
-- live. What is left here after a crash, or by a removal, is deleted unless some revision needs it.
CREATE TABLE ledger (
    document TEXT NOT NULL, content_hash TEXT NOT NULL, PRIMARY KEY (document, content_hash)
) WITHOUT ROWID;

-- Vectors to be deleted from the index: those of work under way (until it is done), and those of replaced rows.
CREATE TABLE vector_deletions (
    generation TEXT NOT NULL,
    collection TEXT NOT NULL,
    vector TEXT NOT NULL,
    document TEXT NOT NULL,
    under_way INTEGER NOT NULL,
    PRIMARY KEY (generation, collection, vector)
) WITHOUT ROWID;
CREATE INDEX vector_deletions_by_document ON vector_deletions(document);

-- How many windows, and so vectors, each searched text has in a generation of the vector index.
CREATE TABLE vectors (
    generation TEXT NOT NULL,
    item TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('passage', 'derived', 'triple')),
    document TEXT NOT NULL REFERENCES documents(id) ON DELETE CASCADE,
    windows INTEGER NOT NULL,
    PRIMARY KEY (generation, item)
) WITHOUT ROWID;
CREATE INDEX vectors_by_document ON vectors(document);

CREATE TABLE generations (
    name TEXT PRIMARY KEY,
    fingerprint TEXT NOT NULL,
    dimensions INTEGER NOT NULL
) WITHOUT ROWID;
"""

_DERIVATIONS = """
-- What was made of a passage after it came in, also where nothing came of it: so that nothing is made twice.
CREATE TABLE derivations (
    passage TEXT NOT NULL REFERENCES passages(id) ON DELETE CASCADE,
    kind TEXT NOT NULL,
    document TEXT NOT NULL REFERENCES documents(id) ON DELETE CASCADE,
    prompt TEXT NOT NULL,
    model TEXT NOT NULL,
    PRIMARY KEY (passage, kind)
) WITHOUT ROWID;
CREATE INDEX derivations_by_document ON derivations(document, kind);

-- Empty for triples that were made when the document was read; revisions.derived_by names what made those.
ALTER TABLE triples ADD COLUMN prompt TEXT NOT NULL DEFAULT '';
ALTER TABLE triples ADD COLUMN model TEXT NOT NULL DEFAULT '';
"""

_SKETCHES = """
-- Two numbers for each vector, by which `argot doctor` knows it again; null for those written before.
ALTER TABLE vectors ADD COLUMN sketch BLOB;
"""

_NEIGHBOURS = """
-- Cuts of the neighbouring passages, which nothing searched or answered from. They are in the revision's Markdown.
ALTER TABLE passages DROP COLUMN before;
ALTER TABLE passages DROP COLUMN after;
"""

_SOURCES = """
-- What the documents stay in step with. `every`: seconds, 0: only when asked. `failures`: since the last success.
CREATE TABLE sources (
    name TEXT PRIMARY KEY,
    kind TEXT NOT NULL,
    address TEXT NOT NULL,
    options TEXT NOT NULL,
    audience TEXT NOT NULL,
    tags TEXT NOT NULL,
    every INTEGER NOT NULL,
    added_at TEXT NOT NULL,
    state TEXT NOT NULL DEFAULT 'new',
    detail TEXT NOT NULL DEFAULT '',
    tried_at TEXT,
    synced_at TEXT,
    failures INTEGER NOT NULL DEFAULT 0,
    mark TEXT NOT NULL DEFAULT ''
) WITHOUT ROWID;

-- What each held when it was last looked at. An empty stamp: to be read the next time. `document`: what is stored of
-- it; of a duplicate, its twin.
CREATE TABLE source_items (
    source TEXT NOT NULL REFERENCES sources(name) ON DELETE CASCADE,
    uri TEXT NOT NULL,
    stamp TEXT NOT NULL DEFAULT '',
    outcome TEXT NOT NULL DEFAULT 'due',
    document TEXT,
    content_hash TEXT,
    detail TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (source, uri)
) WITHOUT ROWID;
CREATE INDEX source_items_by_uri ON source_items(uri);
"""

_DUSTBIN = """
-- Removed documents, in tables of their own so that no search, list or count can reach them. `tokens`: their readers.
CREATE TABLE removed_documents (
    id TEXT PRIMARY KEY,
    uri TEXT NOT NULL,
    title TEXT NOT NULL,
    tags TEXT NOT NULL,
    tokens TEXT NOT NULL,
    revision TEXT NOT NULL,
    passages INTEGER NOT NULL,
    removed_at TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE removed_revisions (
    id TEXT PRIMARY KEY,
    document TEXT NOT NULL REFERENCES removed_documents(id) ON DELETE CASCADE,
    content_hash TEXT NOT NULL,
    state TEXT NOT NULL,
    superseded_by TEXT,
    media_type TEXT NOT NULL,
    markdown TEXT NOT NULL,
    size INTEGER NOT NULL,
    added_at TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX removed_by_document ON removed_revisions(document);
CREATE INDEX removed_by_content ON removed_revisions(content_hash);
"""

_UNASKED = """
-- How far documents are with what the service derives of them unasked. None: it is still to be done, as it is where
-- other texts (`wanted`) are wanted by now. `tries`: those that failed.
CREATE TABLE derivation_states (
    document TEXT PRIMARY KEY REFERENCES documents(id) ON DELETE CASCADE,
    wanted TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('derived', 'failed')),
    tries INTEGER NOT NULL DEFAULT 0,
    detail TEXT NOT NULL DEFAULT '',
    tried_at TEXT NOT NULL
) WITHOUT ROWID;

-- What was spent on it, by days in UTC.
CREATE TABLE derivation_spending (
    day TEXT PRIMARY KEY,
    calls INTEGER NOT NULL,
    tokens INTEGER NOT NULL
) WITHOUT ROWID;
"""

_FIELDS = """
-- What is said of documents as wholes, to narrow questions by. `folded`: the value without case. `origin`: 'file' was
-- read from it, 'given' came from a manager (a new reading leaves it), 'tag' repeats documents.tags for the index.
CREATE TABLE document_fields (
    document TEXT NOT NULL REFERENCES documents(id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    value TEXT NOT NULL,
    -- Before `folded`: SQLite's quick_check takes a column for another where those of the key are not the first.
    origin TEXT NOT NULL CHECK (origin IN ('file', 'given', 'tag')),
    folded TEXT NOT NULL,
    PRIMARY KEY (document, name, value, origin)
) WITHOUT ROWID;
CREATE INDEX document_fields_by_value ON document_fields(name, folded, document);
CREATE INDEX documents_by_date ON documents(date);

-- The fields that stand before the title in the headers of its passages, and are searched with it.
ALTER TABLE documents ADD COLUMN header TEXT NOT NULL DEFAULT '';
-- What managers said of it, as a JSON list of names and values.
ALTER TABLE removed_documents ADD COLUMN fields TEXT NOT NULL DEFAULT '[]';

-- By what documents are found to be nearly the same (`argot.corpus.minhash`); none of those that are short.
CREATE TABLE document_sketches (
    document TEXT PRIMARY KEY REFERENCES documents(id) ON DELETE CASCADE,
    sketch BLOB NOT NULL
) WITHOUT ROWID;
CREATE TABLE document_bands (
    document TEXT NOT NULL REFERENCES documents(id) ON DELETE CASCADE,
    band INTEGER NOT NULL,
    part BLOB NOT NULL,
    PRIMARY KEY (document, band)
) WITHOUT ROWID;
CREATE INDEX document_bands_by_part ON document_bands(band, part);
"""


def put_fields(connection: sqlite3.Connection) -> None:
    """Create the table, with the tags that documents have already."""
    run_script(connection, _FIELDS)
    # SQLite's own `lower` converts only A to Z.
    connection.executemany(
        "INSERT INTO document_fields (document, name, value, origin, folded) VALUES (?, 'tag', ?, 'tag', ?)",
        [
            (document, tag, tag.casefold())
            for document, tags in connection.execute("SELECT id, tags FROM documents").fetchall()
            for tag in set(json.loads(tags))
        ],
    )


_WARNINGS = """
-- What of a revision could not be read, as its reader said it: a JSON list of texts.
ALTER TABLE revisions ADD COLUMN warnings TEXT NOT NULL DEFAULT '[]';

-- How many answers cited a document, by day (UTC): no question, and nobody who asked.
CREATE TABLE citation_counts (
    document TEXT NOT NULL REFERENCES documents(id) ON DELETE CASCADE,
    day TEXT NOT NULL,
    answers INTEGER NOT NULL,
    PRIMARY KEY (document, day)
) WITHOUT ROWID;

-- How the last sync of a source that came to an end went: its counts by outcome and its first problems, as JSON.
ALTER TABLE sources ADD COLUMN last_sync TEXT NOT NULL DEFAULT '{}';
"""

_SOURCE_METADATA = """
-- What a source says of a document beside its content (m013): it stays when the document is read again.
CREATE TABLE source_metadata (
    document TEXT PRIMARY KEY REFERENCES documents(id) ON DELETE CASCADE,
    title TEXT NOT NULL,
    date TEXT NOT NULL,
    author TEXT NOT NULL,
    labels TEXT NOT NULL
) WITHOUT ROWID;

-- How often in a row something of a source failed, when it was tried last, and the stamp that it had then.
ALTER TABLE source_items ADD COLUMN failures INTEGER NOT NULL DEFAULT 0;
ALTER TABLE source_items ADD COLUMN tried_at TEXT NOT NULL DEFAULT '';
ALTER TABLE source_items ADD COLUMN tried_stamp TEXT NOT NULL DEFAULT '';
"""


_QUANTISED = """
-- The vectors of a document's live revision, of one kind, as they were written together: their ids, a line each, the
-- signs of their numbers, and the numbers. Where there are none there is a part without any.
CREATE TABLE quantised_vectors (
    document TEXT NOT NULL REFERENCES documents(id) ON DELETE CASCADE,
    kind TEXT NOT NULL CHECK (kind IN ('passage', 'derived', 'triple')),
    generation TEXT NOT NULL,
    part INTEGER NOT NULL,
    revision TEXT NOT NULL,
    vectors TEXT NOT NULL,
    signs BLOB NOT NULL,
    -- Last, and so never read with the rest.
    numbers BLOB NOT NULL,
    PRIMARY KEY (document, kind, generation, part)
);
"""
# They do not compress.
_QUANTISED_APART = "".join(
    f"ALTER TABLE quantised_vectors ALTER COLUMN {column} SET STORAGE EXTERNAL;\n" for column in ("signs", "numbers")
)


# For existing passages: the store builds them when it is opened.
_BLOCKS_DUE = "INSERT INTO meta (key, value) SELECT 'words_to_index', 'due' WHERE EXISTS (SELECT 1 FROM passages);\n"


_REMOVED_PASSAGES = """
-- The passages that a removed document had, by which others know what they made of it.
CREATE TABLE removed_passages (
    document TEXT NOT NULL REFERENCES removed_documents(id) ON DELETE CASCADE,
    id TEXT NOT NULL,
    PRIMARY KEY (document, id)
) WITHOUT ROWID;
"""

_PICTURES = """
-- The pictures of live revisions. Their bytes are with the originals, by `content_hash`. `start`: characters of the
-- revision's Markdown; `box`: JSON with x0, y0, x1 and y1 on its page, or null.
CREATE TABLE pictures (
    document TEXT NOT NULL REFERENCES documents(id) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    passage TEXT NOT NULL,
    start INTEGER NOT NULL,
    label TEXT NOT NULL,
    content_hash TEXT NOT NULL,
    media_type TEXT NOT NULL,
    width INTEGER NOT NULL,
    height INTEGER NOT NULL,
    size INTEGER NOT NULL,
    caption TEXT NOT NULL,
    alternative TEXT NOT NULL,
    words TEXT NOT NULL,
    page INTEGER,
    page_kind TEXT,
    box TEXT NOT NULL,
    PRIMARY KEY (document, number)
);
CREATE INDEX pictures_by_passage ON pictures(passage);
CREATE INDEX pictures_by_content ON pictures(content_hash);
"""

_DESCRIBED = """
-- For a description: the number of the picture in its document.
ALTER TABLE derived ADD COLUMN picture INTEGER;
"""

_LANGUAGES = """
-- As in ISO 639-1; empty: unknown. Those of passages that are not English are stemmed by rules of their own.
ALTER TABLE passages ADD COLUMN language TEXT NOT NULL DEFAULT '';
CREATE TABLE passage_languages (language TEXT PRIMARY KEY);
INSERT INTO meta (key, value) SELECT 'languages_to_detect', 'due' WHERE EXISTS (SELECT 1 FROM passages);
"""

MIGRATIONS: tuple[StoreMigration, ...] = (
    PerEngine(_DOCUMENTS, translate_documents(_DOCUMENTS)),
    _DERIVED,
    PerEngine(_WORDS, POSTGRESQL_TABLES + ROW_SECURITY),
    _INGEST,
    _DERIVATIONS,
    _SKETCHES,
    _NEIGHBOURS,
    _SOURCES,
    _DUSTBIN,
    _UNASKED,
    PerEngine(put_fields, translate_fields(_FIELDS)),
    _WARNINGS,
    _SOURCE_METADATA,
    PerEngine(BLOCK_TABLES + _BLOCKS_DUE, ""),
    PerEngine(_QUANTISED, _QUANTISED + _QUANTISED_APART),
    _REMOVED_PASSAGES,
    PerEngine(_PICTURES, _PICTURES + guard_documents("pictures")),
    _DESCRIBED,
    _LANGUAGES,
)
NAMES = MigrationNames(
    "corpus",
    ("m001_documents", "m002_derived", "m003_words", "m004_ingest", "m005_derivations", "m006_sketches"),
)
