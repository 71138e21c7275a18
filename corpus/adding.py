"""Adding documents: read, cut, derive, embed, store. What is reported as added is durable.

Small documents are stored in groups, embedded together and acknowledged together. For each group (crash rule):

1. one transaction queues what will be written outside corpus.db (`argot.corpus.pending`);
2. originals and vectors are written, under ids that depend on content alone;
3. one transaction writes all rows, makes the revisions live and takes the queue back;
4. vectors of what was replaced are deleted.

A kill before 3 leaves nothing (the next start empties the queue), a kill after 3 leaves everything.
"""

from __future__ import annotations

import asyncio
import logging
import sqlite3
import time
from collections import Counter
from collections.abc import Callable, Coroutine, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast

from argot.corpus.identity import content_hash, document_id, revision_id
from argot.corpus.passages import cut_passages
from argot.corpus.readers import read_document_isolated
from argot.corpus.rows import DOCUMENT_COLUMNS, DOCUMENT_TABLES, audience_text, document_of
from argot.corpus.sources import Source
from argot.corpus.stamps import stamped_derived, stamped_triples
from argot.corpus.storing import relabel, store_revisions
from argot.corpus.writing import NewRevision
from argot.errors import ArgotError, ModelUnavailable, UnreadableDocument
from argot.protocols import Deriver
from argot.types import EVERYONE, Audience, Document, ParsedDocument, Principal

if TYPE_CHECKING:
    from argot.corpus.ingest import Corpus

EventKind = Literal["found", "added", "updated", "unchanged", "duplicate", "failed", "skipped", "done"]

GROUP_PASSAGES = 128
GROUP_DOCUMENTS = 64
GROUP_SECONDS = 2.0

T = TypeVar("T")

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class IngestEvent:
    """What became of one source. `found` comes first and `done` last; `done` and `total` count sources."""

    kind: EventKind
    name: str
    detail: str = ""
    document: Document | None = None
    done: int = 0
    total: int = 0


@dataclass(frozen=True, slots=True)
class Standing:
    """What the store already has for a URI."""

    document: Document
    derived_by: str


@dataclass(frozen=True, slots=True)
class Candidate:
    """A source whose bytes are at hand, with the labels it shall have. `replaces`: the content it has in the store."""

    source: Source
    data: bytes
    content: str
    replaces: str | None
    audience: Audience
    tags: tuple[str, ...]


@dataclass(slots=True)
class Group:
    """Documents read and ready to be stored together."""

    members: list[tuple[Candidate, NewRevision]] = field(default_factory=list)
    passages: int = 0
    since: float = 0.0

    def add(self, candidate: Candidate, new: NewRevision) -> None:
        self.since = self.since or time.monotonic()
        self.members.append((candidate, new))
        self.passages += len(new.passages)

    @property
    def full(self) -> bool:
        return bool(self.members) and (
            self.passages >= GROUP_PASSAGES
            or len(self.members) >= GROUP_DOCUMENTS
            or time.monotonic() - self.since > GROUP_SECONDS
        )

    def concerns(self, candidate: Candidate) -> bool:
        """Whether what becomes of the candidate depends on what is in here."""
        return any(
            candidate.source.uri == other.source.uri or candidate.content in (other.content, other.replaces)
            for other, _ in self.members
        )


