"""Finds the parts of documents that a question names by their printed numbers, and reports the missing ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from argot.corpus.chunking.headings import find_headings
from argot.corpus.store.document_store import CorpusStore
from argot.errors import NotFound
from argot.languages.language_data import ENGLISH
from argot.tools.answering.support import find_statement_stems
from argot.tools.reading.numbered_references import NumberedReference, measure_part_fit
from argot.tools.text.numbered_parts import NumberedPart, find_numbered_parts
from argot.tools.text.part_labels import is_same_label, measure_label_distance
from argot.tools.text.words import fold_words, stem_by_language
from argot.types import Document, Hit, Passage, Principal

MAX_DOCUMENTS = 12
"""Number of the best passages, and as many again of those that contain the printed number."""
MAX_CHARS = 1_500
"""Maximum characters of a quoted part; a chapter is quoted from its beginning."""
MAX_PARTS = 3
"""Quoted for one reference if several documents may be meant."""
_MAX_TEXT_CHARS = 2_000_000
_TITLE_CHARS = 200
_MIN_NAMED_SHARE = 0.5


@dataclass(frozen=True, slots=True)
class QuotedPart:
    """A part of a document as passages hold it. `spans`: the [start, end) in the text of each passage."""

    hits: tuple[Hit, ...]
    spans: tuple[tuple[int, int], ...]


@dataclass(slots=True)
class NumberedFindings:
    """The parts found for a question's references.

    `missing`: the references whose number no document has, with the passages that have the nearest numbers.
    `is_placed`: every location that the question names was found.
    """

    parts: list[QuotedPart] = field(default_factory=list)
    missing: list[NumberedReference] = field(default_factory=list)
    nearest: list[Hit] = field(default_factory=list)
    is_placed: bool = True


@dataclass(frozen=True, slots=True)
class _Source:
    """A document that may contain the part: its text and its numbered parts."""

    document: Document
    markdown: str
    parts: Sequence[NumberedPart]

    @property
    def title(self) -> str:
        first_line = self.markdown.strip().partition("\n")[0][:_TITLE_CHARS]
        return f"{self.document.name} {self.document.title} {first_line}"


@dataclass(frozen=True, slots=True)
class _Candidate:
    source: _Source
    part: NumberedPart
    place: float  # share of the words for its location that occur above it
    fit: int
    told: int = 0  # words of the question that occur in it or above it


@dataclass(frozen=True, slots=True)
class NumberedSearch:
    """A search for numbered parts in the documents that the principal may read."""

    store: CorpusStore
    principal: Principal

    def find_parts(
        self, question: str, references: Sequence[NumberedReference], hits: Sequence[Hit], *, beyond_hits: bool
    ) -> NumberedFindings:
        """Return the parts with the numbers, in the documents of the hits.

        Args:
            beyond_hits: also search other documents that contain the printed number.
        """
        documents = self._find_documents(references if beyond_hits else (), hits)
        sources = [source for document in documents if (source := self._read_source(document)) is not None]
        found, asked = NumberedFindings(), find_statement_stems(question)
        for reference in references:
            fitting = _find_candidates(reference, sources)
            best = _select_best([one for one in fitting if _has_number(one.part, reference)], asked)
            is_placed = not reference.container or (bool(best) and best[0].place >= _MIN_NAMED_SHARE)
            is_elsewhere = bool(best) and not is_placed and _is_place_known(reference, sources)
            if best and not is_elsewhere:
                found.is_placed &= is_placed
                found.parts += [self._quote(one) for one in best]
            elif is_elsewhere or not self._is_mentioned(reference, sources):
                found.missing.append(reference)
                found.nearest += self._find_nearest(reference, fitting)
        return found

    def _find_documents(self, references: Sequence[NumberedReference], hits: Sequence[Hit]) -> list[Document]:
        near = list({hit.document.id: hit.document for hit in hits}.values())[:MAX_DOCUMENTS]
        phrases = [phrase for reference in references for phrase in _list_phrases(reference)]
        ids = [id_ for phrase in phrases for id_ in self.store.find_phrase(self.principal, phrase, MAX_DOCUMENTS)]
        others = (document for _, document in self.store.passages(self.principal, ids).values())
        return list({document.id: document for document in (*near, *others)}.values())[: 2 * MAX_DOCUMENTS]

    def _read_source(self, document: Document) -> _Source | None:
        try:
            markdown = self.store.markdown(self.principal, document.revision_id)
        except NotFound:  # removed or closed to the asker since it was found
            return None
        return _Source(document, markdown, find_numbered_parts(markdown)) if len(markdown) <= _MAX_TEXT_CHARS else None

    def _is_mentioned(self, reference: NumberedReference, sources: Sequence[_Source]) -> bool:
        """Return whether a document mentions the part, or has a table with its number: it may answer without containing
        the part.
        """
        phrases = set(_list_phrases(reference))
        if not reference.kind or any(self.store.phrase_count(self.principal, phrase) for phrase in phrases):
            return True
        number = ".".join(reference.label)
        names = (number, f"{reference.kind} {number}", reference.name.casefold())
        return any(cell in names for cell in _list_first_cells(sources))

    def _quote(self, one: _Candidate) -> QuotedPart:
        end = min(one.part.end, one.part.start + MAX_CHARS)
        held = self._list_passages(one, end)
        spans = tuple((max(0, one.part.start - part.start), min(part.end, end) - part.start) for part in held)
        return QuotedPart(tuple(Hit(passage, one.source.document, 1.0, {}) for passage in held), spans)

    def _find_nearest(self, reference: NumberedReference, fitting: Sequence[_Candidate]) -> list[Hit]:
        """Return the passage with the number nearest to a missing one, at the location that the question names."""
        if not fitting:
            return []
        one = min(fitting, key=lambda one: (-one.place, measure_label_distance(one.part.label, reference.label)))
        held = self._list_passages(one, one.part.start + 1)
        return [Hit(passage, one.source.document, 1.0, {}) for passage in held]

    def _list_passages(self, one: _Candidate, end: int) -> list[Passage]:
        """Return the passages that contain the part from its beginning up to this position of the text."""
        whole = self.store.passages_of(self.principal, one.source.document.id)
        return [passage for passage in whole if passage.start < end and one.part.start < passage.end]


def _list_phrases(reference: NumberedReference) -> Iterator[str]:
    """Yield the ways to write a number that are rare enough to search for."""
    number = ".".join(reference.label)
    if len(reference.label) > 1:
        yield number
    if reference.kind:
        yield f"{reference.kind} {number}"
        yield reference.name


def _list_first_cells(sources: Sequence[_Source]) -> Iterator[str]:
    """Yield the first cell of each row of a table."""
    lines = (line for source in sources for line in source.markdown.split("\n") if line.startswith("|"))
    yield from (line.strip("| *").partition("|")[0].strip(" *.").casefold() for line in lines)


# -- which part is meant ----------------------------------------------------------------------------------------------


def _find_candidates(reference: NumberedReference, sources: Sequence[_Source]) -> list[_Candidate]:
    """Return the parts that such a reference may mean, whatever their numbers."""
    wanted = _stem_container(reference)
    candidates = []
    for source in sources:
        texts = [f"{part.surroundings}\n{part.words if part.is_title else ''}" for part in source.parts]
        shares = {text: _measure_place(wanted, text, reference.language) for text in set(texts)}
        above = [shares[text] for text in texts]
        # The document's name is no evidence if one of its lists or sections has the same name.
        least = (
            0.0
            if max(above, default=0.0) >= _MIN_NAMED_SHARE
            else _measure_place(wanted, source.title, reference.language)
        )
        candidates += [
            _Candidate(source, part, max(place, least), fit)
            for part, place in zip(source.parts, above, strict=True)
            if (fit := measure_part_fit(reference, part))
        ]
    return candidates


def _stem_container(reference: NumberedReference) -> frozenset[str]:
    return frozenset(stem_by_language(reference.language, word) for word in reference.container)


def _measure_place(location: frozenset[str], text: str, language: str) -> float:
    """Return the share of the words for a location, of this language, that a text contains; 1 without such words."""
    if not location:
        return 1.0
    stems = find_statement_stems(text)
    if language != ENGLISH:  # a heading of few words does not show its language
        stems |= {stem_by_language(language, word) for word in fold_words(text)}
    return len(location & stems) / len(location)


def _has_number(part: NumberedPart, reference: NumberedReference) -> bool:
    """Return whether the part has the number itself, or together with its parent: "(b)" below "4" is "4(b)"."""
    if is_same_label(part.label, reference.label):
        return True
    tail = len(part.label)
    head = reference.label[:-tail]
    inner = bool(head) and part.label[0].isalpha() and is_same_label(part.label, reference.label[-tail:])
    return inner and any(one.label and is_same_label(one.label, head) for one in part.above)


def _select_best(bearing: Sequence[_Candidate], question_stems: frozenset[str]) -> list[_Candidate]:
    """Return the best of the parts with the number; several if the question does not distinguish them."""
    counted = [replace(one, told=len(question_stems & find_statement_stems(_join_words(one)))) for one in bearing]
    best = max(((one.place, one.fit, one.told) for one in counted), default=None)
    return [one for one in counted if (one.place, one.fit, one.told) == best][:MAX_PARTS]


def _join_words(one: _Candidate) -> str:
    return "\n".join((one.source.title, one.part.surroundings, one.source.markdown[one.part.start : one.part.end]))


def _is_place_known(reference: NumberedReference, sources: Sequence[_Source]) -> bool:
    """Return whether the documents have the location that the question names, without a part of that number."""
    wanted = _stem_container(reference)
    places = (
        text
        for source in sources
        for text in (
            source.title,
            *(heading.text for heading in find_headings(source.markdown)),
            *_list_introductions(source),
        )
    )
    return any(_measure_place(wanted, text, reference.language) >= _MIN_NAMED_SHARE for text in places)


def _list_introductions(source: _Source) -> Iterator[str]:
    yield from (text for part in source.parts for text in (part.words if part.is_title else "", part.lead))
