"""Places where documents use the words of the glossary, limited to readable ones."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from argot.types import Document, Passage, Principal

if TYPE_CHECKING:
    from argot.corpus.store.document_store import CorpusStore

MAX_PHRASE_CHARS = 200
"""A longer text is a description, which no document contains word for word."""
MAX_READ_PASSAGES = 100
AROUND = 110
"""Characters shown before and after the match."""


@dataclass(frozen=True, slots=True)
class PhrasePlace:
    """A passage that contains a phrase: the name of its document, and the text as `before`, `match` and `after`."""

    passage_id: str
    document: str
    heading: str
    page: int | None
    before: str
    match: str
    after: str


@dataclass(frozen=True, slots=True)
class Occurrences:
    """Number of passages that hold a phrase (`more`: there may be others), and the best of them."""

    phrase: str
    count: int
    more: bool
    passages: list[PhrasePlace]


def find_occurrences(store: CorpusStore, principal: Principal, phrase: str, limit: int) -> Occurrences:
    """Find the phrase in at most `limit` passages.

    A phrase in capitals is searched in capitals: IT is not "it".
    """
    wanted = phrase.strip()
    if not wanted or len(wanted) > MAX_PHRASE_CHARS:
        return Occurrences(wanted, 0, more=False, passages=[])
    ids = store.find_phrase(principal, wanted, MAX_READ_PASSAGES)
    held = store.passages(principal, ids)
    found = []
    for one in ids:
        if one in held and (shown := _place_phrase(*held[one], wanted)) is not None:
            found.append(shown)
    # As many as the maximum: there may be more that were not examined.
    return Occurrences(wanted, len(found), len(ids) == MAX_READ_PASSAGES, found[:limit])


def describe_unused(store: CorpusStore, principal: Principal, term: str, expansion: str) -> str:
    """Return a warning for an expansion that no document spells out; empty if one does, or nothing was typed yet."""
    spelt = expansion.strip()
    if not spelt or len(spelt) > MAX_PHRASE_CHARS or store.phrase_count(principal, spelt):
        return ""
    if term.strip() and len(term.strip()) <= MAX_PHRASE_CHARS and find_occurrences(store, principal, term, 1).count:
        return f"Documents use '{term.strip()}', but none spells out '{spelt}'. Write it as your documents do."
    return f"No document spells out '{spelt}'. Argot searches with these words: write them as your documents do."


def find_excerpt(text: str, phrase: str, around: int = AROUND) -> tuple[str, str, str] | None:
    """Return the text around the first occurrence of the phrase, as (before, match, after); None if that spelling does
    not occur.
    """
    found = _compile_pattern(phrase).search(text)
    if found is None:
        return None
    start, end = _find_blank(text, found.start() - around, 1), _find_blank(text, found.end() + around, -1)
    before, after = text[start : found.start()], text[found.end() : end]
    before = flatten_markdown(before) + (" · " if before.rstrip().endswith("|") else "")
    after = (" · " if after.lstrip().startswith("|") else "") + flatten_markdown(after)
    return (
        ("… " if start else "") + before.lstrip(),
        flatten_markdown(found[0]),
        after.rstrip() + (" …" if end < len(text) else ""),
    )


def cut_at_phrase(text: str, phrase: str) -> list[tuple[str, bool]]:
    """Return the whole text, split at every occurrence of the phrase: (text, whether it is the phrase)."""
    if not phrase.strip() or len(phrase) > MAX_PHRASE_CHARS:
        return [(text, False)]
    parts: list[tuple[str, bool]] = []
    end = 0
    for found in _compile_pattern(phrase.strip()).finditer(text):
        parts += [(text[end : found.start()], False), (found[0], True)]
        end = found.end()
    return [*parts, (text[end:], False)]


def _place_phrase(of: Passage, document: Document, phrase: str) -> PhrasePlace | None:
    parts = find_excerpt(of.text, phrase) or find_excerpt(of.heading, phrase)
    if parts is None:
        # The index ignores case: this passage contains the word, but not as a code.
        if _is_coded(phrase):
            return None
        # Found by another form of its words: the beginning is shown, with nothing marked.
        parts = (flatten_markdown(of.text[: 2 * AROUND]) + (" …" if len(of.text) > 2 * AROUND else ""), "", "")
    before, match, after = parts
    return PhrasePlace(of.id, document.name, of.heading, of.page, before, match, after)


def _find_blank(text: str, at: int, step: int) -> int:
    """Return the first blank from `at` on in the direction of `step`, fewer than 20 characters away; else `at`
    itself.
    """
    if at <= 0 or at >= len(text):
        return min(max(at, 0), len(text))
    # 20 characters are longer than most words.
    places = range(at, at + 20 * step, step)
    return next((place for place in places if 0 <= place < len(text) and text[place].isspace()), at)


def _compile_pattern(phrase: str) -> re.Pattern[str]:
    # Documents break lines within a phrase, and join its words with hyphens or slashes.
    words = r"[\s\-/]+".join(map(re.escape, re.split(r"[\s\-/]+", phrase.strip()))) or re.escape(phrase)
    # Whole words, in the singular or plural.
    first, last = (r"(?<!\w)" if phrase[:1].isalnum() else ""), (r"(?:s|es)?(?!\w)" if phrase[-1:].isalnum() else "")
    return re.compile(first + words + last, 0 if _is_coded(phrase) else re.IGNORECASE)


def _is_coded(phrase: str) -> bool:
    """Return whether only its capitals distinguish the phrase from ordinary words, as IT from "it"."""
    return phrase != phrase.lower() and phrase != phrase.capitalize() and " " not in phrase.strip()


_MARK_UP = re.compile(r"^[ \t]*(?:#{1,6} |>[ >]*|\|?(?:[ :]*-{3,}[ :]*\|?)+[ \t]*$)|\*\*|__|`", re.MULTILINE)


def flatten_markdown(text: str) -> str:
    """Return some words of Markdown in one line: without marks of headings and tables, cells separated by a dot."""
    cells = [re.sub(r"\s+", " ", cell) for cell in _MARK_UP.sub("", text).split("|")]
    # No table: blanks at the ends stay, because the text is joined with others.
    if len(cells) == 1:
        return cells[0]
    return " · ".join(cell.strip() for cell in cells if cell.strip(" :-"))
