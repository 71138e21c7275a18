"""The fields on a document's first page: its status, owner and date, and those that a knowledge base names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from argot.corpus.chunking.blocks import find_sentence_starts
from argot.corpus.readers.dates import find_date
from argot.corpus.readers.metadata_lines import split_metadata_line
from argot.corpus.readers.reader_protocol import CutDocument
from argot.document_status import find_bracketed_status, find_titled_status, find_withdrawal, is_status
from argot.types import DocumentField

MAX_VALUE_CHARS = 120
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
_REPLACES = re.compile(
    # "Replaces issue 4 (March 2021) in full", "These rules take the place of the 2019 rules"; a part is no document.
    r"(?:(?:^|[.|(])[\s*_]*|\bth(?:is|ese) [\w ]{0,30})(?:replaces?|supersedes?|takes? the place of) "
    r"(?!(?:the )?(?:sections?|clauses?|paragraphs?|parts?|points?|items?)\b)"
    r"((?=[^.;\n|*]{0,60}\d)[^.;\n|*]{3,80})",
    re.MULTILINE | re.IGNORECASE,
)
MAX_HEAD_CHARS = 800
"""Characters at the beginning of a document in which it may say what it replaces."""
_CHANGED = re.compile(
    r"(?:(?:in force|valid|effective)(?: from| since)?|last [a-z]+|updated|revised|v(?:ersion|\.)? ?[\d.]*,?) +(?=\S)",
    re.IGNORECASE,
)
"""What stands before the date of a part of a metadata line: "in force from", "last changed", "v4,"."""
_MAX_DATE_WORDS = 3
_RUNNING_TEXT = re.compile(r"^(?![ \t]*[#|>])(?:[^\s:]+[ \t]+){7,}[^\n]*[.!?][ \t*_]*$", re.MULTILINE)
"""The first sentence of a text, which ends its metadata lines. A line that begins with a label and a colon is such a
line."""
_OWNERS = frozenset({"owner", "document owner", "policy owner", "process owner", "maintained by", "responsible"})
_MAX_OWNER_WORDS = 6
_OWNER_END = re.compile(r"\s+[-–—(\[]|;\s")
"""A dash, bracket or semicolon, after which a line says more than the owner."""
_DATES = frozenset(
    {
        "last updated", "last revised", "last modified", "last reviewed", "revised", "revision date",
        "date of revision", "updated",
    }
)  # fmt: skip


def read_first_page_fields(read: CutDocument, named: Sequence[str], file_name: str = "") -> list[DocumentField]:
    """Read status, owner and successor, and the fields of these names. Each name once: the first counts.

    Args:
        file_name: says the status where the text does not: "rules_OLD.docx".
    """
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
        elif name in _OWNERS and (owner := _cut_owner(value)):
            found.setdefault("owner", owner)
    if successor := _SUPERSEDED.search(page):
        found.setdefault("superseded_by", " ".join(successor[1].split()))
    head = page[: text.start()] if text else page
    titled = find_titled_status(read.title) or find_titled_status(file_name)
    if status := find_withdrawal(page) or titled or find_bracketed_status(head):
        found.setdefault("status", status)
    if replaced := _REPLACES.search(page[:MAX_HEAD_CHARS]):
        found.setdefault("supersedes", " ".join(replaced[1].split()))
    for name, value in _read_further(read, named):
        found.setdefault(name, value)
    return [DocumentField(name, value) for name, value in found.items()]


def _cut_owner(value: str) -> str:
    """Return the person or team that the text behind "Owner:" begins with; empty if it is a sentence.

    "Ann Lee. Issued in May, because nobody ..." names Ann Lee. A role behind a comma is kept if it is short.
    """
    sentence = value[: next(find_sentence_starts(value, 0, len(value)), None)]
    named = _OWNER_END.split(sentence, maxsplit=1)[0].strip(" .,:")
    shortest = named if len(named.split()) <= _MAX_OWNER_WORDS else named.split(",", maxsplit=1)[0].strip()
    return shortest if len(shortest.split()) <= _MAX_OWNER_WORDS else ""


def _read_further(read: CutDocument, named: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield named fields that stand after the first page: in tables of any document, and on any slide of a deck.

    Running text of other documents is not read: there "Stage:" may begin any sentence.
    """
    if not named:
        return
    if "presentation" in read.media_type:
        yield from ((name, value) for _, name, value in _read_lines(read.markdown) if name in named)
    rows: list[list[str]] = []
    for line in [*read.markdown.splitlines(), ""]:
        if line.startswith("|"):
            rows.append([cell.strip(" \t*_") for cell in line.strip().strip("|").split("|")])
        elif rows:
            yield from _read_table(rows, named)
            rows = []


def _read_table(rows: Sequence[Sequence[str]], named: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the named fields of a table: beside their names if it has two columns, else below them in its only row.

    A listing has many values of one name, so a name in its head alone gives none.
    """
    filled = [row for row in rows if not all(set(cell) <= set("-: ") for cell in row)]
    beside = [row for row in filled if len(row) == 2 and _read_name(row[0]) in named]
    is_head = bool(filled) and all(_read_name(cell) in named for cell in filled[0])
    pairs: Iterable[Sequence[str]] = zip(*filled, strict=False) if len(filled) == 2 else ()
    if beside and not is_head and (len(beside) > 1 or beside[0] is not filled[0] or len(filled) == 1):
        pairs = beside
    for label, value in pairs:
        if (name := _read_name(label)) in named and 0 < len(value) <= MAX_VALUE_CHARS:
            yield name, value


def _read_name(label: str) -> str:
    return " ".join(label.lower().rstrip(":").split())


def read_first_page_date(read: CutDocument) -> str | None:
    """Read the date of the last revision from the first page, as an ISO date."""
    page = _cut_first_page(read)
    for _, name, value in _read_lines(page):
        if name in _DATES and (dated := find_date(value)):
            return dated
    return next(filter(None, map(_read_bare_date, _list_metadata_parts(page))), None)


def _read_bare_date(part: str) -> str | None:
    """Read the date of a part that is a date, or says since when: "3 Oct 2024", "In force from 1 December 2024"."""
    stated = _CHANGED.match(part)
    said = part[stated.end() :] if stated else part
    return find_date(said) if stated or len(said.split()) <= _MAX_DATE_WORDS else None


def _list_metadata_parts(page: str) -> list[str]:
    """List the parts of the metadata lines above the running text."""
    text = _RUNNING_TEXT.search(page)
    lines = page[: text.start() if text else None].splitlines()
    return [part for line in lines if len(parts := split_metadata_line(line)) > 1 for part in parts]


def _read_lines(page: str) -> Iterator[tuple[int, str, str]]:
    """Yield each line with a label, and each labelled part of a metadata line: its offset, the name and the value."""
    start = 0
    for line in page.splitlines(keepends=True):
        for part in split_metadata_line(line.rstrip("\n")):
            if found := _LINE.fullmatch(part):
                yield start, " ".join(found[1].split()).lower(), " ".join(found[2].split())
        start += len(line)


def _cut_first_page(read: CutDocument) -> str:
    first = next((cut.page for cut in read.cuts), None)
    end = next((cut.start for cut in read.cuts if cut.page != first), MAX_PAGE_CHARS)
    return read.markdown[: min(end, MAX_PAGE_CHARS)]
