"""Turning the bytes of a source into a document ready to embed and write: read, cut, derived, windowed.

It blocks nobody: reading and cutting happen in a child process, and no lock is held meanwhile.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from argot.clock import timestamp
from argot.corpus.chunking.passages import build_passages
from argot.corpus.document_ids import build_revision_id
from argot.corpus.index.embedding_windows import WindowedItem, cut_windows, list_items
from argot.corpus.ingestion.first_page import read_first_page_date, read_first_page_fields
from argot.corpus.ingestion.language_detection import label_passages, list_language_fields
from argot.corpus.ingestion.source import Source
from argot.corpus.minhash import build_sketch
from argot.corpus.read_limits import ReadLimits
from argot.corpus.readers.file_fields import build_fields
from argot.corpus.readers.reader_process import read_in_child
from argot.corpus.readers.reader_protocol import CutDocument
from argot.corpus.store.derived_ids import stamp_derived, stamp_triples
from argot.corpus.store.document_fields import filter_usable
from argot.corpus.store.row_writes import NewRevision
from argot.corpus.store.source_metadata import NO_METADATA, SourceMetadata
from argot.errors import ArgotError, ModelUnavailable, UnreadableDocument
from argot.languages.detection import identify_language
from argot.protocols import Deriver, Embedder
from argot.types import Audience, Document, DocumentField, Triple

DERIVATION_BATCH_PASSAGES = 64
"""Number of passages whose triples are derived at once; in between, other threads have their turn."""

T = TypeVar("T")

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A source with its bytes and its intended labels. `replaces`: the hash of its stored content."""

    document: str
    source: Source
    data: bytes
    content: str
    replaces: str | None
    audience: Audience
    tags: tuple[str, ...]
    metadata: SourceMetadata = NO_METADATA


@dataclass(frozen=True, slots=True)
class ReadRevision:
    """A document that was read, and its texts to embed."""

    candidate: Candidate
    new: NewRevision
    items: list[WindowedItem]


class DocumentReader:
    """Reads candidates one after the other. A context manager: its deriver runs in one event loop."""

    def __init__(
        self,
        limits: ReadLimits,
        max_chars: int,
        embedder: Embedder,
        deriver: Deriver | None,
        header_fields: Sequence[str] = (),
    ) -> None:
        self._limits = limits
        self._max_chars = max_chars
        self._embedder = embedder
        self._deriver = deriver
        self._header_fields = header_fields
        self._loop = _EventLoop()

    def __enter__(self) -> DocumentReader:
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.close()

    def read(self, candidate: Candidate) -> ReadRevision:
        """Read a document in the child process, and cut it into passages.

        Raises:
            UnreadableDocument: also for a bug in Argot, which must not stop the other files: the log has the details.
        """
        try:
            # In a separate process: an untrusted file may crash its parser, or take all the memory.
            read = read_in_child(candidate.data, candidate.source.name, self._limits, self._max_chars)
            new = self._derive(_build_revision(candidate, read, self._header_fields), candidate.source.name)
            return ReadRevision(candidate, new, self._cut_windows(new, candidate.source.name))
        except ArgotError:
            raise
        except Exception as error:
            log.exception("reading %s failed", candidate.source.name)
            raise UnreadableDocument(candidate.source.name, f"a fault in Argot: {error!r}") from error

    def _derive(self, new: NewRevision, name: str) -> NewRevision:
        """Add the derived texts. While the model is unavailable, documents are added without; adding them again derives
        them.
        """
        if self._deriver is None:
            return new
        deriver, passages = self._deriver, new.passages
        try:
            triples: list[Triple] = []
            for start in range(0, len(passages), DERIVATION_BATCH_PASSAGES):
                some = passages[start : start + DERIVATION_BATCH_PASSAGES]
                triples += self._loop.run(lambda some=some: deriver.triples(some))  # type: ignore[misc]
                # After each slice: a document with too many triples is refused before all of them are derived.
                self._limits.check_windows(len(passages) + len(triples), name)
            derived = self._loop.run(lambda: deriver.derived_texts(passages))
        except ModelUnavailable:
            return new
        return replace(
            new,
            triples=stamp_triples(triples, passages),
            derived=stamp_derived(derived, passages),
            derived_by=deriver.name,
        )

    def _cut_windows(self, new: NewRevision, name: str) -> list[WindowedItem]:
        found, count = [], 0
        for item in cut_windows(self._embedder, list_items(new)):
            # Counted while they are derived, so that too many are never held.
            count += len(item.windows)
            self._limits.check_windows(count, name)
            found.append(item)
        return found


def _build_revision(candidate: Candidate, read: CutDocument, header_fields: Sequence[str]) -> NewRevision:
    language = identify_language(read.markdown)
    document = _build_document(candidate, read, header_fields, language)
    said = ((name, document.values(name)) for name in header_fields)
    header = " > ".join(f"{name.capitalize()}: {values[0]}" for name, values in said if values)
    # Cut in the child; ids are assigned here, where the document is known.
    passages = build_passages(
        document.title,
        read.markdown,
        read.cuts,
        document_id=document.id,
        revision_id=document.revision_id,
        before=header,
    )
    return NewRevision(
        document,
        read.markdown,
        label_passages(passages, language),
        metadata=candidate.metadata,
        header=header,
        sketch=build_sketch(read.markdown),
        pictures=read.pictures,
        picture_data=read.picture_data,
    )


def _build_document(candidate: Candidate, read: CutDocument, named: Sequence[str], language: str) -> Document:
    id_ = candidate.document
    return Document(
        id=id_,
        uri=candidate.source.uri,
        title=candidate.metadata.title or read.title or candidate.source.name,
        media_type=read.media_type,
        revision_id=build_revision_id(id_, candidate.content),
        content_hash=candidate.content,
        added_at=timestamp("seconds"),
        date=candidate.metadata.date or read_first_page_date(read) or read.date,
        tags=candidate.tags,
        audience=candidate.audience,
        passages=len(read.cuts),
        size=len(candidate.data),
        fields=_merge_fields(candidate, read, named, language),
        warnings=read.warnings,
    )


def _merge_fields(
    candidate: Candidate, read: CutDocument, named: Sequence[str], language: str
) -> tuple[DocumentField, ...]:
    """Merge the fields of source, file and first page, and the language of the text; of one name the earlier takes
    precedence.
    """
    found = [*build_fields([("author", candidate.metadata.author)])]
    for fields in (
        read.fields,
        read_first_page_fields(read, named, candidate.source.name),
        list_language_fields(language),
    ):
        known = {one.name for one in found}
        found += [one for one in fields if one.name not in known]
    return tuple(filter_usable(found))


class _EventLoop:
    """Runs a deriver's coroutines, all in one event loop, whether or not the calling thread already runs one."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="argot-derive")
        self._runner: asyncio.Runner | None = None

    def close(self) -> None:
        # Closed in the thread that it ran in.
        if self._runner is not None:
            self._thread.submit(self._runner.close).result()
        self._thread.shutdown()

    def run(self, call: Callable[[], Coroutine[Any, Any, T]]) -> T:
        return self._thread.submit(self._run, call).result()

    def _run(self, call: Callable[[], Coroutine[Any, Any, T]]) -> T:
        # One loop for all documents: open connections of a model's client belong to the loop that made them.
        if self._runner is None:
            self._runner = asyncio.Runner()
        return self._runner.run(call())
