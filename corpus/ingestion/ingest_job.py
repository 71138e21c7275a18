"""Adding documents: read, cut, derive, embed, store. A document reported as added is durable.

Small documents are stored in groups, embedded together and acknowledged together. Reading and embedding hold no lock;
once a group is embedded, it waits for its turn to write. Then (crash rule):

1. one transaction queues the writes outside corpus.db (`argot.corpus.index.outbox`);
2. originals and vectors are written, under ids that depend only on content;
3. one transaction writes all rows, makes the revisions live and clears the queue;
4. replaced vectors are deleted.

A kill before 3 leaves nothing (the next start empties the queue), a kill after 3 leaves everything.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from itertools import chain, count
from typing import Literal, Protocol, cast, get_args

from argot.corpus.document_ids import build_document_id, hash_content
from argot.corpus.index.embedding_windows import EmbeddedItem, WindowedItem, embed_items, embed_windows, move_to_readers
from argot.corpus.index.vector_index import VectorIndex
from argot.corpus.ingestion.document_changes import EmbeddedRevision, Parts, relabel, store_revisions
from argot.corpus.ingestion.document_group import DocumentGroup
from argot.corpus.ingestion.reading import Candidate, DocumentReader, ReadRevision
from argot.corpus.ingestion.source import Source
from argot.corpus.read_limits import Lane, ReadLimits
from argot.corpus.store.document_store import CorpusStore
from argot.corpus.store.near_duplicates import find_near_duplicates
from argot.corpus.store.revision_reads import find_same_document
from argot.corpus.store.row_mapping import DOCUMENT_COLUMNS, DOCUMENT_TABLES, build_document
from argot.corpus.store.source_metadata import NO_METADATA, SourceMetadata, read_metadata
from argot.databases import Connection
from argot.errors import NoText, UnreadableDocument, VectorsUnavailable
from argot.protocols import Deriver, Embedder
from argot.settings import Settings
from argot.types import EVERYONE, Audience, Document, Principal, distinct_tags, is_of_thread

Besides = Literal["progress", "waiting"]
"""Events that report progress, not the outcome of a source."""
EventKind = Literal["found", Besides, "added", "updated", "unchanged", "duplicate", "failed", "skipped", "done"]

WRITE_WAIT_SECONDS = {"documents": 120.0, "attachments": 15.0}
"""How long a vector server may be unavailable before documents fail for it."""
PAUSE_SECONDS = 5.0
"""Pause between two attempts to store documents on it."""

MAX_NAMED_DOCUMENTS = 3
"""Number of documents reported as nearly the same."""
BATCH_WINDOWS = 256
"""Number of windows after which `progress` is reported, when the caller can stop."""

Turn = Callable[[], AbstractContextManager[None]]
"""Holds off all other changes of the knowledge base; this module knows only those of documents."""


@dataclass(frozen=True, slots=True)
class IngestEvent:
    """The outcome of one source. `found` comes first and `done` last; `done` and `total` count sources.

    `progress` reports how much of a long document is embedded, `waiting` the reason for a wait. `uri` is the
    source's, not that of its twin. `near` names the documents with which an added one is nearly the same.
    """

    kind: EventKind
    name: str
    detail: str = ""
    document: Document | None = None
    done: int = 0
    total: int = 0
    uri: str = ""
    near: str = ""


@dataclass(frozen=True, slots=True)
class StoredRevision:
    """The revision that the store already has for a URI."""

    document: Document
    derived_by: str


class ReceivingCorpus(Protocol):
    """The interface to a corpus that adding needs. `vectors`: the live generation."""

    settings: Settings
    store: CorpusStore

    @property
    def vectors(self) -> VectorIndex: ...

    def limits_of(self, lane: Lane) -> ReadLimits: ...

    def embedder_of(self, lane: Lane) -> Embedder: ...

    def changing(self) -> AbstractContextManager[Parts]: ...


class IngestJob:
    """One call of `Corpus.add`."""

    def __init__(
        self,
        corpus: ReceivingCorpus,
        deriver: Deriver | None,
        audience: Audience | None,
        tags: Sequence[str] | None,
        *,
        lane: Lane = "documents",
        turn: Turn = nullcontext,
        by: Principal | None = None,
        relabel_known: bool = True,
        renew: bool = False,
    ) -> None:
        self._corpus = corpus
        self._deriver = deriver
        self._audience = audience
        self._by = by
        self._relabel_known = relabel_known
        self._renew = renew
        self._tags = None if tags is None else tuple(sorted(set(tags)))
        self._limits = corpus.limits_of(lane)
        self._embedder = corpus.embedder_of(lane)
        self._lane: Lane = lane
        self._take_turn = turn
        self._done = 0
        self._total = 0

    def run(self, sources: Iterable[Source]) -> Iterator[IngestEvent]:
        # Listed first, so that progress can be reported as "3 of 10".
        listed = list(sources)
        self._total = len(listed)
        yield IngestEvent("found", "", f"{self._total} files", total=self._total)
        counts: dict[str, int] = {}
        for event in self._add_each(listed):
            if event.kind in get_args(Besides):
                yield replace(event, done=self._done, total=self._total)
                continue
            self._done += 1
            counts[event.kind] = counts.get(event.kind, 0) + 1
            yield replace(event, done=self._done, total=self._total)
        summary = ", ".join(f"{count} {kind}" for kind, count in counts.items()) or "nothing to do"
        yield IngestEvent("done", "", summary, done=self._done, total=self._total)

    def _add_each(self, sources: Sequence[Source]) -> Iterator[IngestEvent]:
        """Yield one event for each source. A copy of a document that is still to come waits until that one is done."""
        group = DocumentGroup()
        to_come = Counter(source.uri for source in sources)
        waiting: list[Source] = []
        settings = self._corpus.settings
        named = [one.strip().lower() for one in settings.reading.header_fields.split(",") if one.strip()]
        with DocumentReader(
            self._limits, settings.reading.passage_chars, self._embedder, self._deriver, named
        ) as reading:
            for source in chain(sources, _drain(waiting)):
                to_come[source.uri] -= 1
                try:
                    candidate = self._load(source)
                    # Members of the group are not stored yet, so `_check_known` would not see them.
                    if group.is_related_to(candidate):
                        yield from self._store(group)
                        group = DocumentGroup()
                    known = self._check_known(candidate)
                    if known is None:
                        group.add(reading.read(candidate))
                    elif known.kind == "duplicate" and known.document and to_come[known.document.uri] > 0:
                        waiting.append(source)  # that document may be about to change
                    else:
                        yield known
                except UnreadableDocument as error:
                    yield _report_refused(source, error)
                except VectorsUnavailable as error:
                    yield _report_not_stored(source, error)
                if group.full:
                    yield from self._store(group)
                    group = DocumentGroup()
            yield from self._store(group)

    # -- reading, without holding anybody up ------------------------------------------------------------------------

    def _load(self, source: Source) -> Candidate:
        if source.skip:
            raise SkippedDocument(source.name, source.skip)
        # Before it is loaded: a file that is too large never gets into memory.
        if source.size:
            self._limits.check_size(source.size, source.name)
        try:
            data = source.load()
        except OSError as error:
            raise UnreadableDocument(source.name, error.strerror or type(error).__name__) from error
        self._limits.check_size(len(data), source.name)  # it may have grown, or been replaced by now
        stored = self._read_stored_revision(source.uri)
        metadata = self._choose_metadata(source, stored)
        audience, tags = self._choose_labels(stored, metadata)
        replaces = stored.document.content_hash if stored else None
        id_ = stored.document.id if stored else self._choose_free_id(source.uri)
        return Candidate(id_, source, data, hash_content(data), replaces, audience, tags, metadata)

    def _choose_free_id(self, uri: str) -> str:
        """Return an id; a renamed document keeps its own, which the next file of its old name must not take."""
        for taken in count():
            id_ = build_document_id(uri, taken)
            if self._connection.execute("SELECT 1 FROM documents WHERE id = ?", (id_,)).fetchone() is None:
                break
        return id_

    def _choose_metadata(self, source: Source, stored: StoredRevision | None) -> SourceMetadata:
        if source.metadata is not None:
            return source.metadata
        return read_metadata(self._connection, stored.document.id) if stored else NO_METADATA

    def _choose_labels(
        self, stored: StoredRevision | None, metadata: SourceMetadata | None = None
    ) -> tuple[Audience, tuple[str, ...]]:
        # Missing labels stay: adding a folder again must not make its documents public.
        audience, tags = (stored.document.audience, stored.document.tags) if stored else (EVERYONE, ())
        is_given = not stored or self._relabel_known
        if is_given:
            audience = audience if self._audience is None else self._audience
        labels = set(metadata.labels) if metadata else set()
        if is_given and self._tags is not None:
            return audience, distinct_tags((*self._tags, *sorted(labels)))
        # Only labels that the source changed are changed: people's own changes to tags stay.
        before = set(read_metadata(self._connection, stored.document.id).labels) if stored and metadata else set()
        return audience, distinct_tags((*sorted(set(tags) - (before - labels)), *sorted(labels - before)))

    def _check_known(self, candidate: Candidate, parts: Parts | None = None) -> IngestEvent | None:
        """Return the event of a source that needs no reading, after the small updates it needs.

        Without `parts` this waits for the turn to write if labels change; by then, they may differ again.
        """
        stored = self._read_stored_revision(candidate.source.uri)
        if stored is None:
            return self._check_duplicate(candidate)
        document = stored.document
        # Without a title: its file was renamed, and the new name becomes its title (`renaming`).
        changed = document.content_hash != candidate.content or not document.title
        if changed or self._renew or self._has_to_derive(stored):
            return None
        metadata = self._choose_metadata(candidate.source, stored)
        if metadata != read_metadata(self._connection, document.id):
            return None  # its title, which all its passages carry, may differ
        audience, tags = self._choose_labels(stored, metadata)
        if (document.audience, document.tags) == (audience, tags):
            return IngestEvent("unchanged", candidate.source.name, document=document, uri=candidate.source.uri)
        if parts is None:
            with self._writing() as writable:
                return self._check_known(candidate, writable)
        relabel(parts, document, audience, tags)
        relabelled = replace(document, audience=audience, tags=tags)
        return IngestEvent("updated", candidate.source.name, "audience or tags", relabelled, uri=candidate.source.uri)

    def _check_duplicate(self, candidate: Candidate) -> IngestEvent | None:
        """Return the event of a source whose bytes are stored already for the same readers; None if there are none."""
        audience, _ = self._choose_labels(None)
        # A person who may not read such a document must not learn that it exists.
        if self._by is not None and not self._by.may_read(audience):
            return None
        twin = find_same_document(self._connection, candidate.content, audience)
        if twin is None:
            return None
        detail = f"the same content as {twin.name} ({twin.uri})"
        return IngestEvent("duplicate", candidate.source.name, detail, twin, uri=candidate.source.uri)

    def _has_to_derive(self, stored: StoredRevision) -> bool:
        return self._deriver is not None and stored.derived_by != self._deriver.name

    # -- storing, one writer at a time ------------------------------------------------------------------------------

    def _store(self, group: DocumentGroup) -> Iterator[IngestEvent]:
        """Store these, as soon as the vector storage is available: nobody else waits meanwhile."""
        deadline = time.monotonic() + WRITE_WAIT_SECONDS[self._lane]
        while group.members:
            try:
                # Yielded after the lock is released, because the consumer of the events may be slow, or stop.
                return (yield from (yield from self._embed_and_store(group)))
            except VectorsUnavailable as error:
                if error.lost or time.monotonic() > deadline:
                    yield from (_report_not_stored(member.candidate.source, error) for member in group.members)
                    return
                yield IngestEvent("waiting", group.members[-1].candidate.source.name, str(error))
                time.sleep(PAUSE_SECONDS)

    def _embed_and_store(self, group: DocumentGroup) -> Generator[IngestEvent, None, list[IngestEvent]]:
        embedded: dict[str, list[EmbeddedItem]] = {member.new.document.id: [] for member in group.members}
        # Embedding takes longest, so it is finished before waiting for the turn to write.
        everything = [item for member in group.members for item in member.items]
        done, total = 0, len(everything)
        for items in _split_batches(everything):
            if done:
                yield IngestEvent("progress", group.members[-1].candidate.source.name, f"{100 * done // total} %")
            for one in embed_windows(self._embedder, self._corpus.vectors, items):
                embedded[one.item.document].append(one)
            done += len(items)
        with self._writing() as parts:
            # The embedder was changed meanwhile (`Corpus.change_embedder`), with different windows.
            if parts.vectors.fingerprint != self._embedder.fingerprint:
                embedder = self._corpus.embedder_of(self._lane)
                for member in group.members:
                    whole = [one.item for one in member.items]
                    embedded[member.new.document.id] = embed_items(embedder, parts.vectors, whole)
            return self._write_group(parts, group, embedded)

    def _write_group(
        self, parts: Parts, group: DocumentGroup, embedded: dict[str, list[EmbeddedItem]]
    ) -> list[IngestEvent]:
        # By another writer, meanwhile.
        overtaken = [self._check_known(member.candidate, parts) for member in group.members]
        fresh = [member for member, known in zip(group.members, overtaken, strict=True) if known is None]
        kinds = ["updated" if self._read_stored_revision(member.new.document.uri) else "added" for member in fresh]
        ready = [self._apply_labels(parts, member, embedded[member.new.document.id]) for member in fresh]
        store_revisions(parts, ready)
        return [known for known in overtaken if known is not None] + [
            IngestEvent(
                cast(EventKind, kind),
                member.candidate.source.name,
                self._describe(member),
                one.new.document,
                uri=member.candidate.source.uri,
                near=self._name_near_duplicates(one.new.document, but=ready[place + 1 :]),
            )
            for place, (kind, member, one) in enumerate(zip(kinds, fresh, ready, strict=True))
        ]

    def _name_near_duplicates(self, document: Document, but: Sequence[EmbeddedRevision]) -> str:
        """Return the nearly identical documents that the person who adds it may read.

        `but`: those stored with it that are yet to be reported, so that a pair is named once.
        """
        if is_of_thread(document.audience):
            return ""
        reader = self._by or Principal("", sees_all=True)
        to_come = {one.new.document.id for one in but}
        found = [
            one for one in find_near_duplicates(self._corpus.store, reader, document) if one.other.id not in to_come
        ]
        more = f" and {len(found) - MAX_NAMED_DOCUMENTS} more" if len(found) > MAX_NAMED_DOCUMENTS else ""
        return ", ".join(f"{one.other.name} ({one.likeness:.0%} alike)" for one in found[:MAX_NAMED_DOCUMENTS]) + more

    def _apply_labels(self, parts: Parts, member: ReadRevision, embedded: list[EmbeddedItem]) -> EmbeddedRevision:
        """Apply the present labels: somebody may have changed the readers while the document was read and embedded."""
        document = member.new.document
        audience, tags = self._choose_labels(self._read_stored_revision(document.uri), member.candidate.metadata)
        if audience != document.audience:
            embedded = [move_to_readers(one, parts.vectors, audience) for one in embedded]
        new = replace(member.new, document=replace(document, audience=audience, tags=tags))
        return EmbeddedRevision(new, member.candidate.data, embedded)

    @contextmanager
    def _writing(self) -> Iterator[Parts]:
        with self._take_turn(), self._corpus.changing() as parts:
            yield parts

    def _describe(self, member: ReadRevision) -> str:
        number = len(member.new.passages)
        detail = "; ".join(("1 passage" if number == 1 else f"{number} passages", *member.new.document.warnings))
        if self._deriver is not None and not member.new.derived_by:
            detail += "; without derived texts, because the language model did not answer: add it again later"
        return detail

    @property
    def _connection(self) -> Connection:
        return self._corpus.store.database.connection()

    def _read_stored_revision(self, uri: str) -> StoredRevision | None:
        row = self._connection.execute(
            f"SELECT r.derived_by, {DOCUMENT_COLUMNS} FROM {DOCUMENT_TABLES} WHERE d.uri = ?",  # noqa: S608
            (uri,),
        ).fetchone()
        return None if row is None else StoredRevision(build_document(row[1:]), row[0])


class SkippedDocument(UnreadableDocument):
    """A document that is not read at all, and the reason."""


def _report_refused(source: Source, error: UnreadableDocument) -> IngestEvent:
    detail = error.reason + (f". {error.remedy}" if error.remedy else "")
    kind: EventKind = "skipped" if isinstance(error, (SkippedDocument, NoText)) else "failed"
    return IngestEvent(kind, source.name, detail, uri=source.uri)


def _report_not_stored(source: Source, error: VectorsUnavailable) -> IngestEvent:
    return IngestEvent("failed", source.name, f"not stored; add it again later: {error}", uri=source.uri)


def _drain(waiting: list[Source]) -> Iterator[Source]:
    """Yield the items of the list, each removed at its turn: until then more may be added."""
    while waiting:
        yield waiting.pop(0)


def _split_batches(items: Sequence[WindowedItem]) -> Iterator[list[WindowedItem]]:
    """Yield items in order, in batches of about `BATCH_WINDOWS` windows."""
    some: list[WindowedItem] = []
    windows = 0
    for item in items:
        some.append(item)
        windows += len(item.windows)
        if windows >= BATCH_WINDOWS:
            yield some
            some, windows = [], 0
    if some:
        yield some
