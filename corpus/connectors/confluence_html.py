"""Pages of a space that Confluence exported as HTML: the text around them contains their author and date."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import PurePosixPath
from urllib.parse import unquote

from argot.corpus.connectors.export_dates import parse_date
from argot.corpus.store.source_metadata import SourceMetadata

PAGE_NAME = re.compile(r"(?:^|[_/])(\d+)\.html$")
"""`Pump-maintenance_12345.html`, or `12345.html`: the number of the page."""
_FRAME_BYTES = 100_000
"""Bytes at the beginning and at the end of a page that are searched."""
_VOID_TAGS = frozenset(
    {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
)
_DATE_PHRASE = re.compile(r"\bon\s+(.{6,40})$")


@dataclass(frozen=True, slots=True)
class Attachment:
    """`path`: in the export, beside the page's file."""

    path: str
    name: str


@dataclass(frozen=True, slots=True)
class PageFrame:
    """The metadata and attachments around the text of a page."""

    metadata: SourceMetadata
    attachments: tuple[Attachment, ...]


def parse_page_number(path: str) -> str:
    found = PAGE_NAME.search(path)
    return found[1] if found else ""


def parse_page_frame(data: bytes) -> PageFrame:
    """Return the frame of an exported page."""
    parts = _Parts()
    whole = data if len(data) <= 2 * _FRAME_BYTES else data[:_FRAME_BYTES] + data[-_FRAME_BYTES:]
    parts.feed(whole.decode("utf-8", "replace"))
    title = parts.text("title-text") or parts.text("title")
    space = next(iter(parts.crumbs), "")
    # "Engineering : Pump maintenance": the name of the space comes first.
    first, colon, rest = title.partition(" : ")
    if colon and (not space or first == space):
        title = rest
    said = parts.text("page-metadata")
    dated = _DATE_PHRASE.search(said)
    metadata = SourceMetadata(
        title=title,
        date=parse_date(dated[1]) if dated else "",
        author=parts.text("editor") or parts.text("author"),
        labels=tuple(dict.fromkeys(parts.labels)),
    )
    return PageFrame(metadata, tuple(parts.attachments))


def list_linked_pages(index: bytes) -> Iterator[str]:
    """Yield the files that the index of a space links to."""
    links = _Links()
    links.feed(index.decode("utf-8", "replace"))
    for link in dict.fromkeys(links.found):
        path = unquote(link.partition("#")[0])
        if parse_page_number(path) and "/" not in path and ":" not in path:
            yield path


class _Links(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        href = dict(attrs).get("href")
        if tag == "a" and href:
            self.found.append(href)


class _Parts(HTMLParser):
    """Texts of the elements with a known id or class."""

    def __init__(self) -> None:
        super().__init__()
        self.crumbs: list[str] = []
        self.labels: list[str] = []
        self.attachments: list[Attachment] = []
        self._texts: dict[str, list[str]] = {}
        self._open: list[tuple[str, str]] = []
        self._link: tuple[str, list[str]] | None = None

    def text(self, name: str) -> str:
        return " ".join("".join(self._texts.get(name, ())).split())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _VOID_TAGS:
            return
        attributes = {name: value or "" for name, value in attrs}
        self._open.append((tag, _name_part(tag, attributes)))
        if tag == "a":
            self._link = ("tag" if "tag" in attributes.get("rel", "").split() else attributes.get("href", ""), [])

    def handle_endtag(self, tag: str) -> None:
        if tag == "a" and self._link is not None:
            self._add_attachment(*self._link)
            self._link = None
        # An unclosed element ends with its parent.
        if any(name == tag for name, _ in self._open):
            while self._open and self._open.pop()[0] != tag:
                pass

    def handle_data(self, data: str) -> None:
        if self._link is not None:
            self._link[1].append(data)
        for meaning in {meaning for _, meaning in self._open if meaning}:
            self._texts.setdefault(meaning, []).append(data)

    def _add_attachment(self, href: str, texts: list[str]) -> None:
        text = " ".join("".join(texts).split())
        inside = {meaning for _, meaning in self._open}
        if href == "tag" or "labels" in inside:
            self.labels += [text] if text else []
        elif "breadcrumbs" in inside:
            self.crumbs.append(text)
        elif href.startswith("attachments/") and "main-content" not in inside and text:
            self.attachments.append(Attachment(unquote(href.partition("?")[0]), PurePosixPath(text).name))


def _name_part(tag: str, said: dict[str, str]) -> str:
    classes = said.get("class", "").split()
    if tag == "title":
        return "title"
    if said.get("id") in ("title-text", "breadcrumbs", "main-content"):
        return said["id"]
    if said.get("id") == "labels-section" or "labels-section" in classes or "label-list" in classes:
        return "labels"
    return next((one for one in ("page-metadata", "author", "editor") if one in classes), "")
