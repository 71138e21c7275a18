"""The check of a text against the glossary: what its author should change. Nothing is stored of the text."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from argot.errors import InvalidInput, NotFound
from argot.jargon_db.lookup.normalise import normalise
from argot.languages.catalogues import format_local_number, translate
from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases.documents.uploads import Data
from argot.service.usecases.glossary.senses import Word
from argot.service.usecases.usecase_registry import Text, usecase
from argot.tools.checking.findings import LEVELS, Finding, FindingKind, FindingLevel
from argot.types import PageKind, Principal, Sense

if TYPE_CHECKING:
    from argot.corpus.readers.reader_protocol import CutDocument
    from argot.corpus.readers.source_positions import SourcePositions

MAX_CHECKED_CHARS = 1_000_000
"""Characters of one text: about 300 pages, and some seconds of processor time."""
MAX_FINDINGS = 1_000
_PASSAGE_CHARS = 2_000
_QUOTED_CHARS = 120
"""Characters of the text that are quoted before and after a finding."""
Name = Annotated[Text, Field(min_length=1, max_length=1000)]


@dataclass(frozen=True, slots=True, kw_only=True)
class TextFinding:
    """A place that should be changed.

    Attributes:
        text: the words of the text; `before` and `after` stand around them.
        count: how often the text has it.
        line, column, end_line, end_column: the place in the file, from 1; None if it has no lines, or it is not
            certain.
        page: of a PDF or scan, or the slide or sheet, as `page_kind` says.
    """

    kind: FindingKind
    level: FindingLevel
    term: str
    text: str
    before: str
    after: str
    reason: str
    remedy: str
    count: int
    line: int | None
    column: int | None
    end_line: int | None
    end_column: int | None
    page: int | None
    page_kind: PageKind | None
    heading: str


@dataclass(frozen=True, slots=True)
class TextCheck:
    """The findings in a text, by position; `left_out` counts further ones. `warnings`: parts that were not read."""

    name: str
    characters: int
    findings: list[TextFinding]
    left_out: int = 0
    warnings: list[str] = field(default_factory=list)


@usecase("asker")
async def terms_check(
    kb: KnowledgeBase,
    principal: Principal,
    *,
    name: Name,
    data: Data,
    contexts: list[Word] | None = None,
) -> TextCheck:
    """Check the terms of a text: names that the glossary forbids or deprecates, abbreviations that nothing explains or
    that are explained too late, and terms in several spellings.

    The glossary is the part of it that the caller may read; with `contexts` only the meanings of these. `name` is that
    of the file: its suffix selects the reader. Nothing is stored.

    Raises:
        InvalidInput: it cannot be read, or is too long.
        NotFound: there is no such context.
        TooManyQuestions: other files of this person, or of too many people, are being read now.
    """
    async with kb.gates.attachments.place(principal):
        return await kb.blocking(_check_file, kb, principal, name, data, contexts or [])


def _check_file(kb: KnowledgeBase, principal: Principal, name: str, data: bytes, contexts: Sequence[str]) -> TextCheck:
    from argot.corpus.read_limits import ReadLimits
    from argot.corpus.readers.reader_process import read_in_child
    from argot.corpus.readers.source_positions import find_source_positions
    from argot.tools.checking.text_check import check_text

    chosen = _find_contexts(kb, principal, contexts)
    limits = ReadLimits.of_attachments(kb.settings)
    # They bound the cost of embedding, which a text that is only checked does not have.
    limits = replace(limits, max_passages=kb.settings.limits.max_passages)
    last = PurePosixPath(name.replace("\\", "/")).name or name
    read = read_in_child(data, last, limits, _PASSAGE_CHARS)
    if len(read.markdown) > MAX_CHECKED_CHARS:
        text = "%(name)s has %(number)s characters; at most %(most)s can be checked at once. Split it."
        number, most = format_local_number(len(read.markdown)), format_local_number(MAX_CHECKED_CHARS)
        raise InvalidInput(translate(text, name=last, number=number, most=most))

    def look_up(terms: Sequence[str]) -> Mapping[str, list[Sense]]:
        found = kb.glossary.lookup.senses(principal, terms)
        return {term: [one for one in senses if not chosen or one.context in chosen] for term, senses in found.items()}

    found = check_text(read.markdown, kb.glossary.lookup.matcher(principal), look_up)
    positions = find_source_positions(data, last, read.markdown)
    made = [_build_finding(one, read, positions) for one in found[:MAX_FINDINGS]]
    return TextCheck(last, len(read.markdown), made, len(found) - len(made), list(read.warnings))


def _build_finding(one: Finding, read: CutDocument, positions: SourcePositions | None) -> TextFinding:
    before = bisect_right(read.cuts, one.start, key=lambda cut: cut.start)
    cut = read.cuts[before - 1] if before else None
    at = positions.find(one.start, one.end) if positions is not None else None
    return TextFinding(
        kind=one.kind,
        level=LEVELS[one.kind],
        term=one.term,
        **_quote(read.markdown, one),
        reason=one.reason,
        remedy=one.remedy,
        count=one.count,
        line=at.line if at else None,
        column=at.column if at else None,
        end_line=at.end_line if at else None,
        end_column=at.end_column if at else None,
        page=cut.page if cut else None,
        page_kind=cut.page_kind if cut else None,
        heading=" > ".join(cut.path) if cut else "",
    )


def _find_contexts(kb: KnowledgeBase, principal: Principal, names: Sequence[str]) -> set[str]:
    """
    Raises:
        NotFound: there is no context of one of these names, or not for this person.
    """
    known = {normalise(one.name): one.name for one in kb.glossary.contexts.all(principal)} if names else {}
    for name in names:
        if normalise(name) not in known:
            raise NotFound(f"There is no context '{name}'. See them with: argot context list")
    return {known[normalise(name)] for name in names}


def _quote(markdown: str, one: Finding) -> dict[str, str]:
    """Return the words of a finding and those around them in its paragraph or table cell, each on one line."""
    before = re.split(r"\n[ \t]*\n|\|", markdown[max(0, one.start - _QUOTED_CHARS) : one.start])[-1]
    after = re.split(r"\n[ \t]*\n|\|", markdown[one.end : one.end + _QUOTED_CHARS])[0]
    flat = (re.sub(r"\s+", " ", text) for text in (before.lstrip(), markdown[one.start : one.end], after.rstrip()))
    return dict(zip(("before", "text", "after"), flat, strict=True))
