"""The text of one document: its headings, and its passages a part at a time, with the texts derived from them."""

from __future__ import annotations

import asyncio
import base64
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from argot.clock import format_utc, utc_now
from argot.corpus.store.document_store import CorpusStore
from argot.errors import NotFound
from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases.documents.documents import PDF, PagePicture, draw_page
from argot.service.usecases.documents.pictures import PictureShown, document_pictures
from argot.service.usecases.usecase_registry import Number, Text, usecase
from argot.types import DerivedText, Document, DocumentField, Passage, Principal, Triple

MAX_JUDGED = 200
"""Maximum judged answers examined, the newest."""
MAX_QUESTIONS = 10
TOGETHER = 25
"""Passages per part, if the file has no pages, slides or sheets."""


@dataclass(frozen=True, slots=True)
class ContentsEntry:
    """A heading, `depth` levels down (from 0); `passage`: the id of the first below it, which is in `part`."""

    heading: str
    depth: int
    passage: str
    part: int


@dataclass(frozen=True, slots=True)
class DocumentContents:
    """A document's headings in their order."""

    document: Document
    sections: list[ContentsEntry]


@dataclass(frozen=True, slots=True)
class PassagePlace:
    """The place of a passage: [start, end) in characters of the document's Markdown."""

    id: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class DocumentText:
    """The Markdown of one part of a document: a page, slide or sheet, or of 25 passages.

    Attributes:
        parts: the numbers of all parts that contain text.
        start: the place of `text` in the document's Markdown, in characters.
        columns: the head of the table in which `text` begins, if it begins within one.
        passages: those that are cited, in their order.
        is_gone: the passage asked for is not in the document any more.
        pictures: those that stand in the part.
    """

    document: Document
    sections: list[ContentsEntry]
    paged: bool
    parts: list[int]
    part: int
    start: int
    text: str
    columns: str
    passages: list[PassagePlace]
    is_gone: bool
    pictures: list[PictureShown] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class PassageRead:
    """A passage, and the texts derived from it."""

    passage: Passage
    derived: list[DerivedText]
    triples: list[Triple]


@dataclass(frozen=True, slots=True)
class DocumentPart:
    """A page, slide or sheet of a document, or so many of its passages. `parts`: the numbers of all that contain text.

    `given`: the fields that managers set.
    """

    document: Document
    sections: list[ContentsEntry]
    paged: bool
    parts: list[int]
    part: int
    passages: list[PassageRead]
    given: list[DocumentField]


@dataclass(frozen=True, slots=True)
class DocumentUse:
    """Number of answers that rest on a document: in all, and in the last 30 days; `last`: the day of the newest, or
    empty.

    `questions`: those that their askers shared with the managers when they judged the answer, the newest first.
    """

    document: Document
    answers: int
    lately: int
    last: str
    questions: list[str]


@usecase("manager", everywhere=True)
async def document_use(kb: KnowledgeBase, principal: Principal, *, document: Text) -> DocumentUse:
    """Count the answers that cited a document (by id, name or URI), and list their shared questions."""
    from argot.corpus.store.citation_counts import count_by_day

    found = await kb.blocking(kb.document_store.document, principal, document)
    days = await kb.blocking(count_by_day, kb.document_store, found)
    since = format_utc(utc_now() - timedelta(days=30), "seconds")[:10]
    lately = sum(answers for day, answers in days.items() if day >= since)
    shared = await _list_shared_questions(kb, principal, found)
    return DocumentUse(found, sum(days.values()), lately, next(iter(days), ""), shared)


