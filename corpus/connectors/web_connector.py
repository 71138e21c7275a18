"""A web site as a source: the pages below an address that its links and its sitemap lead to.

robots.txt is obeyed, no link leaves the origin and the folder of the address, and pages that the server reports as
unchanged (`ETag`, `Last-Modified`, the times of its sitemap) are not read again. A page's links are part of its stamp,
so that they are known even if the page itself is not sent.
"""

from __future__ import annotations

import json
import tempfile
import time
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from shutil import rmtree
from typing import Any
from urllib.parse import unquote, urlsplit
from urllib.robotparser import RobotFileParser

from argot.corpus.connectors.listing import ListedDocument, Patterns, SourceDown
from argot.corpus.connectors.web_fetch import (
    USER_AGENT,
    FetchedPage,
    FetchFailed,
    WebFetcher,
    normalize_url,
    parse_origin,
)
from argot.corpus.connectors.web_pages import PageLinks, find_links, guess_file_name, may_be_document, parse_sitemap
from argot.corpus.ingestion.source import Source
from argot.files import NotAFile

DEFAULT_MAX_PAGES = 500
MAX_PAGE_BYTES = 100_000_000
MAX_SITEMAPS = 20
MAX_PAUSE_SECONDS = 10.0
MAX_CONSECUTIVE_FAILURES = 5
"""After this many consecutive pages that did not answer, the site is considered down."""
_GONE_STATUSES = (404, 410)


@dataclass(frozen=True, slots=True)
class WebSite:
    """The first address of a crawl, and its limits. `private`: True if it may be in a private network."""

    address: str
    pages: int = DEFAULT_MAX_PAGES
    private: bool = False
    auth: tuple[str, str] | None = None


