"""Links to other pages in web pages and sitemaps."""

from __future__ import annotations

import mimetypes
import re
from collections.abc import Iterator
from dataclasses import dataclass
from html import unescape
from pathlib import PurePosixPath
from urllib.parse import unquote, urljoin, urlsplit

from argot.corpus.connectors.web_fetch import FetchFailed, normalize_url
from argot.corpus.readers import SUFFIXES

MAX_PAGE_LINKS = 2000
"""Maximum links of one page."""
MAX_SEARCHED_BYTES = 5_000_000
"""The bytes of a page that are searched for links, and of a sitemap."""
_TAG = re.compile(rb"<(a|base|meta)\s([^<>]{1,4000})>", re.IGNORECASE)
_ATTRIBUTE = re.compile(rb"""([A-Za-z-]{1,40})\s{0,9}=\s{0,9}(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))""")
_SUFFIX_OF = {
    "text/html": ".html",
    "application/xhtml+xml": ".html",
    "application/pdf": ".pdf",
    "text/plain": ".txt",
    "text/markdown": ".md",
    "text/csv": ".csv",
}
_SKIPPED_MEDIA_TYPES = ("image/", "video/", "audio/", "font/", "text/css", "text/javascript", "application/javascript")
_PARTS_OF_PAGES = frozenset({".js", ".mjs", ".ts", ".xml"})
"""Suffixes of scripts and feeds, which a page uses and nobody reads."""


@dataclass(frozen=True, slots=True)
class PageLinks:
    """The addresses that a page links to, each once; `listed` is False if the page asks not to be indexed."""

    urls: tuple[str, ...]
    listed: bool = True


def find_links(html: bytes, url: str) -> PageLinks:
    """Find links by patterns, not by a parser, because an untrusted page is read in Argot's own process here."""
    tags = [_parse_tag(found) for found in _TAG.finditer(_remove_unseen(html[:MAX_SEARCHED_BYTES]))]
    wishes = " ".join(
        tag.get("content", "").casefold()
        for kind, tag in tags
        if kind == "meta" and tag.get("name", "").casefold() in ("robots", "argot")
    )
    bases = [tag["href"] for kind, tag in tags if kind == "base" and "href" in tag]
    start = urljoin(url, bases[0]) if bases else url
    found: dict[str, None] = {}
    for kind, tag in tags:
        follows = "nofollow" not in wishes and "nofollow" not in tag.get("rel", "").casefold()
        if kind == "a" and "href" in tag and follows and len(found) < MAX_PAGE_LINKS:
            found |= dict.fromkeys(_normalize_link(start, tag["href"]))
    return PageLinks(tuple(found), "noindex" not in wishes)


def _parse_tag(tag: re.Match[bytes]) -> tuple[str, dict[str, str]]:
    pairs = (
        (name.decode().casefold(), unescape((double or single or bare).decode("utf-8", "replace")).strip())
        for name, double, single, bare in _ATTRIBUTE.findall(tag[2])
    )
    return tag[1].decode().casefold(), dict(pairs)


def _remove_unseen(html: bytes) -> bytes:
    """Return the page without comments, scripts and styles, in one pass each, even if many are unclosed."""
    for begin, end in ((b"<!--", b"-->"), (b"<script", b"</script"), (b"<style", b"</style")):
        lower, parts, place = html.lower(), [], 0
        while (at := lower.find(begin, place)) >= 0 and (stop := lower.find(end, at)) >= 0:
            parts.append(html[place:at])
            place = stop + len(end)
        html = b"".join((*parts, html[place:]))
    return html


def _normalize_link(start: str, href: str) -> Iterator[str]:
    try:
        yield normalize_url(urljoin(start, href))
    except (FetchFailed, ValueError):  # a telephone number, a script: no page
        return


def parse_sitemap(xml: bytes) -> tuple[dict[str, str], list[str]]:
    """Return the pages of a sitemap, each with the time of its last change (or empty), and the sitemaps of an index.

    Raises:
        ValueError: it is no sitemap.
    """
    from xml.etree.ElementTree import ParseError

    from defusedxml.ElementTree import fromstring  # type: ignore[import-untyped]

    if len(xml) > MAX_SEARCHED_BYTES:
        raise ValueError(f"no sitemap of less than {MAX_SEARCHED_BYTES // 1_000_000} MB")
    try:
        root = fromstring(xml)
    except (ParseError, ValueError) as error:  # also for entities, which could expand without limit
        raise ValueError(f"no sitemap: {error}") from error
    pages: dict[str, str] = {}
    sitemaps: list[str] = []
    for entry in root:
        fields = {child.tag.rpartition("}")[2]: (child.text or "").strip() for child in entry}
        if not fields.get("loc"):
            continue
        if entry.tag.endswith("sitemap"):
            sitemaps.append(fields["loc"])
        else:
            pages[fields["loc"]] = fields.get("lastmod", "")
    return pages, sitemaps


def may_be_document(url: str) -> bool:
    """Return True where the name of a URL may be that of a document worth fetching."""
    guessed = mimetypes.guess_type(urlsplit(url).path)[0] or ""
    return not guessed.startswith(_SKIPPED_MEDIA_TYPES)


def guess_file_name(url: str, media_type: str) -> str:
    """Return a file name with the suffix by which a reader is chosen; empty for a kind that is not read."""
    last = PurePosixPath(unquote(urlsplit(url).path)).name or "index"
    suffix = _SUFFIX_OF.get(media_type)
    own = PurePosixPath(last).suffix.casefold()
    if suffix is None:
        reads = own in SUFFIXES and own not in _PARTS_OF_PAGES
        return last if reads and not media_type.startswith(_SKIPPED_MEDIA_TYPES) else ""
    # A text may be Markdown or a table, which its name shows better.
    keeps = own == suffix or (suffix == ".txt" and own in SUFFIXES)
    return last if keeps else last + suffix
