"""All text of an e-book: its pages, whether or not they are in the reading order."""

from __future__ import annotations

import io
import posixpath
import re
import zipfile
from collections.abc import Iterator
from urllib.parse import unquote

from argot.corpus.readers.ledger.budget import Budget
from argot.corpus.readers.ledger.office import correct_names
from argot.corpus.readers.ledger.page import read_page_texts
from argot.corpus.readers.ledger.source_text import SourceText

_PAGE_SUFFIXES = (".xhtml", ".html", ".htm", ".xml")
_ITEM = re.compile(r"<(?:\w+:)?item\b[^>]*>")
_ATTRIBUTE = re.compile(r"([\w:-]+)\s*=\s*[\"']([^\"']*)[\"']")
_REFERENCE = re.compile(r"<(?:\w+:)?itemref\b[^>]*\bidref\s*=\s*[\"']([^\"']*)[\"']")
_CONTENTS_RULE = "table of contents of an e-book"


def read_book_texts(data: bytes, budget: Budget) -> Iterator[SourceText]:
    """Give the text of each page of the book."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        correct_names(archive)
        members = set(archive.namelist())
        for path, rule in _list_pages(archive, members).items():
            budget.check()
            for text in read_page_texts(archive.read(path), path, budget):
                if text.kind != "title":
                    yield SourceText(path, text.kind, text.text, text.rule or rule)


def _list_pages(archive: zipfile.ZipFile, members: set[str]) -> dict[str, str]:
    """Return the pages that the book lists, each with the rule that leaves it out."""
    pages: dict[str, str] = {}
    for path in (name for name in members if name.lower().endswith(".opf")):
        package = archive.read(path).decode("utf-8", "replace")
        in_order = set(_REFERENCE.findall(package))
        for found in _ITEM.finditer(package):
            item = dict(_ATTRIBUTE.findall(found[0]))
            place = posixpath.normpath(posixpath.join(posixpath.dirname(path), unquote(item.get("href", ""))))
            if (
                place not in members
                or not place.lower().endswith(_PAGE_SUFFIXES)
                or "ncx" in item.get("media-type", "")
            ):
                continue
            is_contents = "nav" in item.get("properties", "").split()
            is_read = item.get("id") in in_order
            pages[place] = _CONTENTS_RULE if is_contents else "" if is_read else "page outside the order of reading"
    return pages
