"""What a web page, a sitemap and a robots.txt say of other pages."""

from __future__ import annotations

import mimetypes
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath
from urllib.parse import unquote, urljoin, urlsplit

from argot.corpus.connectors.web_fetch import FetchFailed, plain_url
from argot.corpus.readers import SUFFIXES

MOST_LINKS = 2000
"""Of one page."""
_SUFFIX_OF = {
    "text/html": ".html",
    "application/xhtml+xml": ".html",
    "application/pdf": ".pdf",
    "text/plain": ".txt",
    "text/markdown": ".md",
    "text/csv": ".csv",
}
_NO_DOCUMENTS = ("image/", "video/", "audio/", "font/", "text/css", "text/javascript", "application/javascript")


@dataclass(frozen=True, slots=True)
class PageLinks:
    """Where the links of a page lead, each once, and whether the page itself wants to be listed."""

    urls: tuple[str, ...]
    listed: bool = True


def links_of(html: bytes, url: str) -> PageLinks:
    from bs4 import BeautifulSoup

    soup = BeautifulSoup(html, "lxml")
    wishes = " ".join(
        str(meta.get("content", "")).casefold()
        for meta in soup.find_all("meta")
        if str(meta.get("name", "")).casefold() in ("robots", "argot")
    )
    base = soup.find("base", href=True)
    start = urljoin(url, str(base["href"])) if base else url
    found: dict[str, None] = {}
    if "nofollow" not in wishes:
        for link in soup.find_all("a", href=True):
            if "nofollow" not in (link.get("rel") or ()):
                found |= dict.fromkeys(_plain(start, str(link["href"])))
            if len(found) >= MOST_LINKS:
                break
    return PageLinks(tuple(found), "noindex" not in wishes)


def _plain(start: str, href: str) -> Iterator[str]:
    try:
        yield plain_url(urljoin(start, href))
    except (FetchFailed, ValueError):  # a telephone number, a script: no page
        return


def sitemap_entries(xml: bytes) -> tuple[dict[str, str], list[str]]:
    """Of a sitemap the pages, each with the time of its last change (or empty); of an index the sitemaps.

    Raises:
        ValueError: it is none.
    """
    from xml.etree.ElementTree import ParseError

    from defusedxml.ElementTree import fromstring  # type: ignore[import-untyped]

    try:
        root = fromstring(xml)
    except (ParseError, ValueError) as error:  # also for entities, which could grow without end
        raise ValueError(f"no sitemap: {error}") from error
    pages: dict[str, str] = {}
    sitemaps: list[str] = []
    for entry in root:
        told = {child.tag.rpartition("}")[2]: (child.text or "").strip() for child in entry}
        if not told.get("loc"):
            continue
        if entry.tag.endswith("sitemap"):
            sitemaps.append(told["loc"])
        else:
            pages[told["loc"]] = told.get("lastmod", "")
    return pages, sitemaps


def may_be_document(url: str) -> bool:
    """Whether it is worth fetching, by its name alone."""
    guessed = mimetypes.guess_type(urlsplit(url).path)[0] or ""
    return not guessed.startswith(_NO_DOCUMENTS)


def page_file_name(url: str, media_type: str) -> str:
    """What a file with this content would be called: readers go by the suffix. Empty: of no kind that is read."""
    last = PurePosixPath(unquote(urlsplit(url).path)).name or "index"
    suffix = _SUFFIX_OF.get(media_type)
    own = PurePosixPath(last).suffix.casefold()
    if suffix is None:
        return last if own in SUFFIXES and not media_type.startswith(_NO_DOCUMENTS) else ""
    # A text may be Markdown or a table, which its name says better.
    keeps = own == suffix or (suffix == ".txt" and own in SUFFIXES)
    return last if keeps else last + suffix
