"""Syncs of documents with a source: new and changed ones are read, deleted ones are removed.

A listing of stamps is compared with the last recorded one; only differences are read. Each step is recorded after it
was done, so that a killed sync is simply repeated: it finds the remaining work, with the same final result.

1. The documents to read are recorded, so that their source is known even after a kill.
2. It is read and stored. A new file with the content of a deleted one is that document under another name.
3. Deleted documents are removed, unless they are more than half of all, which needs a confirmation.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial

from argot.clock import timestamp, utc_now
from argot.corpus.connectors.listing import Connector, ListedDocument, SourceDown
from argot.corpus.connectors.renaming import rename_rows
from argot.corpus.connectors.source_store import (
    Outcome,
    SourceRecord,
    SourceStore,
    StoredItem,
    SyncProblem,
    SyncState,
    compute_retry_seconds,
)
from argot.corpus.corpus import Corpus, Source
from argot.corpus.document_ids import hash_content
from argot.corpus.ingestion.document_changes import remove_document
from argot.corpus.ingestion.ingest_job import IngestEvent
from argot.corpus.store.row_mapping import DOCUMENT_COLUMNS, DOCUMENT_TABLES, build_document
from argot.document_names import name_in
from argot.types import Document, Principal

NOTE_BATCH_DOCUMENTS = 64
"""Documents per record: each record is a transaction. Those that a kill loses are read again, and found unchanged."""
PROGRESS_SECONDS = 0.5
MAX_SHOWN_PROBLEMS = 100
MAX_SHOWN_REMOVALS = 20
OUTCOME_BY_EVENT: Mapping[str, Outcome] = {
    "added": "in",
    "updated": "in",
    "unchanged": "in",
    "duplicate": "duplicate",
    "skipped": "skipped",
    "failed": "failed",
}


@dataclass(frozen=True, slots=True)
class SyncEvent:
    """The outcome of one document, `renamed` and `removed` among them. `progress` only reports that the work
    continues.
    """

    kind: str
    name: str
    detail: str = ""
    uri: str = ""
    done: int = 0
    total: int = 0


class Synchronisation:
    """One sync of one source. Call `run` once; `state`, `detail`, `counts` and `problems` are its results.

    `gone`: the names of documents whose removal waits for a confirmation. `near`: added documents that are nearly the
    same as others, which its `detail` names.
    """

    def __init__(
        self,
        corpus: Corpus,
        record: SourceRecord,
        connect: Callable[[], Connector],
        *,
        turn: Callable[[], AbstractContextManager[None]] = nullcontext,
        by: Principal | None = None,
        confirmed: bool = False,
        patient: bool = False,
    ) -> None:
        """
        Args:
            connect: builds the source's connector; it may raise `SourceDown`.
            turn: held while documents are written, as in `Corpus.add`.
            confirmed: deleted documents are removed, however many they are.
            patient: unchanged documents that failed are retried at increasing intervals, and not each time.
        """
        self.state: SyncState = "failed"
        self.detail = ""
        self.counts: Counter[str] = Counter()
        self.problems: list[SyncEvent] = []
        self.gone: list[str] = []
        self.near: list[SyncEvent] = []
        self._corpus = corpus
        self._record = record
        self._connect = connect
        self._turn = turn
        self._by = by
        self._confirmed = confirmed
        self._patient = patient
        self._store = SourceStore(corpus.store.database)
        self._known: dict[str, StoredItem] = {}
        self._listed: dict[str, ListedDocument] = {}
        self._movable: dict[str, list[str]] = {}
        self._renamed: dict[str, str] = {}
        self._noted: list[StoredItem] = []
        self._done = 0
        self._total = 0

    def run(self) -> Iterator[SyncEvent]:
        """Run the sync and yield its events. Closing the iterator stops the work; the next run continues there."""
        name = self._record.name
        before = self._store.mark(name)
        self._store.begin(name)
        try:
            with closing(self._connect()) as connector:
                mark = connector.mark()
                self._known = self._store.load_items(name)
                if mark and mark == before and not self._has_pending_work():
                    self.counts["unchanged"] = sum(item.has_document for item in self._known.values())
                else:
                    yield from self._compare(connector)
            if self.state != "held":
                self.state = "synced"
        except SourceDown as error:
            self.state, self.detail, mark = "failed", str(error), ""
            # The counts until the failure are meaningless, because nothing was done.
            if not self._done:
                self.counts.clear()
                self.problems.clear()
        whole = self.state == "synced" and not self.counts["failed"]
        counts = {**self.counts, "gone": len(self.gone)}
        outcome = (counts, self.first_problems, self.first_removals)
        self._store.finish(name, self.state, self.detail, mark if whole else "", *outcome)

    @property
    def first_problems(self) -> list[SyncProblem]:
        """The first of the problems, as they are stored and shown."""
        return _select_problems(self.problems)

    @property
    def first_near_duplicates(self) -> list[SyncProblem]:
        return _select_problems(self.near)

    @property
    def first_removals(self) -> list[str]:
        return self.gone[:MAX_SHOWN_REMOVALS]

    # -- comparing --------------------------------------------------------------------------------------------------

    def _compare(self, connector: Connector) -> Iterator[SyncEvent]:
        due, gone = yield from self._find_differences(connector)
        self._total = len(due) + len(gone)
        self._store.reserve_items(self._record.name, [uri for uri in due if uri not in self._known])
        for item in gone:
            if content := self._find_content_hash(item):
                self._movable.setdefault(content, []).append(item.uri)
        yield from self._read_due(due)
        gone = [item for item in gone if item.uri not in self._renamed]
        held = sum(item.has_document for item in self._known.values())
        lost = sum(item.has_document for item in gone)
        if lost * 2 > held and not self._confirmed:
            self.state = "held"
            self.gone = [name_in(item.uri) for item in gone if item.has_document]
            self.detail = (
                f"{lost} of {held} documents are gone there, and nothing was taken out here. If that is right: "
                f"argot source sync {self._record.name} --confirm"
            )
            return
        for item in gone:
            yield self._count_step(self._remove_item(item))

    def _find_differences(
        self, connector: Connector
    ) -> Generator[SyncEvent, None, tuple[dict[str, ListedDocument], list[StoredItem]]]:
        """Return the documents to read, by URI in the order of the listing, and the items that are gone."""
        due: dict[str, ListedDocument] = {}
        out_of_sight: list[str] = []
        reported_at = time.monotonic()
        for one in connector.list_documents({uri: item.stamp for uri, item in self._known.items()}):
            if one is None:
                yield SyncEvent("progress", self._record.name)
                continue
            uri, item = one.source.uri, self._known.get(one.source.uri)
            if uri in self._listed:
                continue
            if one.problem:
                out_of_sight.append(uri)
                self._record_problem(SyncEvent("failed", one.source.name, one.problem, uri))
            elif one.source.skip:
                self.counts["skipped"] += 1
                continue
            elif item is not None and self._patient and (later := compute_retry_time(item, one.stamp)):
                detail = f"{item.detail}; failed {item.failures} times, tried again after {later:%Y-%m-%d %H:%M} UTC"
                self._record_problem(SyncEvent("failed", one.source.name, detail, uri))
            elif item is None or not item.stamp or item.stamp != one.stamp:
                due[uri] = one
            else:
                self.counts["skipped" if item.outcome == "skipped" else "unchanged"] += 1
            self._listed[uri] = one
            # A point at which the work can be stopped.
            if time.monotonic() - reported_at > PROGRESS_SECONDS:
                reported_at = time.monotonic()
                yield SyncEvent("progress", one.source.name)
        # Documents in a folder that could not be opened are not deleted.
        hidden = tuple(f"{uri}{mark}" for uri in out_of_sight for mark in ("/", "!/"))
        missing = [item for uri, item in self._known.items() if uri not in self._listed]
        gone = [item for item in missing if not item.uri.startswith(hidden)]
        self._add_copies(due, gone)
        return due, gone

    def _add_copies(self, due: dict[str, ListedDocument], gone: Sequence[StoredItem]) -> None:
        """Add the documents left out as copies whose original is deleted, or about to change."""
        doubtful = {item.document for item in gone}
        doubtful |= {item.document for uri in due if (item := self._known.get(uri)) and item.has_document}
        for uri, item in self._known.items():
            listed = self._listed.get(uri)
            if item.outcome != "duplicate" or uri in due or listed is None or listed.problem:
                continue
            if item.document in doubtful or not self._is_live(item):
                due[uri] = listed
                self.counts["unchanged"] -= 1

    def _is_live(self, copy: StoredItem) -> bool:
        sql = "SELECT 1 FROM revisions WHERE document = ? AND content_hash = ? AND state = 'live'"
        connection = self._corpus.store.database.connection()
        return connection.execute(sql, (copy.document, copy.content_hash)).fetchone() is not None

    def _has_pending_work(self) -> bool:
        """Return True if work remains although the source is unchanged."""
        copies = (item for item in self._known.values() if item.outcome == "duplicate")
        return any(not item.stamp for item in self._known.values()) or not all(map(self._is_live, copies))

    def _find_content_hash(self, gone: StoredItem) -> str | None:
        """Return the hash of the document that the item brought."""
        if gone.outcome != "due":
            return gone.content_hash if gone.has_document else None
        # A killed sync may have stored it without recording it.
        document = self._find_document(gone.uri)
        return document.content_hash if document else None

    # -- reading ----------------------------------------------------------------------------------------------------

    def _read_due(self, due: Mapping[str, ListedDocument]) -> Iterator[SyncEvent]:
        stored = self._load_stored_uris()
        # Added before by hand, or by another source: from now on they have this source's readers.
        adopted = {uri for uri in due if uri not in self._known and uri in stored}
        for relabel in (True, False):
            sources = [self._watch_source(one) for uri, one in due.items() if (uri in adopted) == relabel]
            if not sources:
                continue
            # Passed only if the source has any: otherwise the manager's settings stay.
            events = self._corpus.add(
                sources,
                audience=self._record.audience or None,
                tags=self._record.tags or None,
                turn=self._turn,
                by=self._by,
                relabel_known=relabel,
            )
            for event in events:
                if event.kind in ("progress", "waiting"):
                    yield SyncEvent("progress", event.name, event.detail, done=self._done, total=self._total)
                elif event.kind in OUTCOME_BY_EVENT:
                    yield self._count_step(self._record_outcome(event))
        self._save_notes()

    def _watch_source(self, one: ListedDocument) -> Source:
        known = self._known.get(one.source.uri)
        if known is not None and known.has_document:
            return one.source
        return replace(one.source, load=partial(self._load_new, one.source))

    def _load_new(self, source: Source) -> bytes:
        """Load a new file. If its bytes are those of a deleted document, that one gets the new name."""
        data = source.load()
        if self._movable and (uris := self._movable.get(hash_content(data))):
            self._rename(uris.pop(0), source)
        return data

    def _rename(self, old: str, source: Source) -> None:
        name = self._record.name
        if self._store.is_held_elsewhere(name, old):
            return
        with self._turn(), self._corpus.changing() as parts, parts.store.database.writing() as connection:
            if rename_rows(connection, old, source.uri, name_in(old), source.name):
                self._store.rename(connection, name, old, source.uri)
                self._renamed[old] = source.uri

    def _record_outcome(self, event: IngestEvent) -> SyncEvent:
        """Record the outcome of a document."""
        known, document = self._known.get(event.uri), event.document
        outcome = OUTCOME_BY_EVENT[event.kind]
        stamp = "" if outcome == "failed" else self._listed[event.uri].stamp
        if document is not None:
            item = StoredItem(event.uri, stamp, outcome, document.id, document.content_hash)
        elif known is not None and known.has_document:
            # Its previous version still exists.
            item = replace(known, stamp=stamp, outcome=outcome, detail=event.detail)
        else:
            item = StoredItem(event.uri, stamp, outcome, detail=event.detail)
        if outcome == "failed":
            tried = self._listed[event.uri].stamp
            before = known.failures if known is not None and known.tried_stamp == tried else 0
            item = replace(item, failures=before + 1, tried_at=timestamp(), tried_stamp=tried)
        elif item.failures:
            item = replace(item, failures=0, tried_at="", tried_stamp="")
        self._noted.append(item)
        if len(self._noted) >= NOTE_BATCH_DOCUMENTS:
            self._save_notes()
        renamed = event.kind in ("unchanged", "updated") and event.uri in self._renamed.values()
        reported = SyncEvent("renamed" if renamed else event.kind, event.name, event.detail, event.uri)
        if event.near:
            self.near.append(replace(reported, detail=event.near))
        if reported.kind == "failed":
            self._record_problem(reported)
        else:
            self.counts[reported.kind] += 1
        return reported

    def _save_notes(self) -> None:
        if self._noted:
            self._store.save_items(self._record.name, self._noted)
            self._noted = []

    # -- taking out -------------------------------------------------------------------------------------------------

    def _remove_item(self, item: StoredItem) -> SyncEvent:
        if _remove_document(self._corpus, self._store, self._record.name, item.uri, self._turn):
            self.counts["removed"] += 1
        return SyncEvent("removed", name_in(item.uri), uri=item.uri)

    def _find_document(self, uri: str) -> Document | None:
        return _find_stored_document(self._corpus, uri)

    def _load_stored_uris(self) -> set[str]:
        rows = self._corpus.store.database.connection().execute("SELECT uri FROM documents")
        return {uri for (uri,) in rows}

    # -- telling ----------------------------------------------------------------------------------------------------

    def _record_problem(self, event: SyncEvent) -> None:
        self.counts["failed"] += 1
        self.problems.append(event)

    def _count_step(self, event: SyncEvent) -> SyncEvent:
        self._done += 1
        return replace(event, done=self._done, total=self._total)


def compute_retry_time(item: StoredItem, stamp: str) -> datetime | None:
    """Return the time when a failed document is due again; None: now, since it has changed.

    After two minutes, then four, and so on, up to a day.
    """
    if item.outcome != "failed" or not stamp or item.tried_stamp != stamp:
        return None
    later = datetime.fromisoformat(item.tried_at) + timedelta(seconds=compute_retry_seconds(item.failures))
    return later if utc_now() < later else None


def remove_documents(
    corpus: Corpus, name: str, turn: Callable[[], AbstractContextManager[None]], by: Principal | None = None
) -> Iterator[str]:
    """Remove the documents that only this source has brought; yield the URI of each once it is gone.

    Those that `by` (None: everybody) may not read stay.
    """
    store = SourceStore(corpus.store.database)
    for item in store.load_items(name).values():
        if _remove_document(corpus, store, name, item.uri, turn, by):
            yield item.uri


def _remove_document(  # noqa: PLR0917
    corpus: Corpus,
    store: SourceStore,
    name: str,
    uri: str,
    turn: Callable[[], AbstractContextManager[None]],
    by: Principal | None = None,
) -> bool:
    """Remove a document; return False if another source contains it too, or `by` (None: everybody) may not read it."""
    with turn(), corpus.changing() as parts:
        document = None if store.is_held_elsewhere(name, uri) else _find_stored_document(corpus, uri)
        if document is not None and by is not None and not by.may_read(document.audience):
            document = None
        if document is not None:
            remove_document(parts, document, keep=True)
        # After it: a kill in between leaves an item without a document, which the next sync deletes.
        store.forget(name, uri)
    return document is not None


def _find_stored_document(corpus: Corpus, uri: str) -> Document | None:
    sql = f"SELECT {DOCUMENT_COLUMNS} FROM {DOCUMENT_TABLES} WHERE d.uri = ?"  # noqa: S608
    row = corpus.store.database.connection().execute(sql, (uri,)).fetchone()
    return None if row is None else build_document(row)


def _select_problems(events: Sequence[SyncEvent]) -> list[SyncProblem]:
    return [SyncProblem(one.name, one.uri, one.detail) for one in events[:MAX_SHOWN_PROBLEMS]]