async def _list_shared_questions(kb: KnowledgeBase, principal: Principal, document: Document) -> list[str]:
    judged = [one for one in await (await kb.threads()).list_judged() if one.said.shared][-MAX_JUDGED:]
    if not judged:
        return []
    from argot.service.threads.feedback_export import list_judged_answers
    from argot.service.threads.feedback_results import SharedAnswer
    from argot.service.usecases.questions.questions import run_context

    found = await kb.blocking(list_judged_answers, await run_context(kb, principal), judged)
    cited = await kb.blocking(kb.document_store.passages_of, principal, document.id)
    own = {one.id for one in cited}
    asked = [
        one.question
        for one in found
        if isinstance(one, SharedAnswer) and any(place.passage_id in own for place in one.gold)
    ]
    return list(dict.fromkeys(reversed(asked)))[:MAX_QUESTIONS]


@usecase("asker")
async def document_contents(kb: KnowledgeBase, principal: Principal, *, document: Text) -> DocumentContents:
    """Show a document (by id, name or URI) with its headings."""
    found, passages = await _read_passages(kb, principal, document)
    return DocumentContents(found, await _list_contents(kb.document_store, principal, found, passages))


@usecase("asker")
async def document_text(
    kb: KnowledgeBase, principal: Principal, *, document: Text, part: Number | None = None, passage: Text = ""
) -> DocumentText:
    """Read one part of a document (by id, name or URI) as Markdown: a page, slide or sheet.

    Other files have 25 passages a part. Without `part` it is the one in which `passage` (an id) begins, or else the
    first one.

    Raises:
        NotFound: there is no such document, or not for this caller; or it has no such part.
    """
    store = kb.document_store
    found, passages = await _read_passages(kb, principal, document)
    markdown = await kb.blocking(store.markdown, principal, found.revision_id)
    places = _place_passages(passages)
    parts, wanted = _choose_part(places, part, passage)
    if part is not None and part not in parts:
        of = f"Its last one is {parts[-1]}." if parts else "No text was read of it."
        raise NotFound(f"'{found.name}' has no page or part {part} with text. {of}")
    shown = [one for one in passages if wanted in places[one.id]]
    start, end = _find_slice(passages, shown, len(markdown))
    here = {one.id for one in shown}
    pictures = await document_pictures(kb, principal, document=found.id)
    return DocumentText(
        document=found,
        sections=await asyncio.to_thread(_list_sections, passages, markdown),
        paged=_is_paged(passages),
        parts=parts,
        part=wanted,
        start=start,
        text=markdown[start:end],
        columns=_find_columns(markdown, start),
        passages=[PassagePlace(one.id, one.start, one.end) for one in shown],
        is_gone=bool(passage) and passage not in places,
        pictures=[one for one in pictures if one.passage in here and _is_in_part(one, part=wanted, places=places)],
    )


@usecase("manager")
async def document_part(
    kb: KnowledgeBase, principal: Principal, *, document: Text, part: Number | None = None, passage: Text = ""
) -> DocumentPart:
    """Show the text of one part of a document (by id, name or URI): a page, slide or sheet.

    Other files have 25 passages a part. Without `part` it is the one in which `passage` (an id) begins, or else the
    first one.
    """
    from argot.corpus.store.document_fields import read_given_fields
    from argot.corpus.store.revision_reads import read_derived

    found, passages = await _read_passages(kb, principal, document)
    places = _place_passages(passages)
    parts, wanted = _choose_part(places, part, passage)
    shown = [one for one in passages if wanted in places[one.id]]
    texts, triples = await kb.blocking(read_derived, kb.document_store, principal, [one.id for one in shown])
    by_passage: dict[str, list[DerivedText]] = defaultdict(list)
    for text in texts:
        for of in text.passage_ids:
            by_passage[of].append(text)
    read = [
        PassageRead(one, by_passage[one.id], [triple for triple in triples if triple.passage_id == one.id])
        for one in shown
    ]
    sections = await _list_contents(kb.document_store, principal, found, passages)
    given_fields = await kb.blocking(lambda: read_given_fields(kb.document_store.database.connection(), found.id))
    return DocumentPart(found, sections, _is_paged(passages), parts, wanted, read, given_fields)


