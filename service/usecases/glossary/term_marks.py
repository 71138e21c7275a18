"""Terms where people read: their places in the texts of a page, with the meaning there, and reports of wrong ones."""

from __future__ import annotations

import re
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from argot.errors import InvalidInput, NotFound, TooManyQuestions
from argot.service.glossary_review.readings import TextEvidence, choose_meanings, read_evidence, weigh_terms
from argot.service.knowledge_base import KnowledgeBase
from argot.service.leaky_buckets import LeakyBuckets
from argot.service.usecases.glossary.senses import SenseId
from argot.service.usecases.usecase_registry import Text, usecase
from argot.tools.reading.everyday_words import is_everyday_in_prose
from argot.tools.senses.document_evidence import cache_evidence
from argot.types import Document, Principal, Sense

MAX_TEXTS = 2_000
MAX_CHARS = 300_000
"""Characters of all texts of one call."""
MAX_DOCUMENTS = 8
"""Documents whose words count as evidence."""
MAX_MEANINGS = 6
MAX_REPORTS_PER_HOUR = 30
HOUR = 3600.0
_NOT_PROSE = re.compile(
    r"^ {0,3}(?:```|~~~).*?(?:^ {0,3}(?:```|~~~)[ \t]*$|\Z)|^ {0,3}#{1,6}[ \t][^\n]*|(`+)[^`\n]+\1"
    r"|!?\[[^\]\n]{0,500}\]\([^)\n]{0,2000}\)|\b[a-z][a-z+.-]{1,20}://\S+"
    # mail addresses, paths, and names of files; "Node.js" and "TCP/IP" are none
    r"|(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}"
    r"|(?<![\w/.])(?:\.{0,2}/[\w.-]{1,100}|[\w.-]{1,100}(?:/[\w.-]{1,100}){2})(?:/[\w.-]{1,100}){0,20}"
    r"|(?<![\w.-])[\w-]{1,100}(?:\.[\w-]{1,50}){0,4}\.(?i:md|rst|adoc|txt|log|pdf|docx?|odt|rtf|xlsx?|ods|csv|tsv"
    r"|pptx?|odp|html?|xml|json|ya?ml|toml|ini|cfg|conf|eml|msg|png|jpe?g|gif|svg|zip|sql|py|sh|cpp|hpp)\b",
    re.MULTILINE | re.DOTALL,
)

Texts = Annotated[list[Annotated[Text, Field(max_length=MAX_CHARS)]], Field(max_length=MAX_TEXTS)]
Passages = Annotated[list[Annotated[Text, Field(max_length=64)]], Field(max_length=50)]


@dataclass(frozen=True, slots=True)
class MeaningMarked:
    """A meaning of a marked term."""

    sense: int
    expansion: str
    description: str
    context: str
    contact: str


@dataclass(frozen=True, slots=True)
class TermMarked:
    """A term in the texts. `meanings`: the one that it has there, or all if nothing decides between them."""

    term: str
    meanings: list[MeaningMarked]


@dataclass(frozen=True, slots=True)
class PlaceMarked:
    """texts[text][start:end] is the term `term`, an index into the terms; counted in characters (code points)."""

    text: int
    start: int
    end: int
    term: int


@dataclass(frozen=True, slots=True)
class TermMarks:
    """The places of terms in texts, in order."""

    terms: list[TermMarked]
    places: list[PlaceMarked]


@dataclass(frozen=True, slots=True)
class MeaningReported:
    """The outcome of a report. `recorded`: it is in the managers' queue; `contact`: the person to ask otherwise."""

    recorded: bool
    contact: str


@usecase("asker")
async def terms_mark(
    kb: KnowledgeBase,
    principal: Principal,
    *,
    texts: Texts,
    document: Annotated[Text, Field(max_length=64)] = "",
    passages: Passages | None = None,
    context: Annotated[Text, Field(max_length=200)] = "",
) -> TermMarks:
    """Find the terms in the texts of a page, each with the meaning that it has there. Texts are not stored.

    Each term is marked once in each text. A term with several meanings has the one that the texts, the `document` or
    the documents of the `passages` speak of; `context`, the reader's own, decides between equals. If nothing does, all
    meanings are given.
    """
    if sum(map(len, texts)) > MAX_CHARS:
        raise InvalidInput(f"These texts are longer than {MAX_CHARS:,} characters together. Send them in parts.")

    def mark() -> TermMarks:
        documents = _find_documents(kb, principal, document, passages or [])
        return _mark_terms(kb, principal, texts, documents, context)

    return await kb.blocking(mark)