class WebConnector:
    """Crawls breadth first, one page at a time."""

    def __init__(self, site: WebSite, patterns: Patterns) -> None:
        self._site = site
        self._patterns = patterns
        self._spool = Path(tempfile.mkdtemp(prefix="argot-web-"))
        self._start = normalize_url(site.address)
        self._fetcher = WebFetcher(
            parse_origin(self._start), most_bytes=MAX_PAGE_BYTES, private=site.private, auth=site.auth
        )
        self._robots = RobotFileParser()
        self._pause = 0.0
        self._lastmod: dict[str, str] = {}
        self._failures = 0

    def close(self) -> None:
        self._fetcher.close()
        rmtree(self._spool, ignore_errors=True)

    def mark(self) -> str:
        return ""

    def list_documents(self, known: Mapping[str, str]) -> Iterator[ListedDocument]:
        self._find_start()
        self._load_robots()
        self._read_sitemaps()
        queue = deque(dict.fromkeys((self._start, *self._lastmod)))
        seen = set(queue)
        listed: set[str] = set()
        fetched = 0
        while queue:
            url = queue.popleft()
            if not self._is_allowed(url):
                continue
            if fetched >= self._site.pages:
                yield ListedDocument(Source(url, url, bytes, skip=f"more than {self._site.pages} pages"), "")
                continue
            fetched += 1
            for one, links in self._visit_page(url, known):
                # A redirect leads to the target of an earlier link.
                if one is not None and one.source.uri not in listed:
                    listed.add(one.source.uri)
                    yield one
                queue += [link for link in links if link not in seen and self._is_in_scope(link)]
                seen.update(links)

    # -- the site as a whole ----------------------------------------------------------------------------------------

    def _find_start(self) -> None:
        """Follow the redirects of the address: `http://example.org` often leads to another origin, now the site's."""
        try:
            found = self._fetcher.get(self._start, allowed=lambda _: True)
        except FetchFailed as error:
            raise SourceDown(f"{self._start} does not answer: {error}.") from error
        if found is None or found.status != 200:
            raise SourceDown(f"{self._start} answers with status {found.status if found else 0}.")
        self._start = found.url

    def _load_robots(self) -> None:
        found = self._fetch_file("/robots.txt")
        if found is not None and found.status >= 500:
            # According to RFC 9309: a server that cannot report its rules allows nothing.
            raise SourceDown(f"{parse_origin(self._start)}/robots.txt answers with status {found.status}.")
        text = found.data.decode("utf-8", "replace") if found is not None and found.status == 200 else ""
        self._robots.parse(text.splitlines())
        with suppress(TypeError, ValueError):
            self._pause = min(float(str(self._robots.crawl_delay(USER_AGENT))), MAX_PAUSE_SECONDS)
        if not self._robots.can_fetch(USER_AGENT, self._start):
            raise SourceDown(f"{parse_origin(self._start)}/robots.txt does not allow {self._start} to be fetched.")

    def _read_sitemaps(self) -> None:
        left = deque(self._robots.site_maps() or [f"{parse_origin(self._start)}/sitemap.xml"])
        for _ in range(MAX_SITEMAPS):
            if not left:
                return
            url = left.popleft()
            with suppress(ValueError, FetchFailed):  # a site without a sitemap has links
                found = (
                    self._fetch_file(urlsplit(normalize_url(url)).path)
                    if parse_origin(url) == parse_origin(self._start)
                    else None
                )
                if found is not None and found.status == 200:
                    pages, more = parse_sitemap(found.data)
                    self._lastmod |= {
                        normalize_url(page): time for page, time in pages.items() if self._is_in_scope(page)
                    }
                    left += more

    def _fetch_file(self, path: str) -> FetchedPage | None:
        origin = parse_origin(self._start)
        try:
            return self._fetcher.get(f"{origin}{path}", allowed=lambda url: parse_origin(url) == origin)
        except FetchFailed as error:
            raise SourceDown(f"{origin}{path} does not answer: {error}.") from error

    # -- one page ---------------------------------------------------------------------------------------------------

    def _visit_page(
        self, url: str, known: Mapping[str, str]
    ) -> Iterator[tuple[ListedDocument | None, tuple[str, ...]]]:
        """Yield the page as it is listed, or None, and the addresses that its links lead to."""
        before = _parse_stamp(known.get(url, ""))
        lastmod = self._lastmod.get(url, "")
        # Only with a time of day: a page may change twice on one day.
        if before and "T" in lastmod and before.get("lastmod") == lastmod:
            yield self._list_unchanged(url, known[url], before), tuple(before["links"])
            return
        time.sleep(self._pause)
        try:
            found = self._fetcher.get(
                url, allowed=self._is_allowed, etag=before.get("etag", ""), modified=before.get("modified", "")
            )
        except FetchFailed as error:
            yield self._count_failure(url, str(error)), tuple(before.get("links", ()))
            return
        if found is None:
            return
        if found.status == 304 and before:
            self._failures = 0
            yield self._list_unchanged(url, known[url], before), tuple(before["links"])
        elif found.status == 200:
            self._failures = 0
            yield self._list_page(found, lastmod)
        elif found.status not in _GONE_STATUSES:
            yield (
                self._count_failure(url, f"the server answers with status {found.status}"),
                tuple(before.get("links", ())),
            )

    def _list_unchanged(self, url: str, stamp: str, before: Mapping[str, Any]) -> ListedDocument | None:
        if not before.get("name"):
            return None

        def load() -> bytes:
            # Still wanted: its original is deleted.
            try:
                found = self._fetcher.get(url, allowed=self._is_allowed)
            except (FetchFailed, SourceDown) as error:
                raise NotAFile(str(error)) from error
            if found is None or found.status != 200:
                raise NotAFile("it cannot be fetched any more")
            return found.data

        return ListedDocument(Source(url, before["name"], load), stamp)

    def _count_failure(self, url: str, reason: str) -> ListedDocument:
        self._failures += 1
        if self._failures >= MAX_CONSECUTIVE_FAILURES:
            raise SourceDown(f"{parse_origin(self._start)} stopped answering: {reason}.")
        return ListedDocument(Source(url, _name_last_part(url), bytes), "", reason)

    def _list_page(self, found: FetchedPage, lastmod: str) -> tuple[ListedDocument | None, tuple[str, ...]]:
        name = guess_file_name(found.url, found.media_type)
        links = find_links(found.data, found.url) if name.endswith(".html") else PageLinks(())
        inside = tuple(link for link in links.urls if self._is_in_scope(link))
        if not name or not links.listed:
            return None, inside
        digest = blake2b(found.data, digest_size=16).hexdigest()
        parts = {
            "etag": found.etag,
            "modified": found.modified,
            "lastmod": lastmod,
            "hash": digest,
            "name": name,
            "links": inside,
        }
        # On the disk: a site may be larger than the memory.
        spooled = self._spool / digest
        spooled.write_bytes(found.data)
        source = Source(found.url, name, spooled.read_bytes, len(found.data))
        return ListedDocument(source, json.dumps(parts, ensure_ascii=False)), inside

    # -- how far ----------------------------------------------------------------------------------------------------

    def _is_in_scope(self, url: str) -> bool:
        start, parts = urlsplit(self._start), urlsplit(url)
        folder = start.path.rpartition("/")[0] + "/"
        if parse_origin(url) != parse_origin(self._start) or not parts.path.startswith(folder):
            return False
        # The start page is always visited: without it there are no links.
        below = unquote(parts.path.removeprefix(folder))
        return url == self._start or (may_be_document(url) and self._patterns.accept(below))

    def _is_allowed(self, url: str) -> bool:
        return self._is_in_scope(url) and self._robots.can_fetch(USER_AGENT, url)


def _parse_stamp(stamp: str) -> dict[str, Any]:
    try:
        parts = json.loads(stamp)
    except ValueError:
        return {}
    return parts if isinstance(parts, dict) and "links" in parts else {}


def _name_last_part(url: str) -> str:
    return urlsplit(url).path.rstrip("/").rpartition("/")[2] or url
