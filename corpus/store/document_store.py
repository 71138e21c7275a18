"""corpus.db: documents, revisions, passages, derived texts, triples and the keyword index.

Every read is made for a principal and checked against the audience here, in SQLite, last: whatever an index returned,
an id that this person may not read, or that a newer revision replaced, is simply absent.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from argot.corpus.database import CorpusDatabase, SqliteCorpusDatabase
from argot.corpus.document_ids import hash_content
from argot.corpus.fifo_cache import SizedCache
from argot.corpus.keyword.keyword_index import WORDS_TO_FORGET, build_missing_blocks, choose_keyword_index
from argot.corpus.store import document_fields
from argot.corpus.store.blobs import Blobs, FolderBlobs
from argot.corpus.store.row_mapping import (
    DOCUMENT_COLUMNS,
    DOCUMENT_TABLES,
    PASSAGE_COLUMNS,
    Revision,
    build_document,
    build_passage,
    load_audience,
)
from argot.corpus.vector_ids import KINDS, TABLES, VectorKind
from argot.databases import Connection
from argot.errors import InvalidInput, NotFound
from argot.remedies import LIST_DOCUMENTS, build_damage_error, init_command
from argot.types import THREAD, Audience, DerivedText, Document, Passage, Principal, QuestionScope, Triple, is_of_thread

_FETCHED = 50
"""Minimum number of passages looked up, whatever the limit: one question is searched with several limits."""

CacheKey = tuple[int, tuple[int, ...] | None]
"""The version of the documents, and the numbers of the audiences that somebody may read; None: all."""

Documents = Collection[str] | None
"""Ids of the only documents searched; None: all."""


class CorpusStore:
    """Safe to use from several threads. Nothing here writes a document: `argot.corpus.corpus` does."""

    def __init__(self, database: CorpusDatabase, blobs: Blobs) -> None:
        self.database = database
        self.blobs = blobs
        # The larger an entry, the fewer: a ranking of at least 50 ids, a single number, a short tuple.
        self._searches = SizedCache(100)
        self._counts = SizedCache(20_000)
        self._scopes = SizedCache(10)  # each may name all documents
        self._cache_keys = SizedCache(1_000)
        self._memo: tuple[int, SizedCache] | None = None

    @classmethod
    def open(cls, path: Path, *, read_only: bool = False) -> CorpusStore:
        """Open corpus.db, creating it if its folder has no knowledge base yet.

        Raises:
            DamagedStore: it is missing from, or damaged in, an existing knowledge base.
            NotFound: read_only, and there is none.
        """
        exists = path.exists() and path.stat().st_size > 0
        # A new, empty database would hide that the old one was lost.
        if not exists and (path.parent / "vectors" / "CURRENT").exists():
            raise build_damage_error(path, "the file is missing or empty")
        if not exists and read_only:
            raise NotFound(f"There is no knowledge base in {path.parent}. Make one with: {init_command(path.parent)}")
        path.parent.mkdir(parents=True, exist_ok=True)
        database = SqliteCorpusDatabase(path, read_only=read_only)
        if not read_only:
            build_missing_blocks(database)
        return cls(database, FolderBlobs(path.parent / "blobs"))

    def close(self) -> None:
        self.database.close()

    @property
    def version(self) -> int:
        """Number that increases with every change to documents: results computed under another number are stale."""
        return _read_version(self._connection)

    def memo(self, version: int, size: int) -> SizedCache:
        """Return the cache, of this size, of others' results computed from the documents; a new one for another
        version.
        """
        if self._memo is None or self._memo[0] != version:
            self._memo = (version, SizedCache(size))
        return self._memo[1]

    def cache_key(self, principal: Principal) -> CacheKey:
        """Return the key of everything that is computed from the passages for this principal.

        It is the same for all readers with the same access, and changes with every document change.
        """
        key = (self.version, principal.sees_all, principal.tokens)
        found: CacheKey | None = self._cache_keys.get(key)
        if found is None:
            with self._read_audiences(principal) as (connection, audiences):
                found = _cache_key(connection, audiences)
            self._cache_keys.put(key, found)
        return found

    # -- documents --------------------------------------------------------------------------------------------------

    def documents(self, principal: Principal) -> list[Document]:
        sql = f"SELECT {DOCUMENT_COLUMNS} FROM {DOCUMENT_TABLES} ORDER BY d.uri"  # noqa: S608
        rows = self.database.rows_for(principal, sql)
        return [document for document in map(build_document, rows) if principal.may_read(document.audience)]

    def list_conversation_documents(self, principal: Principal) -> list[Document]:
        """List the documents of the current conversation, oldest first. Quick, however many documents there are."""
        audiences = self._connection.execute("SELECT n, tokens FROM audiences").fetchall()
        own = [n for n, tokens in audiences if is_of_thread(one := load_audience(tokens)) and principal.may_read(one)]
        if not own:
            return []
        rows = self._connection.execute(  # by then a number may mean others: each is checked once more
            f"""SELECT {DOCUMENT_COLUMNS} FROM {DOCUMENT_TABLES}
            WHERE d.audience IN (SELECT CAST(value AS INTEGER) FROM json_each(?)) ORDER BY r.added_at, d.uri""",  # noqa: S608
            (json.dumps(own),),
        )
        return [document for document in map(build_document, rows) if principal.may_read(document.audience)]

    def list_conversations(self) -> set[str]:
        """Return the ids of the conversations that have documents."""
        rows = self._connection.execute("SELECT tokens FROM audiences").fetchall()
        every = [token for (tokens,) in rows for token in load_audience(tokens)]
        return {token.removeprefix(THREAD) for token in every if token.startswith(THREAD)}

    def document(self, principal: Principal, id_or_name_or_uri: str) -> Document:
        """Return the document of this id, URI, path or name.

        Raises:
            NotFound: there is none that this principal may read.
            InvalidInput: several have this name; the message lists their URIs.
        """
        wanted = id_or_name_or_uri
        documents = self.documents(principal)
        # Ids, URIs and paths name one document; names, which several may have, are tried last.
        for found in documents:
            if wanted in {found.id, found.uri} or _is_path_of(wanted, found.uri):
                return found
        named = [document for document in documents if wanted in {document.name, document.listed_name}]
        if len(named) > 1:
            uris = "\n".join(f"  {document.uri}" for document in named)
            raise InvalidInput(f"{len(named)} documents are called '{wanted}'. Give the URI of one:\n{uris}")
        if not named:
            raise NotFound(f"There is no document '{wanted}'. {LIST_DOCUMENTS}")
        return named[0]

    def revision(self, principal: Principal, revision_id: str) -> Revision:
        """Return a revision, live or superseded, of a document this principal may read."""
        row = self._revision_row(
            principal,
            revision_id,
            "r.id, r.document, r.content_hash, r.state, r.superseded_by, r.media_type, r.size, r.added_at",
        )
        return Revision(*row)

    def markdown(self, principal: Principal, revision_id: str) -> str:
        return str(self._revision_row(principal, revision_id, "r.markdown")[0])

    def read_beginning(self, principal: Principal, revision_id: str, chars: int) -> str:
        """Return the first characters of a revision's Markdown."""
        return str(self._revision_row(principal, revision_id, f"substr(r.markdown, 1, {int(chars)})")[0])

    def original(self, principal: Principal, revision_id: str) -> tuple[bytes, str]:
        """Return the original bytes and their media type."""
        hash_, media_type = self._revision_row(principal, revision_id, "r.content_hash, r.media_type")
        return self.blobs.get(hash_), media_type

    # -- passages and what was derived from them --------------------------------------------------------------------

    def passages(self, principal: Principal, ids: Sequence[str]) -> dict[str, tuple[Passage, Document]]:
        """Return passages with their documents, in the order of the ids. Unreadable or superseded ids are simply
        absent.
        """
        rows = self.database.rows_for(
            principal,
            f"""SELECT {PASSAGE_COLUMNS}, {DOCUMENT_COLUMNS}
            FROM {DOCUMENT_TABLES} JOIN passages AS p ON p.document = d.id AND p.revision = d.revision
            WHERE p.id IN (SELECT value FROM json_each(?))""",  # noqa: S608
            (json.dumps(list(ids)),),
        )
        found: dict[str, tuple[Passage, Document]] = {}
        documents: dict[str, Document] = {}
        for row in rows:
            # 13 columns of the passage, then those of its document. Many rows share a document.
            document = documents.get(row[13]) or documents.setdefault(row[13], build_document(row[13:]))
            if principal.may_read(document.audience):
                found[row[0]] = (build_passage(row[:13]), document)
        return {id_: found[id_] for id_ in dict.fromkeys(ids) if id_ in found}

    def passage_ids(self, limit: int) -> list[str]:
        """Return this many ids of passages, without access checks."""
        rows = self._connection.execute("SELECT id FROM passages ORDER BY id LIMIT ?", (limit,))
        return [id_ for (id_,) in rows]

    def live(self, ids: Iterable[str]) -> set[str]:
        """Return the ids, among these, that are passages, without access checks."""
        listed = json.dumps(list(ids))
        rows = self._connection.execute(
            "SELECT id FROM passages WHERE id IN (SELECT value FROM json_each(?))", (listed,)
        )
        return {id_ for (id_,) in rows}

    def passages_of(self, principal: Principal, document_id: str) -> list[Passage]:
        """Return all passages of the live revision, in order. Empty also if the principal may not read the document."""
        rows = self.database.rows_for(
            principal,
            f"""SELECT a.tokens, {PASSAGE_COLUMNS}
            FROM {DOCUMENT_TABLES} JOIN passages AS p ON p.document = d.id AND p.revision = d.revision
            WHERE d.id = ? ORDER BY p.ordinal""",  # noqa: S608
            (document_id,),
        )
        return [build_passage(row[1:]) for row in rows if principal.may_read(load_audience(row[0]))]

    def documents_within(self, principal: Principal, scope: QuestionScope) -> frozenset[str]:
        """Return ids of the documents in the scope that this principal may read, and of those of the current
        conversation.
        """
        with self._read_audiences(principal) as (connection, audiences):
            key = (*_cache_key(connection, audiences), scope)
            found: frozenset[str] | None = self._scopes.get(key)
            if found is None:
                found = document_fields.find_documents(connection, scope, audiences)
                self._scopes.put(key, found)
        return found | {one.id for one in self.list_conversation_documents(principal)}

    def field_names(self, principal: Principal) -> list[str]:
        """Return the names of the fields of all documents that this principal may read."""
        with self._read_audiences(principal) as (connection, audiences):
            return document_fields.list_field_names(connection, audiences)

    def field_values(self, principal: Principal, name: str, limit: int) -> list[str]:
        """Return the most common values of the field among the documents that this principal may read."""
        with self._read_audiences(principal) as (connection, audiences):
            return document_fields.list_field_values(connection, name, audiences, limit)

    def derived(self, principal: Principal, ids: Sequence[str]) -> dict[str, DerivedText]:
        rows = self.database.rows_for(
            principal,
            """SELECT a.tokens, t.id, t.kind, t.text, t.prompt, t.model, t.picture,
                (SELECT json_group_array(passage) FROM
                    (SELECT passage FROM derived_passages WHERE derived = t.id ORDER BY ordinal) AS o)
            FROM derived AS t JOIN documents AS d ON d.id = t.document JOIN audiences AS a ON a.n = d.audience
            WHERE t.id IN (SELECT value FROM json_each(?))""",
            (json.dumps(list(ids)),),
        )
        found = {
            id_: DerivedText(id_, kind, text, tuple(json.loads(passages)), prompt, model, picture)
            for tokens, id_, kind, text, prompt, model, picture, passages in rows
            if principal.may_read(load_audience(tokens))
        }
        return {id_: found[id_] for id_ in dict.fromkeys(ids) if id_ in found}

    def list_questions(self, principal: Principal, passages: Sequence[str]) -> list[DerivedText]:
        """Return the questions that were derived from these passages, in their order."""
        rows = self.database.rows_for(
            principal,
            """SELECT DISTINCT t.id, t.n FROM derived AS t JOIN derived_passages AS p ON p.derived = t.id
            WHERE t.kind = 'question' AND p.passage IN (SELECT value FROM json_each(?)) ORDER BY t.n""",
            (json.dumps(list(passages)),),
        )
        found = self.derived(principal, [id_ for id_, _ in rows]).values()
        places = {passage: place for place, passage in enumerate(passages)}
        return sorted(found, key=lambda one: min(places.get(passage, len(places)) for passage in one.passage_ids))

    def triples(self, principal: Principal, ids: Sequence[str]) -> dict[str, Triple]:
        rows = self.database.rows_for(
            principal,
            """SELECT a.tokens, t.id, t.source, t.action, t.target, t.passage
            FROM triples AS t JOIN documents AS d ON d.id = t.document JOIN audiences AS a ON a.n = d.audience
            WHERE t.id IN (SELECT value FROM json_each(?))""",
            (json.dumps(list(ids)),),
        )
        found = {row[1]: Triple(*row[1:]) for row in rows if principal.may_read(load_audience(row[0]))}
        return {id_: found[id_] for id_ in dict.fromkeys(ids) if id_ in found}

    def readable(self, principal: Principal, kind: VectorKind, ids: Sequence[str]) -> set[str]:
        """Return the ids of live items that this principal may read."""
        rows = self.database.rows_for(
            principal,
            f"""SELECT t.id, a.tokens
            FROM {TABLES[kind]} AS t JOIN documents AS d ON d.id = t.document JOIN audiences AS a ON a.n = d.audience
            WHERE t.id IN (SELECT value FROM json_each(?))""",  # noqa: S608
            (json.dumps(list(ids)),),
        )
        return {id_ for id_, tokens in rows if principal.may_read(load_audience(tokens))}

    # -- keyword search and statistics ------------------------------------------------------------------------------

    def keyword_search(
        self, principal: Principal, query: str, limit: int, documents: Documents = None
    ) -> list[tuple[str, float]]:
        """Return (passage id, BM25 score), best first. Any text is a valid query; one without words finds nothing."""
        if documents is not None:
            return self._search("passage", principal, query, limit, documents)
        with self._read_audiences(principal) as (connection, audiences):
            key = (*_cache_key(connection, audiences), query)
            fetched, found = self._searches.get(key) or (0, [])
            if fetched < limit:
                fetched = max(limit, _FETCHED)
                found = choose_keyword_index(connection).search_keywords(
                    connection, "passage", query, audiences, fetched
                )
                self._searches.put(key, (fetched, found))
            return found[:limit]

    def search_derived_keywords(
        self, principal: Principal, query: str, limit: int, documents: Documents = None
    ) -> list[tuple[str, float]]:
        return self._search("derived", principal, query, limit, documents)

    def search_triple_keywords(self, principal: Principal, query: str, limit: int) -> list[tuple[str, float]]:
        return self._search("triple", principal, query, limit)

    def phrase_count(self, principal: Principal, phrase: str) -> int:
        """Return how many passages hold these words in this order (stemmed), in headings or text."""
        with self._read_audiences(principal) as (connection, audiences):
            key = (*_cache_key(connection, audiences), phrase)
            count: int | None = self._counts.get(key)
            if count is None:
                count = choose_keyword_index(connection).count_phrase(connection, phrase, audiences)
                self._counts.put(key, count)
            return count

    def find_phrase(self, principal: Principal, phrase: str, limit: int) -> list[str]:
        """Return ids of passages that contain the phrase, best by BM25 first."""
        with self._read_audiences(principal) as (connection, audiences):
            found = choose_keyword_index(connection).with_phrase(connection, phrase, audiences, limit)
            return [id_ for id_, _ in found]

    def count_passages(self, principal: Principal) -> int:
        with self._read_audiences(principal) as (connection, audiences):
            if audiences is None:
                return int(connection.execute("SELECT count(*) FROM passages").fetchone()[0])
            sql = "SELECT count(*) FROM passages WHERE audience IN (SELECT CAST(value AS INTEGER) FROM json_each(?))"
            return int(connection.execute(sql, (json.dumps(audiences),)).fetchone()[0])

    def list_audiences(self, principal: Principal) -> list[Audience]:
        """Return the distinct audiences of documents this principal may read."""
        rows = self.database.rows_for(principal, "SELECT tokens FROM audiences ORDER BY tokens")
        return [audience for audience in (load_audience(tokens) for (tokens,) in rows) if principal.may_read(audience)]

    # -- checks -----------------------------------------------------------------------------------------------------

    def faults(self) -> Iterator[str]:
        """Yield the faults of the database and the originals, one sentence each. It reads everything: not for
        start-up.
        """
        if broken := list(self.database.faults()):
            yield from broken
            return
        originals = (
            "SELECT content_hash FROM revisions UNION SELECT content_hash FROM removed_revisions "
            "UNION SELECT content_hash FROM pictures"
        )
        hashes = [row[0] for row in self._connection.execute(originals)]
        for hash_ in hashes:
            if hash_ not in self.blobs:
                yield f"The original {hash_} is missing from {self.blobs.place}"
            elif hash_content(self.blobs.get(hash_)) != hash_:
                yield f"The original {hash_} in {self.blobs.place} is not as it was put in"

    # -- parts ------------------------------------------------------------------------------------------------------

    def forget_deleted_words(self) -> None:
        """Remove words of deleted documents from the keyword indexes, if any were removed since the last time.

        Call it while nobody else removes any. After a kill in between it is still due.
        """
        due = self._connection.execute("SELECT 1 FROM meta WHERE key = ?", (WORDS_TO_FORGET,)).fetchone()
        if due is None:
            return
        for kind in KINDS:
            choose_keyword_index(self._connection).forget_deleted(self.database, kind)
        with self.database.writing() as connection:
            connection.execute("DELETE FROM meta WHERE key = ?", (WORDS_TO_FORGET,))

    def scrub(self) -> bool:
        """Remove deleted data from files; return False if a reader still uses an earlier state."""
        return self.database.scrub()

    @property
    def _connection(self) -> Connection:
        return self.database.connection()

    @contextmanager
    def _read_audiences(self, principal: Principal) -> Iterator[tuple[Connection, list[int] | None]]:
        """Return the numbers of the audiences this principal may read (None: all), and reads of the same state.

        Without the common state a number could be reused for other readers between two reads.
        """
        with self.database.reading(principal) as connection:
            rows = connection.execute("SELECT n, tokens FROM audiences").fetchall()
            numbers = [n for n, tokens in rows if principal.may_read(load_audience(tokens))]
            yield connection, None if len(numbers) == len(rows) else numbers

    def _search(
        self,
        kind: VectorKind,
        principal: Principal,
        query: str,
        limit: int,
        documents: Documents = None,
    ) -> list[tuple[str, float]]:
        with self._read_audiences(principal) as (connection, audiences):
            return choose_keyword_index(connection).search_keywords(
                connection, kind, query, audiences, limit, documents
            )

    def _revision_row(self, principal: Principal, revision_id: str, columns: str) -> tuple[Any, ...]:
        rows = self.database.rows_for(
            principal,
            f"""SELECT a.tokens, {columns}
            FROM revisions AS r JOIN documents AS d ON d.id = r.document JOIN audiences AS a ON a.n = d.audience
            WHERE r.id = ?""",  # noqa: S608
            (revision_id,),
        )
        # One error for both, so that nobody learns of documents they may not read.
        if not rows or not principal.may_read(load_audience(rows[0][0])):
            raise NotFound(f"There is no revision '{revision_id}'.")
        return tuple(rows[0])[1:]


def _cache_key(connection: Connection, audiences: list[int] | None) -> CacheKey:
    # Part of every cache key: a change of documents or of readers makes another one.
    return _read_version(connection), None if audiences is None else tuple(audiences)


def _read_version(connection: Connection) -> int:
    row = connection.execute("SELECT value FROM meta WHERE key = 'version'").fetchone()
    return int(row[0]) if row else 0


def _is_path_of(wanted: str, uri: str) -> bool:
    """Return whether the words given on a command line are the path of the file that was added under this URI."""
    if not uri.startswith("file:") or "\x00" in wanted:
        return False
    try:
        return Path(wanted).absolute().as_uri() == uri
    except (ValueError, OSError):
        return False
