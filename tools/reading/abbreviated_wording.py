"""A text in the documents' abbreviations: people say "paid time off", where every document has PTO."""

from __future__ import annotations

from argot.corpus.store.document_store import CorpusStore
from argot.jargon_db.lookup.matcher import TermMatcher
from argot.types import Principal


def replace_expansions(text: str, matcher: TermMatcher, store: CorpusStore, principal: Principal) -> str:
    """Return the text with each expansion that no document spells out replaced by its term, if a document has the
    term.
    """
    # From the end, so that earlier positions stay valid.
    for said in reversed(matcher.find_expansions(text)):
        term = said.term or said.surface
        if not store.phrase_count(principal, said.surface) and store.phrase_count(principal, term):
            text = text[: said.start] + term + text[said.end :]
    return text
