"""E-books (EPUB): the chapters in reading order, each by the HTML reader."""

from __future__ import annotations

import io
import posixpath
import zipfile
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

from argot.corpus.read_limits import ReadLimits
from argot.corpus.readers.archives import check_archive
from argot.corpus.readers.dates import date_of
from argot.corpus.readers.file_fields import said_fields
from argot.corpus.readers.html import ELEMENTS_A_SECOND, html_to_markdown
from argot.corpus.readers.plain_text import decode_text, file_stem
from argot.errors import UnreadableDocument
from argot.types import ParsedDocument

_CONTAINER = "META-INF/container.xml"
_ENCRYPTION = "META-INF/encryption.xml"
_DUBLIN_CORE = "{http://purl.org/dc/elements/1.1/}"
_PAGE_TYPES = ("application/xhtml+xml", "text/html")


def read_epub(data: bytes, name: str, limits: ReadLimits) -> ParsedDocument:
    """Title and date: those of the book, else the file name.

    Raises:
        UnreadableDocument: damaged, encrypted (copy protection), or no book.
    """
    check_archive(data, name, limits, elements_a_second=ELEMENTS_A_SECOND, kind="e-book", html=True)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = set(archive.namelist())
        path = _package_path(archive, members)
        if path not in members:
            raise UnreadableDocument(name, "no e-book: it lacks the list of its parts")
        package = _xml(archive, path)
        chapters = [chapter for chapter in _chapters(package, path) if chapter in members]
        if _is_protected(archive, members, chapters):
            raise UnreadableDocument(name, "encrypted: a copy-protected e-book")
        texts = (html_to_markdown(decode_text(archive.read(chapter), name)) for chapter in chapters)
        markdown = "\n\n".join(text.strip() for text in texts if text.strip())
    return ParsedDocument(
        _said(package, "title") or file_stem(name),
        f"{markdown}\n",
        "application/epub+zip",
        date=date_of(_said(package, "date")),
        fields=said_fields([("author", _said(package, "creator"))]),
    )


def _xml(archive: zipfile.ZipFile, member: str) -> Any:
    from defusedxml.ElementTree import fromstring  # type: ignore[import-untyped]

    return fromstring(archive.read(member))


def _package_path(archive: zipfile.ZipFile, members: set[str]) -> str:
    if _CONTAINER not in members:
        return ""
    root = next(iter(_named(_xml(archive, _CONTAINER), "rootfile")), None)
    return str(root.get("full-path", "")) if root is not None else ""


def _chapters(package: Any, path: str) -> Iterator[str]:
    """The members of the spine, without the table of contents, which only repeats headings."""
    items = {item.get("id"): item for item in _named(package, "item")}
    for reference in _named(package, "itemref"):
        item = items.get(reference.get("idref"))
        if item is None or "nav" in (item.get("properties") or "").split() or item.get("media-type") not in _PAGE_TYPES:
            continue
        yield posixpath.normpath(posixpath.join(posixpath.dirname(path), unquote(item.get("href", ""))))


def _is_protected(archive: zipfile.ZipFile, members: set[str], chapters: list[str]) -> bool:
    """Whether a chapter is encrypted; fonts often are, which does not matter."""
    if _ENCRYPTION not in members:
        return False
    locked = {unquote(one.get("URI", "")) for one in _named(_xml(archive, _ENCRYPTION), "CipherReference")}
    return not locked.isdisjoint(chapters)


def _said(package: Any, field: str) -> str:
    return " ".join((package.findtext(f".//{_DUBLIN_CORE}{field}") or "").split())


def _named(root: Any, tag: str) -> Iterator[Any]:
    """The elements of that name in any namespace: versions of the format differ in it."""
    return root.iterfind(f".//{{*}}{tag}")  # type: ignore[no-any-return]