class Adding:
    """One call of `Corpus.add`."""

    def __init__(
        self,
        corpus: Corpus,
        deriver: Deriver | None,
        audience: Audience | None,
        tags: Sequence[str] | None,
        by: Principal | None = None,
    ) -> None:
        self._corpus = corpus
        self._deriver = deriver
        self._audience = audience
        self._by = by
        self._tags = None if tags is None else tuple(sorted(set(tags)))
        self._done = 0
        self._total = 0

    def run(self, sources: Iterable[Source]) -> Iterator[IngestEvent]:
        listed = list(sources)
        self._total = len(listed)
        yield IngestEvent("found", "", f"{self._total} files", total=self._total)
        counts: dict[str, int] = {}
        for event in self._each(listed):
            self._done += 1
            counts[event.kind] = counts.get(event.kind, 0) + 1
            yield replace(event, done=self._done, total=self._total)
        summary = ", ".join(f"{count} {kind}" for kind, count in counts.items()) or "nothing to do"
        yield IngestEvent("done", "", summary, done=self._done, total=self._total)

    def _each(self, sources: Sequence[Source]) -> Iterator[IngestEvent]:
        """One event a source. Copies of a document whose own turn is still to come wait until it has been."""
        group = Group()
        to_come = Counter(source.uri for source in sources)
        waiting: list[Source] = []
        with _EventLoop() as loop:
            for source in chain(sources, _drained(waiting)):
                to_come[source.uri] -= 1
                try:
                    candidate = self._load(source)
                    if group.concerns(candidate):
                        yield from self._store(group)
                        group = Group()
                    known = self._known(candidate)
                    if known is None:
                        group.add(candidate, self._read(candidate, loop))
                    elif known.kind == "duplicate" and known.document and to_come[known.document.uri] > 0:
                        waiting.append(source)  # that document may be about to change
                    else:
                        yield known
                except UnreadableDocument as error:
                    yield _refused(source, error)
                if group.full:
                    yield from self._store(group)
                    group = Group()
            yield from self._store(group)

    # -- reading, without holding anybody up ------------------------------------------------------------------------

    def _load(self, source: Source) -> Candidate:
        if source.skip:
            raise Skipped(source.name, source.skip)
        self._require_size(source, source.size)
        try:
            data = source.load()
        except OSError as error:
            raise UnreadableDocument(source.name, error.strerror or type(error).__name__) from error
        self._require_size(source, len(data))  # it may have grown, or be another file by now
        standing = self._standing(source.uri)
        audience, tags = self._labels(standing)
        replaces = standing.document.content_hash if standing else None
        return Candidate(source, data, content_hash(data), replaces, audience, tags)

    def _require_size(self, source: Source, size: int) -> None:
        most = self._corpus.limits.max_bytes
        if size > most:
            reason = f"too large: {size / 1e6:,.0f} MB, the limit is {most / 1e6:,.0f} MB"
            raise UnreadableDocument(source.name, reason, "Set ARGOT_MAX_FILE_MB to allow larger files")

    def _labels(self, standing: Standing | None) -> tuple[Audience, tuple[str, ...]]:
        """Labels that are not given stay as they are: adding a folder again must not make its documents public."""
        audience, tags = (standing.document.audience, standing.document.tags) if standing else (EVERYONE, ())
        return (
            audience if self._audience is None else self._audience,
            tags if self._tags is None else self._tags,
        )

    def _known(self, candidate: Candidate) -> IngestEvent | None:
        """The event of a source that needs no reading, after doing what little it needs."""
        standing = self._standing(candidate.source.uri)
        if standing is None:
            return self._duplicate(candidate)
        document = standing.document
        if document.content_hash != candidate.content or self._lacks_derived(standing):
            return None
        if (document.audience, document.tags) == (candidate.audience, candidate.tags):
            return IngestEvent("unchanged", candidate.source.name, document=document)
        return self._relabel(candidate, document)

    def _duplicate(self, candidate: Candidate) -> IngestEvent | None:
        """A document with the same bytes and readers; None too if who adds is none of them: they would learn of it."""
        if self._by is not None and not self._by.may_read(candidate.audience):
            return None
        row = self._connection.execute(
            f"""SELECT {DOCUMENT_COLUMNS} FROM {DOCUMENT_TABLES}
            WHERE r.content_hash = ? AND r.state = 'live' AND a.tokens = ? ORDER BY d.uri LIMIT 1""",  # noqa: S608
            (candidate.content, audience_text(candidate.audience)),
        ).fetchone()
        if row is None:
            return None
        twin = document_of(row)
        return IngestEvent("duplicate", candidate.source.name, f"the same content as {twin.name} ({twin.uri})", twin)

    def _lacks_derived(self, standing: Standing) -> bool:
        return self._deriver is not None and standing.derived_by != self._deriver.name

    def _read(self, candidate: Candidate, loop: _EventLoop) -> NewRevision:
        """
        Raises:
            UnreadableDocument: also for a fault of ours, which must not stop the other files: the log has all of it.
        """
        try:
            return self._with_derived(self._parsed(candidate), loop)
        except ArgotError:
            raise
        except Exception as error:
            log.exception("reading %s failed", candidate.source.name)
            raise UnreadableDocument(candidate.source.name, f"a fault in Argot: {error!r}") from error

    def _parsed(self, candidate: Candidate) -> NewRevision:
        source, settings = candidate.source, self._corpus.settings
        parsed = read_document_isolated(candidate.data, source.name, self._corpus.limits)
        document = self._document(candidate, parsed)
        passages = cut_passages(
            parsed,
            document_id=document.id,
            revision_id=document.revision_id,
            max_chars=settings.passage_chars,
            neighbour_chars=settings.neighbour_chars,
        )
        if not passages:
            raise UnreadableDocument(source.name, "no text in it")
        return NewRevision(replace(document, passages=len(passages)), parsed.markdown, passages)

    def _document(self, candidate: Candidate, parsed: ParsedDocument) -> Document:
        id_ = document_id(candidate.source.uri)
        return Document(
            id=id_,
            uri=candidate.source.uri,
            title=parsed.title or candidate.source.name,
            media_type=parsed.media_type,
            revision_id=revision_id(id_, candidate.content),
            content_hash=candidate.content,
            added_at=datetime.now(UTC).isoformat(timespec="seconds"),
            date=parsed.date,
            tags=candidate.tags,
            audience=candidate.audience,
            size=len(candidate.data),
        )

    def _with_derived(self, new: NewRevision, loop: _EventLoop) -> NewRevision:
        """With the deriver's texts. While its model is down, documents go in without; adding again makes up for it."""
        if self._deriver is None:
            return new
        deriver, passages = self._deriver, new.passages
        try:
            triples = loop.run(lambda: deriver.triples(passages))
            derived = loop.run(lambda: deriver.derived_texts(passages))
        except ModelUnavailable:
            return new
        return replace(
            new,
            triples=stamped_triples(triples, passages),
            derived=stamped_derived(derived, passages),
            derived_by=deriver.name,
        )

    # -- storing, one writer at a time ------------------------------------------------------------------------------

    def _store(self, group: Group) -> list[IngestEvent]:
        if not group.members:
            return []
        with self._corpus.changing() as parts:
            overtaken = [self._known(candidate) for candidate, _ in group.members]  # by another writer, meanwhile
            fresh = [member for member, known in zip(group.members, overtaken, strict=True) if known is None]
            kinds = ["updated" if self._standing(new.document.uri) else "added" for _, new in fresh]
            store_revisions(parts, [(new, candidate.data) for candidate, new in fresh])
        return [known for known in overtaken if known is not None] + [
            IngestEvent(cast(EventKind, kind), candidate.source.name, self._detail(new), new.document)
            for kind, (candidate, new) in zip(kinds, fresh, strict=True)
        ]

    def _detail(self, new: NewRevision) -> str:
        detail = f"{len(new.passages)} passages"
        if self._deriver is not None and not new.derived_by:
            detail += "; without derived texts, because the language model did not answer: add it again later"
        return detail

    def _relabel(self, candidate: Candidate, document: Document) -> IngestEvent:
        with self._corpus.changing() as parts:
            relabel(parts, document, candidate.audience, candidate.tags)
        changed = replace(document, audience=candidate.audience, tags=candidate.tags)
        return IngestEvent("updated", candidate.source.name, "audience or tags", changed)

    @property
    def _connection(self) -> sqlite3.Connection:
        return self._corpus.store.database.connection()

    def _standing(self, uri: str) -> Standing | None:
        row = self._connection.execute(
            f"SELECT r.derived_by, {DOCUMENT_COLUMNS} FROM {DOCUMENT_TABLES} WHERE d.uri = ?",  # noqa: S608
            (uri,),
        ).fetchone()
        return None if row is None else Standing(document_of(row[1:]), row[0])


class Skipped(UnreadableDocument):
    """Not to be read at all, and why."""


def _refused(source: Source, error: UnreadableDocument) -> IngestEvent:
    detail = error.reason + (f". {error.remedy}" if error.remedy else "")
    return IngestEvent("skipped" if isinstance(error, Skipped) else "failed", source.name, detail)


def _drained(waiting: list[Source]) -> Iterator[Source]:
    """What is in the list once everything before has been read."""
    while waiting:
        yield waiting.pop(0)


class _EventLoop:
    """Runs a deriver's coroutines, all in one event loop, whether or not the calling thread already runs one."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="argot-derive")
        self._runner: asyncio.Runner | None = None

    def __enter__(self) -> _EventLoop:
        return self

    def __exit__(self, *_: object) -> None:
        if self._runner is not None:
            self._thread.submit(self._runner.close).result()
        self._thread.shutdown()

    def run(self, call: Callable[[], Coroutine[Any, Any, T]]) -> T:
        return self._thread.submit(self._run, call).result()

    def _run(self, call: Callable[[], Coroutine[Any, Any, T]]) -> T:
        if self._runner is None:
            self._runner = asyncio.Runner()
        return self._runner.run(call())
