"""E-books (EPUB): the chapters in reading order, each by the HTML reader."""

from __future__ import annotations

import io
import posixpath
import zipfile
from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import unquote

from argot.corpus.read_limits import ReadLimits
from argot.corpus.readers.archives import check_archive
from argot.corpus.readers.dates import find_date
from argot.corpus.readers.file_fields import build_fields
from argot.corpus.readers.html import ELEMENTS_PER_SECOND, convert_html
from argot.corpus.readers.html_media import LoadPicture, decode_data_address
from argot.corpus.readers.office_package import parse_part
from argot.corpus.readers.plain_text import decode_text, name_without_suffix
from argot.errors import UnreadableDocument
from argot.types import ParsedDocument

_CONTAINER_PART = "META-INF/container.xml"
_ENCRYPTION_PART = "META-INF/encryption.xml"
_DUBLIN_CORE = "{http://purl.org/dc/elements/1.1/}"
_FONT_METHODS = ("http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC")
"""Ways to make a font useless outside its book: they protect no page."""
_MAX_NAMED_PAGES = 5
_PAGE_TYPES = ("application/xhtml+xml", "text/html")


def read_epub(data: bytes, name: str, limits: ReadLimits) -> ParsedDocument:
    """Read a book. Title and date are those of the book, else the file name. An unreadable page loses only that page.

    Raises:
        UnreadableDocument: damaged, encrypted (copy protection), or no book.
    """
    checked = check_archive(data, name, limits, elements_a_second=ELEMENTS_PER_SECOND, kind="e-book", html=True)
    with zipfile.ZipFile(io.BytesIO(checked.data)) as archive:
        members = set(archive.namelist())
        path = _find_package_path(archive, members, name)
        if path not in members:
            raise UnreadableDocument(
                name, "no e-book: it lacks the list of its parts", "Export the book again as EPUB."
            )
        package = _read_xml(archive, path, name)
        named = list(_list_chapters(package, path))
        _check_protection(archive, members, named, name)
        texts, missing = _read_chapters(archive, named, members, name)
        markdown = "\n\n".join(text.strip() for text in texts if text.strip())
    return ParsedDocument(
        _read_field(package, "title") or name_without_suffix(name),
        f"{markdown}\n",
        "application/epub+zip",
        date=find_date(_read_field(package, "date")),
        warnings=(*checked.warnings, *_warn_of_pages(missing)),
        fields=build_fields([("author", _read_field(package, "creator"))]),
    )


def _read_chapters(
    archive: zipfile.ZipFile, named: Sequence[str], members: set[str], name: str
) -> tuple[list[str], list[str]]:
    """Return the pages as Markdown, and the names of those that are missing or cannot be read."""
    texts: list[str] = []
    missing: list[str] = []
    for chapter in dict.fromkeys(named):
        try:
            texts.append(
                convert_html(decode_text(archive.read(chapter), name), _make_loader(archive, chapter, members))
            )
        except (KeyError, ValueError, UnreadableDocument):
            missing.append(chapter)
    return texts, missing


def _make_loader(archive: zipfile.ZipFile, chapter: str, members: set[str]) -> LoadPicture:
    """Return a function that loads a picture of the book by its address in a chapter."""

    def load(address: str) -> bytes | None:
        path = posixpath.normpath(posixpath.join(posixpath.dirname(chapter), unquote(address.partition("#")[0])))
        return archive.read(path) if path in members else decode_data_address(address)

    return load


def _warn_of_pages(missing: Sequence[str]) -> tuple[str, ...]:
    if not missing:
        return ()
    more = " ..." if len(missing) > _MAX_NAMED_PAGES else ""
    return (f"pages that are missing or cannot be read: {', '.join(missing[:_MAX_NAMED_PAGES])}{more}",)


def _read_xml(archive: zipfile.ZipFile, member: str, name: str) -> Any:
    """Return the root element of a required part of the book.

    Raises:
        UnreadableDocument: it is no XML.
    """
    root = parse_part(archive.read(member))
    # A book is often made by hand, and one wrong character should not lose all its pages.
    root = parse_part(archive.read(member), recover=True) if root is None else root
    if root is None:
        raise UnreadableDocument(name, f"damaged: its part '{member}' is no XML", "Export the book again as EPUB.")
    return root


def _find_package_path(archive: zipfile.ZipFile, members: set[str], name: str) -> str:
    """Return the path of the book's package: the one that is named, or the only one if the naming part is missing."""
    if _CONTAINER_PART not in members:
        lists = [one for one in members if one.endswith(".opf")]
        return lists[0] if len(lists) == 1 else ""
    named = (
        unquote(str(one.get("full-path", "")))
        for one in _find_elements(_read_xml(archive, _CONTAINER_PART, name), "rootfile")
    )
    return next((one for one in named if one in members), "")


def _list_chapters(package: Any, path: str) -> Iterator[str]:
    """Yield the members of the spine, without the table of contents, which only repeats headings."""
    items = {item.get("id"): item for item in _find_elements(package, "item")}
    for reference in _find_elements(package, "itemref"):
        item = items.get(reference.get("idref"))
        if item is None or "nav" in (item.get("properties") or "").split() or item.get("media-type") not in _PAGE_TYPES:
            continue
        yield posixpath.normpath(posixpath.join(posixpath.dirname(path), unquote(item.get("href", ""))))


def _check_protection(archive: zipfile.ZipFile, members: set[str], chapters: Sequence[str], name: str) -> None:
    """Refuse a book whose pages are encrypted; fonts often are, which does not matter."""
    if _ENCRYPTION_PART not in members:
        return
    root = _read_xml(archive, _ENCRYPTION_PART, name)
    locked = {
        unquote(one.get("URI", ""))
        for data in _find_elements(root, "EncryptedData")
        if not any(str(one.get("Algorithm")) in _FONT_METHODS for one in data.iterfind("{*}EncryptionMethod"))
        for one in data.iterfind(".//{*}CipherReference")
    }
    if locked.isdisjoint(chapters):
        return
    raise UnreadableDocument(
        name,
        f"encrypted: a copy-protected e-book ({len(locked.intersection(chapters)):,} of {len(set(chapters)):,} pages)",
        "Get the book without copy protection from its publisher.",
    )


def _read_field(package: Any, field: str) -> str:
    return " ".join((package.findtext(f".//{_DUBLIN_CORE}{field}") or "").split())


def _find_elements(root: Any, tag: str) -> Iterator[Any]:
    """Find the elements of that name in any namespace, which differs between versions of the format."""
    return root.iterfind(f".//{{*}}{tag}")  # type: ignore[no-any-return]