@usecase("asker")
async def document_page(
    kb: KnowledgeBase, principal: Principal, *, document: Text, page: Number, outlined: bool = True
) -> PagePicture:
    """Return a page of a PDF as a PNG (base64), with the places of all its passages marked if they are `outlined`.

    Raises:
        NotFound: the caller may not read the document, it is no PDF, or it has no such page.
    """
    found, passages = await _read_passages(kb, principal, document)
    if found.media_type != PDF:
        raise NotFound("Only pages of PDF documents are shown as pictures.")
    data, _ = await kb.blocking(kb.document_store.original, principal, found.revision_id)
    from argot.service.page_images import PageRequest

    boxes = tuple(box for one in passages for box in one.boxes if box.page == page) if outlined else ()
    drawn = await draw_page(kb, found, data, PageRequest(page, boxes))
    return PagePicture(drawn.page, "image/png", base64.b64encode(drawn.png).decode("ascii"))


async def _read_passages(kb: KnowledgeBase, principal: Principal, document: str) -> tuple[Document, list[Passage]]:
    store = kb.document_store
    found = await kb.blocking(store.document, principal, document)
    return found, await kb.blocking(store.passages_of, principal, found.id)


async def _list_contents(
    store: CorpusStore, principal: Principal, document: Document, passages: Sequence[Passage]
) -> list[ContentsEntry]:
    text = await asyncio.to_thread(store.markdown, principal, document.revision_id)
    return await asyncio.to_thread(_list_sections, passages, text)


def _is_in_part(picture: PictureShown, *, part: int, places: Mapping[str, list[int]]) -> bool:
    """Return whether a picture is on this page, or if its passage is in one part only, in this part."""
    return picture.page == part or picture.page is None or len(places[picture.passage]) == 1


def _choose_part(places: Mapping[str, list[int]], part: int | None, passage: str) -> tuple[list[int], int]:
    """Return the numbers of all parts, and the one to show."""
    parts = sorted({part for several in places.values() for part in several})
    begins = places.get(passage, parts)[:1]
    return parts, begins[0] if part is None and begins else part or 1


def _find_slice(passages: Sequence[Passage], shown: Sequence[Passage], length: int) -> tuple[int, int]:
    """Return the place of a part's Markdown: also of what belongs to no passage, such as a heading without text."""
    if not shown:
        return 0, length
    following = next((one.start for one in passages if one.ordinal > shown[-1].ordinal), length)
    return 0 if shown[0] is passages[0] else shown[0].start, max(shown[-1].end, following)


def _find_columns(markdown: str, start: int) -> str:
    """Return the first two lines of the table that the text is in at this place; empty outside a table."""
    if not markdown.startswith("|", start):
        return ""
    rows: list[str] = []
    for line in reversed(markdown[:start].splitlines()):
        if not line.lstrip().startswith("|"):
            break
        rows.append(line)
    return "".join(f"{row}\n" for row in rows[:-3:-1])


def _is_paged(passages: Sequence[Passage]) -> bool:
    return any(one.page is not None and one.page_kind != "line" for one in passages)


def _place_passages(passages: Sequence[Passage]) -> dict[str, list[int]]:
    """Return the parts that contain each passage (by its id); for one that crosses a page's end, both pages."""
    if not _is_paged(passages):
        return {one.id: [place // TOGETHER + 1] for place, one in enumerate(passages)}
    return {one.id: sorted({one.page or 1, *(box.page for box in one.boxes)}) for one in passages}


def _list_sections(passages: Sequence[Passage], markdown: str) -> list[ContentsEntry]:
    """Return the headings, each with the passage that it begins in; a heading after all of them goes with the last."""
    from argot.corpus.chunking.headings import find_headings

    if not passages:
        return []
    places, ends, found = _place_passages(passages), [one.end for one in passages], []
    for heading in find_headings(markdown):
        one = passages[min(bisect_right(ends, heading.start), len(passages) - 1)]
        found.append(ContentsEntry(heading.text, heading.depth, one.id, places[one.id][0]))
    return found
