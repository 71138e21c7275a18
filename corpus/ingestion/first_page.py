"""What the first page of a document says of it: its status, owner and date, and the fields a knowledge base names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from argot.corpus.readers.dates import date_of
from argot.corpus.readers.reader_protocol import CutDocument
from argot.types import DocumentField

LOOKED_AT = 4_000
"""Characters. A first page holds about so many, and a text without pages has its head at the top."""
_LINE = re.compile(
    # "Region: EU", "**Region:** EU", "- Region: EU" and the row "| Region | EU |" of a table with two columns.
    r"^[\s*_>|#-]*([^\W\d_][\w /-]{0,39}?)[ \t*_]*(?::|\|)[ \t*_:]*([^|\n]{1,120}?)[ \t*_|.]*$",
    re.MULTILINE,
)
_SUPERSEDED = re.compile(
    r"^[\s*_>|#-]*(?:(?:note|important)\W+)?(?:this (?:\w+ ){1,3}(?:is|was|has been) )?"
    r"(?:superseded|replaced|obsoleted) by[\s:*_]+([^|\n]{2,120}?)[ \t*_|.]*$",
    re.MULTILINE | re.IGNORECASE,
)
_STATUSES = re.compile(
    r"(?:draft|superseded|obsolete|deprecated|withdrawn|archived|retired|expired|approved|final|published|released"
    r"|in (?:review|force)|for (?:review|comment))\b.{0,40}",
    re.IGNORECASE,
)
_OWNERS = frozenset({"owner", "document owner", "policy owner", "process owner", "maintained by", "responsible"})
_DATES = frozenset(
    {
        "last updated", "last revised", "last modified", "last reviewed", "revised", "revision date",
        "date of revision", "updated",
    }
)  # fmt: skip


def first_page_fields(read: CutDocument, named: Sequence[str]) -> list[DocumentField]:
    """What stands there of status, owner and successor, and under these names. Each name once: the first counts."""
    page = _first_page(read)
    found: dict[str, str] = {}
    for name, value in _said(page):
        if name == "status" and "status" not in named and not _STATUSES.fullmatch(value):
            continue
        if name in named or name == "status":
            found.setdefault(name, value)
        elif name in _OWNERS:
            found.setdefault("owner", value)
    if successor := _SUPERSEDED.search(page):
        found.setdefault("superseded_by", " ".join(successor[1].split()))
    return [DocumentField(name, value) for name, value in found.items()]


def first_page_date(read: CutDocument) -> str | None:
    """When the document was last revised, as its first page says it: an ISO date."""
    for name, value in _said(_first_page(read)):
        if name in _DATES and (dated := date_of(value)):
            return dated
    return None


def _said(page: str) -> Iterator[tuple[str, str]]:
    for line in _LINE.finditer(page):
        yield " ".join(line[1].split()).lower(), " ".join(line[2].split())


def _first_page(read: CutDocument) -> str:
    first = next((cut.page for cut in read.cuts), None)
    end = next((cut.start for cut in read.cuts if cut.page != first), LOOKED_AT)
    return read.markdown[: min(end, LOOKED_AT)]
