"""Addresses in an answer, and their parsing: a cited passage with its spans, a term that was meant otherwise."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import unquote

PASSAGES = "/argot/passages"
TERMS = "/argot/terms"
THREADS = "/argot/threads"
MAX_SPANS = 50
_SPAN = re.compile(r"([0-9]{1,11})-([0-9]{1,11})")

# /argot/passages/ID?span=12-80&span=90-95, and for a PDF /argot/passages/ID/original#page=3.
_ADDRESS = re.compile(re.escape(PASSAGES) + r"/([\w-]{1,64})(/original)?(?:\?[\w=&-]{0,2000})?(?:#page=(\d{1,6}))?")
_TERM = re.compile(re.escape(TERMS) + r"/(\d{1,6})\?term=([\w%.~-]{1,2000})")


@dataclass(frozen=True, slots=True)
class CitedSource:
    """The target of a mark: a passage, or the original of its document at a page."""

    passage_id: str
    address: str
    original: bool
    page: int | None


def parse_source(address: object) -> CitedSource | None:
    """Parse an address of a source of ours; None for anything else that a page might send."""
    found = _ADDRESS.fullmatch(address) if isinstance(address, str) else None
    if found is None:
        return None
    return CitedSource(found[1], found[0].partition("#")[0], bool(found[2]), int(found[3]) if found[3] else None)


def parse_reported_term(address: object) -> tuple[int, str] | None:
    """Parse the turn and the term of a "not what I meant"; None for anything else that a page might send."""
    found = _TERM.fullmatch(address) if isinstance(address, str) else None
    return (int(found[1]), unquote(found[2])) if found else None


def parse_spans(texts: Sequence[str]) -> list[tuple[int, int]]:
    """Parse spans: "12-80" is (12, 80). Malformed ones are left out, for spans only highlight the text."""
    found = (_SPAN.fullmatch(text) for text in texts[:MAX_SPANS])
    return [(int(one[1]), int(one[2])) for one in found if one]
