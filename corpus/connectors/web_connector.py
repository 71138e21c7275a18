"""A web site as a source: the pages below an address that its links and its sitemap lead to.

robots.txt is obeyed, no link leaves the origin and the folder of the address, and what the server says is as it was
(`ETag`, `Last-Modified`, the times of its sitemap) is not read again. A page's links are part of its stamp: so they are
known also where the page itself is not sent.
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
from argot.corpus.connectors.web_fetch import AGENT, FetchedPage, FetchFailed, WebFetcher, origin_of, plain_url
from argot.corpus.connectors.web_pages import PageLinks, links_of, may_be_document, page_file_name, sitemap_entries
from argot.corpus.ingestion.source import Source
from argot.files import NotAFile

PAGES = 500
MOST_BYTES = 100_000_000
MOST_SITEMAPS = 20
LONGEST_PAUSE_SECONDS = 10.0
FAILURES_IN_A_ROW = 5
"""After so many pages in a row that did not answer, the site is down."""
_GONE = (404, 410)


@dataclass(frozen=True, slots=True)
class WebSite:
    """Where to begin, and how far to go. `private`: whether it may lie in a private network."""

    address: str
    pages: int = PAGES
    private: bool = False
    auth: tuple[str, str] | None = None


class WebConnector:
    """Crawls breadth first, one page at a time."""

    def __init__(self, site: WebSite, patterns: Patterns) -> None:
        self._site = site
        self._patterns = patterns
        self._spool = Path(tempfile.mkdtemp(prefix="argot-web-"))
        self._start = plain_url(site.address)
        self._fetcher = WebFetcher(origin_of(self._start), most_bytes=MOST_BYTES, private=site.private, auth=site.auth)
        self._robots = RobotFileParser()
        self._pause = 0.0
        self._lastmod: dict[str, str] = {}
        self._failures = 0

    def close(self) -> None:
        self._fetcher.close()
        rmtree(self._spool, ignore_errors=True)

    def mark(self) -> str:
        return ""

    def listing(self, known: Mapping[str, str]) -> Iterator[ListedDocument]:
        self._find_start()
        self._obey_robots()
        self._read_sitemaps()
        queue = deque(dict.fromkeys((self._start, *self._lastmod)))
        seen = set(queue)
        listed: set[str] = set()
        fetched = 0
        while queue:
            url = queue.popleft()
            if not self._allows(url):
                continue
            if fetched >= self._site.pages:
                yield ListedDocument(Source(url, url, bytes, skip=f"more than {self._site.pages} pages"), "")
                continue
            fetched += 1
            for one, links in self._visited(url, known):
                # A redirect leads to where a link led already.
                if one is not None and one.source.uri not in listed:
                    listed.add(one.source.uri)
                    yield one
                queue += [link for link in links if link not in seen and self._in_scope(link)]
                seen.update(links)

    # -- the site as a whole ----------------------------------------------------------------------------------------

    def _find_start(self) -> None:
        """Where the address leads: from `http://example.org` often to another origin, which is the site's then."""
        try:
            found = self._fetcher.get(self._start, allowed=lambda _: True)
        except FetchFailed as error:
            raise SourceDown(f"{self._start} does not answer: {error}.") from error
        if found is None or found.status != 200:
            raise SourceDown(f"{self._start} answers with status {found.status if found else 0}.")
        self._start = found.url

    def _obey_robots(self) -> None:
        found = self._file("/robots.txt")
        if found is not None and found.status >= 500:
            # As RFC 9309 has it: a server that cannot say what it allows allows nothing.
            raise SourceDown(f"{origin_of(self._start)}/robots.txt answers with status {found.status}.")
        text = found.data.decode("utf-8", "replace") if found is not None and found.status == 200 else ""
        self._robots.parse(text.splitlines())
        with suppress(TypeError, ValueError):
            self._pause = min(float(str(self._robots.crawl_delay(AGENT))), LONGEST_PAUSE_SECONDS)
        if not self._robots.can_fetch(AGENT, self._start):
            raise SourceDown(f"{origin_of(self._start)}/robots.txt does not allow {self._start} to be fetched.")

    def _read_sitemaps(self) -> None:
        left = deque(self._robots.site_maps() or [f"{origin_of(self._start)}/sitemap.xml"])
        for _ in range(MOST_SITEMAPS):
            if not left:
                return
            url = left.popleft()
            with suppress(ValueError, FetchFailed):  # a site without a sitemap has links
                found = self._file(urlsplit(plain_url(url)).path) if origin_of(url) == origin_of(self._start) else None
                if found is not None and found.status == 200:
                    pages, more = sitemap_entries(found.data)
                    self._lastmod |= {plain_url(page): time for page, time in pages.items() if self._in_scope(page)}
                    left += more

    def _file(self, path: str) -> FetchedPage | None:
        origin = origin_of(self._start)
        try:
            return self._fetcher.get(f"{origin}{path}", allowed=lambda url: origin_of(url) == origin)
        except FetchFailed as error:
            raise SourceDown(f"{origin}{path} does not answer: {error}.") from error

    # -- one page ---------------------------------------------------------------------------------------------------

    def _visited(self, url: str, known: Mapping[str, str]) -> Iterator[tuple[ListedDocument | None, tuple[str, ...]]]:
        """The page as it is listed, or None; and where its links lead."""
        before = _stamp_parts(known.get(url, ""))
        lastmod = self._lastmod.get(url, "")
        # Only with a time of day: a page may change twice on one day.
        if before and "T" in lastmod and before.get("lastmod") == lastmod:
            yield self._as_before(url, known[url], before), tuple(before["links"])
            return
        time.sleep(self._pause)
        try:
            found = self._fetcher.get(
                url, allowed=self._allows, etag=before.get("etag", ""), modified=before.get("modified", "")
            )
        except FetchFailed as error:
            yield self._unanswered(url, str(error)), tuple(before.get("links", ()))
            return
        if found is None:
            return
        if found.status == 304 and before:
            self._failures = 0
            yield self._as_before(url, known[url], before), tuple(before["links"])
        elif found.status == 200:
            self._failures = 0
            yield self._page(found, lastmod)
        elif found.status not in _GONE:
            yield (
                self._unanswered(url, f"the server answers with status {found.status}"),
                tuple(before.get("links", ())),
            )

    def _as_before(self, url: str, stamp: str, before: Mapping[str, Any]) -> ListedDocument | None:
        if not before.get("name"):
            return None

        def load() -> bytes:
            # Wanted all the same: what it was a copy of is gone.
            try:
                found = self._fetcher.get(url, allowed=self._allows)
            except (FetchFailed, SourceDown) as error:
                raise NotAFile(str(error)) from error
            if found is None or found.status != 200:
                raise NotAFile("it cannot be fetched any more")
            return found.data

        return ListedDocument(Source(url, before["name"], load), stamp)

    def _unanswered(self, url: str, reason: str) -> ListedDocument:
        self._failures += 1
        if self._failures >= FAILURES_IN_A_ROW:
            raise SourceDown(f"{origin_of(self._start)} stopped answering: {reason}.")
        return ListedDocument(Source(url, _last(url), bytes), "", reason)

    def _page(self, found: FetchedPage, lastmod: str) -> tuple[ListedDocument | None, tuple[str, ...]]:
        name = page_file_name(found.url, found.media_type)
        links = links_of(found.data, found.url) if name.endswith(".html") else PageLinks(())
        inside = tuple(link for link in links.urls if self._in_scope(link))
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

    def _in_scope(self, url: str) -> bool:
        start, parts = urlsplit(self._start), urlsplit(url)
        folder = start.path.rpartition("/")[0] + "/"
        if origin_of(url) != origin_of(self._start) or not parts.path.startswith(folder):
            return False
        # The beginning is always visited: without it there are no links.
        below = unquote(parts.path.removeprefix(folder))
        return url == self._start or (may_be_document(url) and self._patterns.take(below))

    def _allows(self, url: str) -> bool:
        return self._in_scope(url) and self._robots.can_fetch(AGENT, url)


def _stamp_parts(stamp: str) -> dict[str, Any]:
    try:
        parts = json.loads(stamp)
    except ValueError:
        return {}
    return parts if isinstance(parts, dict) and "links" in parts else {}


def _last(url: str) -> str:
    return urlsplit(url).path.rstrip("/").rpartition("/")[2] or url
