"""Terms in texts, without a database: their normalisation, recognition, and misspellings."""

from typing import TYPE_CHECKING

from argot.lazy import build_lazy_getattr

if TYPE_CHECKING:
    from argot.jargon_db.lookup.matcher import TermMatcher
    from argot.jargon_db.lookup.normalise import list_variants
    from argot.jargon_db.lookup.phrases import NearPhrases
    from argot.jargon_db.lookup.span_mask import SpanMask
    from argot.jargon_db.lookup.spelling import Spelling, Suggester
    from argot.jargon_db.lookup.views import TermSource, Views

__all__ = [
    "NearPhrases",
    "SpanMask",
    "Spelling",
    "Suggester",
    "TermMatcher",
    "TermSource",
    "Views",
    "list_variants",
]

if not TYPE_CHECKING:
    __getattr__ = build_lazy_getattr(
        __name__,
        {
            "NearPhrases": "phrases",
            "SpanMask": "span_mask",
            "Spelling": "spelling",
            "Suggester": "spelling",
            "TermMatcher": "matcher",
            "TermSource": "views",
            "Views": "views",
            "list_variants": "normalise",
        },
    )
