"""A text in the documents' abbreviations: people say "paid time off", where every document has PTO."""

from __future__ import annotations

import re

from argot.corpus.store.document_store import CorpusStore
from argot.jargon_db.lookup.matcher import TermMatcher
from argot.types import Principal

_MAX_PASSAGES = 200  # passages with a term, or with an expansion, that are compared


def replace_expansions(text: str, matcher: TermMatcher, store: CorpusStore, principal: Principal) -> str:
    """Return the text with each expansion that no document spells out replaced by its term, if a document has the
    term.
    """
    # From the end, so that earlier positions stay valid.
    for mention in reversed(matcher.find_expansions(text)):
        term = mention.term or mention.surface
        if not store.phrase_count(principal, mention.surface) and store.phrase_count(principal, term):
            text = text[: mention.start] + term + text[mention.end :]
    return text


def shorten_expansions(text: str, matcher: TermMatcher, store: CorpusStore, principal: Principal) -> str:
    """Return the text with each expansion replaced by its term if a passage has both and others only the term, so that
    the expansion would not find them.
    """
    for mention in reversed(matcher.find_expansions(text)):
        term = mention.term or mention.surface
        if _is_also_abbreviated(mention.surface, term, store, principal):
            text = text[: mention.start] + term + text[mention.end :]
    return text


def _is_also_abbreviated(expansion: str, term: str, store: CorpusStore, principal: Principal) -> bool:
    """Return whether one passage has expansion and term together, which connects them, and another only the term."""
    uses = store.find_phrase(principal, term, _MAX_PASSAGES)
    holding = {*store.find_phrase(principal, expansion, _MAX_PASSAGES)} if uses else set()
    if not holding or holding.issuperset(uses):
        return False
    both = store.passages(principal, [id_ for id_ in uses if id_ in holding]).values()
    written = re.compile(rf"(?<!\w){re.escape(term)}(?!\w)")
    return any(written.search(f"{passage.heading}\n{passage.text}") for passage, _ in both)
