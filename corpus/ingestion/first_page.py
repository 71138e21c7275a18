"""The fields on a document's first page: its status, owner and date, and those that a knowledge base names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from argot.corpus.readers.dates import find_date
from argot.corpus.readers.reader_protocol import CutDocument
from argot.document_status import is_status
from argot.types import DocumentField

MAX_PAGE_CHARS = 4_000
"""Characters. A first page has about this many, and a text without pages has its head at the top."""
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
_RUNNING_TEXT = re.compile(r"^(?![ \t]*[#|>])(?:[^\s:]+[ \t]+){7,}[^\n]*[.!?][ \t*_]*$", re.MULTILINE)
"""The first sentence of a text, which ends its metadata lines. A line that begins with a label and a colon is such a
line."""
_OWNERS = frozenset({"owner", "document owner", "policy owner", "process owner", "maintained by", "responsible"})
_DATES = frozenset(
    {
        "last updated", "last revised", "last modified", "last reviewed", "revised", "revision date",
        "date of revision", "updated",
    }
)  # fmt: skip


def read_first_page_fields(read: CutDocument, named: Sequence[str]) -> list[DocumentField]:
    """Read status, owner and successor, and the fields of these names. Each name once: the first counts."""
    page = _cut_first_page(read)
    found: dict[str, str] = {}
    text = _RUNNING_TEXT.search(page)
    for start, name, value in _read_lines(page):
        if name == "status" and "status" not in named:
            # Further down, only a row of two cells is unambiguous: "Status: Draft" may be part of the text.
            below = text is not None and start > text.start() and not page.startswith("|", start)
            if below or not is_status(value):
                continue
        if name in named or name == "status":
            found.setdefault(name, value)
        elif name in _OWNERS:
            found.setdefault("owner", value)
    if successor := _SUPERSEDED.search(page):
        found.setdefault("superseded_by", " ".join(successor[1].split()))
    return [DocumentField(name, value) for name, value in found.items()]


def read_first_page_date(read: CutDocument) -> str | None:
    """Read the date of the last revision from the first page, as an ISO date."""
    for _, name, value in _read_lines(_cut_first_page(read)):
        if name in _DATES and (dated := find_date(value)):
            return dated
    return None


def _read_lines(page: str) -> Iterator[tuple[int, str, str]]:
    """Yield each line with a label: its offset, the name and the value."""
    for line in _LINE.finditer(page):
        # The pattern includes the preceding empty lines.
        start = line.start() + len(line[0]) - len(line[0].lstrip())
        yield start, " ".join(line[1].split()).lower(), " ".join(line[2].split())


def _cut_first_page(read: CutDocument) -> str:
    first = next((cut.page for cut in read.cuts), None)
    end = next((cut.start for cut in read.cuts if cut.page != first), MAX_PAGE_CHARS)
    return read.markdown[: min(end, MAX_PAGE_CHARS)]