@usecase("asker")
async def meaning_report(
    kb: KnowledgeBase,
    principal: Principal,
    *,
    sense_id: SenseId,
    term: Annotated[Text, Field(min_length=1, max_length=200)],
    document: Annotated[Text, Field(max_length=64)] = "",
    page: Annotated[Text, Field(max_length=300)] = "",
    said: Annotated[Text, Field(max_length=500)] = "",
    of_several: bool = False,
) -> MeaningReported:
    """Report that a term does not have this meaning in a document, or on a `page` of the intranet.

    `of_several`: nor any of the other meanings that the reader was shown.

    It comes into the managers' queue as a missed term, with what the reader `said` and the place, unless other readers
    may not know of these.
    """
    _limit_reports(kb, principal)

    def report() -> MeaningReported:
        sense = kb.glossary.senses.get(principal, sense_id)
        if sense.status != "approved":
            raise NotFound(f"There is no sense {sense_id} that readers are shown.")
        context = next((one for one in kb.glossary.contexts.all(principal) if one.name == sense.context), None)
        contact = (context.contact if context else "") or sense.owner
        # Every manager sees a missed term, and may not know of this one.
        if sense.audience or context is None or context.audience or not _is_name_of(sense, term):
            return MeaningReported(recorded=False, contact=contact)
        where = _name_place(kb, principal, document, page)
        meaning = f"“{sense.expansion or sense.description[:200]}” ({sense.context})"
        text = f"{'Neither' if of_several else 'Not'} {meaning}{' nor another meaning' * of_several}{where}"
        question = f"{text}: {said.strip()}" if said.strip() else text
        kb.glossary.misses.record(sense.term, principal.name, question, f"reading:{document or page}", shared=True)
        return MeaningReported(recorded=True, contact=contact)

    return await kb.blocking(report)


def _mark_terms(
    kb: KnowledgeBase, principal: Principal, texts: Sequence[str], documents: Sequence[Document], context: str
) -> TermMarks:
    glossary = kb.glossary
    matcher = glossary.lookup.matcher(principal)
    found = [
        [one for one in matcher.find(_hide_code(text)) if one.term and not is_everyday_in_prose(one, text)]
        for text in texts
    ]
    names = list(dict.fromkeys(one.term for some in found for one in some if one.term))
    senses = {term: some for term, some in glossary.lookup.senses(principal, names).items() if some}
    evidence: list[TextEvidence] = []
    if any(len(some) > 1 for some in senses.values()):
        evidence = [weigh_terms("\n".join(texts), senses)]
        evidence += [_read_document(kb, principal, one) for one in documents]
    contacts = {one.name: one.contact for one in glossary.contexts.all(principal)}
    numbers = {term: number for number, term in enumerate(senses)}
    terms = [
        TermMarked(
            term, [_show_meaning(one, contacts) for one in choose_meanings(some, evidence, context)[:MAX_MEANINGS]]
        )
        for term, some in senses.items()
    ]
    places = []
    for number, mentions in enumerate(found):
        seen: set[int] = set()
        for one in mentions:
            index = numbers.get(one.term or "", -1)
            if index >= 0 and index not in seen:
                seen.add(index)
                places.append(PlaceMarked(number, one.start, one.end, index))
    return TermMarks(terms, places)


def _hide_code(text: str) -> str:
    """Return the text with other characters in place of code, links, headings and addresses that it has as Markdown."""
    return _NOT_PROSE.sub(lambda match: "\ufffc" * len(match[0]), text)


def _show_meaning(sense: Sense, contacts: dict[str, str]) -> MeaningMarked:
    contact = contacts.get(sense.context, "") or sense.owner
    return MeaningMarked(sense.id, sense.expansion, sense.description, sense.context, contact)


def _find_documents(kb: KnowledgeBase, principal: Principal, document: str, passages: Sequence[str]) -> list[Document]:
    """Return the documents that the page is of. Those that are gone, or not for this reader, are no evidence."""
    found = {of.id: of for _, of in kb.document_store.passages(principal, passages).values()}
    if document:
        try:
            one = kb.document_store.document(principal, document)
            found[one.id] = one
        except NotFound:
            pass
    return list(found.values())[:MAX_DOCUMENTS]


def _read_document(kb: KnowledgeBase, principal: Principal, document: Document) -> TextEvidence:
    """Return the evidence of a document, cached for readers of the same rights until it or the glossary changes."""
    store, glossary = kb.document_store, kb.glossary
    rights = (principal.sees_all, principal.tokens)

    def read_whole_document() -> tuple[TextEvidence]:
        return (read_evidence(glossary, principal, store.markdown(principal, document.revision_id)),)

    what = ("evidence of a document", document.revision_id, glossary.version(), rights)
    return cache_evidence(store, principal, what, read_whole_document)[0]


def _is_name_of(sense: Sense, term: str) -> bool:
    """Return whether the reader saw this sense under a name of it: nothing else may be queued through it."""
    from argot.jargon_db.lookup.normalise import list_variants, normalise

    names = {normalise(one) for one in (sense.term, sense.expansion, *sense.aliases)}
    return not names.isdisjoint(list_variants(term))


def _name_place(kb: KnowledgeBase, principal: Principal, document: str, page: str) -> str:
    """Return the place of a report, as every manager may know it."""
    if document:
        of = kb.document_store.document(principal, document)
        return f" in {of.name}" if not of.audience else " in a document that not everybody may read"
    # Without its query, which may hold what only this reader may know.
    address = page.partition("#")[0].partition("?")[0].strip()
    return f" on {address}" if address else ""


class _Reports:
    """The number of reports of each person in an hour."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.counts: LeakyBuckets[str] = LeakyBuckets(HOUR)


def _limit_reports(kb: KnowledgeBase, principal: Principal) -> None:
    reports = kb.part(_Reports)
    with reports.lock:
        if reports.counts.wait(principal.name, MAX_REPORTS_PER_HOUR) > 0:
            raise TooManyQuestions(
                f"That is more than {MAX_REPORTS_PER_HOUR} reports in an hour. Tell the contact of the context.", 3600
            )
        reports.counts.add(principal.name, MAX_REPORTS_PER_HOUR)
