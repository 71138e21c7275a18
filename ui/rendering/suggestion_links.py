"""Links from an answer to the form in which everybody suggests a meaning."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import quote

from argot.languages.catalogues import translate
from argot.ui.rendering.safe_markdown import escape_markdown

SUGGEST_PAGE = "/terms/suggest"
MAX_LINKS = 8
MAX_TERM_CHARS = 200


def link_suggestions(terms: Sequence[str]) -> str:
    """Format links to the form: one for each of these terms, or one for any term."""
    links = [
        f"[{translate('Suggest a meaning of “%(term)s”', term=escape_markdown(one))}]({address_suggestion(one)})"
        for one in dict.fromkeys(terms[:MAX_LINKS])
    ]
    return " · ".join(links) or f"[{translate('Suggest a meaning of a term')}]({SUGGEST_PAGE})"


def address_suggestion(term: str) -> str:
    return f"{SUGGEST_PAGE}?term={quote(term[:MAX_TERM_CHARS], safe='')}"
