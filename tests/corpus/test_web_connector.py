"""A web site as a source, from a real server on this machine."""

import json
import threading
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from hashlib import blake2b
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from argot.corpus.connectors import public_network, web_connector, web_fetch
from argot.corpus.connectors.listing import Patterns, SourceDown
from argot.corpus.connectors.source_store import SourceRecord, SourceStore
from argot.corpus.connectors.synchronisation import Synchronisation
from argot.corpus.connectors.web_connector import WebConnector, WebSite
from argot.corpus.connectors.web_fetch import FetchFailed, WebFetcher, normalize_url
from argot.corpus.connectors.web_pages import find_links, guess_file_name, parse_sitemap
from argot.corpus.corpus import Corpus
from argot.errors import InvalidInput
from argot.service.usecases.documents.fetch import fetch_source
from argot.settings import Settings
from argot.types import Principal

ROOT = Principal("root", sees_all=True)


@dataclass
class Site:
    """A web site: text, or a status and a target, by path. `asked` holds (path, status) of each request."""

    pages: dict[str, str | bytes | int | tuple[int, str]] = field(default_factory=dict)
    asked: list[tuple[str, int]] = field(default_factory=list)
    types: dict[str, str] = field(default_factory=dict)
    password: str = ""
    url: str = ""

    def page(self, path: str, word: str, *links: str) -> None:
        anchors = "".join(f'<a href="{link}">{link}</a> ' for link in links)
        self.pages[path] = f"<title>{word}</title><h1>About {word}</h1><p>The {word} is here. {anchors}</p>"

    @property
    def fetched(self) -> list[str]:
        """Return the paths that were served since the last call."""
        found = [path for path, status in self.asked if status == 200]
        self.asked.clear()
        return found


def _handler(site: Site) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            found = site.pages.get(self.path, 404)
            status, location = found if isinstance(found, tuple) else (found if isinstance(found, int) else 200, "")
            if site.password and self.headers.get("Authorization") != site.password:
                status = 401
            data = found.encode() if isinstance(found, str) else found if isinstance(found, bytes) else b""
            etag = f'"{blake2b(data, digest_size=8).hexdigest()}"'
            if status == 200 and self.headers.get("If-None-Match") == etag:
                status = 304
            site.asked.append((self.path, status))
            self.send_response(status)
            if location:
                self.send_header("Location", location)
            body = data if status == 200 else b""
            self.send_header("ETag", etag)
            self.send_header("Content-Type", site.types.get(self.path, "text/html; charset=utf-8"))
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None: ...

    return Handler


@pytest.fixture
def site() -> Iterator[Site]:
    made = Site()
    with ThreadingHTTPServer(("127.0.0.1", 0), _handler(made)) as serving:
        thread = threading.Thread(target=serving.serve_forever)
        thread.start()
        made.url = f"http://127.0.0.1:{serving.server_port}"
        yield made
        serving.shutdown()
        thread.join()


@pytest.fixture
def corpus(tmp_path: Path) -> Iterator[Corpus]:
    opened = Corpus.open(tmp_path / "kb", Settings(threads=1))
    yield opened
    opened.close()


def sync(corpus: Corpus, site: Site, path: str = "/help/", **how: Any) -> Synchronisation:
    store = SourceStore(corpus.store.database)
    record = next(iter(store.list_sources()), None) or store.add(SourceRecord("docs", "web", "", {}))
    patterns = Patterns(exclude=how.pop("exclude", ()))
    there = WebSite(site.url + path, private=True, **how)
    run = Synchronisation(corpus, record, lambda: WebConnector(there, patterns), by=ROOT)
    list(run.run())
    return run


def counts(run: Synchronisation) -> dict[str, int]:
    return {kind: count for kind, count in run.counts.items() if count}


def paths(corpus: Corpus, site: Site) -> list[str]:
    return [one.uri.removeprefix(site.url) for one in corpus.store.documents(ROOT)]


def test_linked_pages_are_added_and_only_changed_ones_fetched_again(corpus: Corpus, site: Site) -> None:
    site.page("/help/", "home", "a", "b.html#top", "/help/c/", "/elsewhere/d", "https://example.org/e", "mailto:a@b.c")
    site.page("/help/a", "anvil", "/help/", "deep")
    site.page("/help/b.html", "bolt", "style.css", "photo.png")
    site.page("/help/c/", "clamp")
    site.page("/help/deep", "deep")
    site.page("/elsewhere/d", "other")
    assert counts(sync(corpus, site)) == {"added": 5}
    assert paths(corpus, site) == ["/help/", "/help/a", "/help/b.html", "/help/c/", "/help/deep"]
    site.asked.clear()
    assert counts(sync(corpus, site)) == {"unchanged": 5}
    # Only the start page is always requested again: its redirect decides where the site is.
    assert site.fetched == ["/help/"]
    site.page("/help/b.html", "bolt and nut")
    site.pages["/help/c/"] = 404
    site.page("/help/new", "new")
    site.page("/help/deep", "deep", "new")
    assert counts(sync(corpus, site)) == {"added": 1, "updated": 2, "removed": 1, "unchanged": 2}
    assert site.fetched == ["/help/", "/help/b.html", "/help/deep", "/help/new"]


def test_a_moved_page_keeps_its_document(corpus: Corpus, site: Site) -> None:
    site.page("/help/", "start", "a.html", "sub/b.html", "c.html")
    for path in ("/help/a.html", "/help/c.html"):
        site.page(path, path)
    sync(corpus, site)
    before = {one.title: one.id for one in corpus.store.documents(ROOT)}
    site.pages["/help/sub/b.html"] = site.pages.pop("/help/a.html")
    assert counts(sync(corpus, site))["renamed"] == 1
    assert {one.title: one.id for one in corpus.store.documents(ROOT)} == before
    assert f"{site.url}/help/sub/b.html" in {one.uri for one in corpus.store.documents(ROOT)}


def test_robots_rules_are_followed(corpus: Corpus, site: Site) -> None:
    site.pages["/robots.txt"] = "User-agent: *\nDisallow: /secret\nUser-agent: Argot\nDisallow: /private\n"
    site.page("/", "home", "/private/a", "/open/b", "/noindex", "/nofollow")
    site.page("/private/a", "private")
    site.page("/open/b", "open")
    site.page("/hidden", "hidden")
    site.pages["/noindex"] = '<meta name="robots" content="noindex"><a href="/hidden">there</a>'
    site.pages["/nofollow"] = '<meta name="ROBOTS" content="NoFollow"><h1>One</h1><a href="/not-there">x</a>'
    sync(corpus, site, "/")
    assert paths(corpus, site) == ["/", "/hidden", "/nofollow", "/open/b"]
    assert not {"/private/a", "/not-there"} & {path for path, _ in site.asked}
    for robots, why in ((503, "503"), ("User-agent: *\nDisallow: /\n", "does not allow")):
        site.pages["/robots.txt"] = robots
        run = sync(corpus, site, "/")
        assert run.state == "failed" and why in run.detail
    assert len(paths(corpus, site)) == 4


def test_a_sitemap_names_pages_and_those_unchanged(corpus: Corpus, site: Site) -> None:
    def entries(**times: str) -> str:
        rows = "".join(f"<url><loc>{site.url}/{p}</loc><lastmod>{t}</lastmod></url>" for p, t in times.items())
        return f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{rows}</urlset>'

    site.pages["/robots.txt"] = f"Sitemap: {site.url}/index.xml\n"
    site.pages["/index.xml"] = f"<sitemapindex><sitemap><loc>{site.url}/pages.xml</loc></sitemap></sitemapindex>"
    site.pages["/pages.xml"] = entries(a="2026-01-01T10:00:00Z", b="2026-01-01T10:00:00Z", c="2026-01-01")
    for name in ("", "a", "b", "c"):
        site.page(f"/{name}", name or "home")
    assert counts(sync(corpus, site, "/")) == {"added": 4}
    site.page("/a", "anvil")
    site.page("/b", "bolt")
    site.pages["/pages.xml"] = entries(a="2026-02-01T10:00:00Z", b="2026-01-01T10:00:00Z", c="2026-01-01")
    site.asked.clear()
    assert counts(sync(corpus, site, "/")) == {"updated": 1, "unchanged": 3}
    assert [path for path, status in site.asked if path in ("/a", "/b", "/c")] == ["/a", "/c"]


def test_redirects_stay_within_the_site(corpus: Corpus, site: Site) -> None:
    site.page("/", "home", "/old", "/out", "/circle")
    site.pages["/old"] = (301, "/new")
    site.pages["/out"] = (302, "http://10.0.0.1/admin")
    site.pages["/circle"] = (302, "/circle")
    site.page("/new", "new")
    run = sync(corpus, site, "/")
    assert paths(corpus, site) == ["/", "/new"]
    assert [(one.uri, one.detail) for one in run.problems] == [(f"{site.url}/circle", "more than 5 redirects")]


def test_a_failing_page_is_kept_and_a_failing_site_is_down(
    corpus: Corpus, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [f"/p{n}" for n in range(8)]
    site.page("/", "home", *names)
    for name in names:
        site.page(name, f"word{name}", f"{name}/below")
        site.page(f"{name}/below", f"below{name}")
    sync(corpus, site, "/")
    assert len(paths(corpus, site)) == 17
    kept = dict(site.pages)
    site.pages["/p1"] = 500
    run = sync(corpus, site, "/")
    assert counts(run) == {"unchanged": 16, "failed": 1} and "500" in run.problems[0].detail
    site.pages = {path: 503 if path != "/" else page for path, page in kept.items()}
    run = sync(corpus, site, "/")
    assert run.state == "failed" and "stopped answering" in run.detail
    site.pages = {}
    assert "status 404" in sync(corpus, site, "/").detail
    assert len(paths(corpus, site)) == 17


def test_the_number_and_size_of_pages_are_limited(corpus: Corpus, site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web_connector, "MAX_PAGE_BYTES", 10_000)
    site.page("/", "home", "/big", *(f"/{n}" for n in range(10)))
    site.pages["/big"] = "x" * 100_000
    for n in range(10):
        site.page(f"/{n}", str(n), f"/{n + 1}?again={n}")
    run = sync(corpus, site, "/", pages=5)
    assert counts(run) == {"added": 4, "failed": 1, "skipped": 7 + 3}
    assert "larger than" in run.problems[0].detail


def test_pages_can_be_excluded_and_read_with_a_password(corpus: Corpus, site: Site) -> None:
    site.page("/docs/", "home", "/docs/archive/old", "/docs/a.pdf?x=1")
    site.page("/docs/archive/old", "old")
    site.password = "Basic YW5uOm9wZW4="
    assert "status 401" in sync(corpus, site, "/docs/").detail
    run = sync(corpus, site, "/docs/", auth=("ann", "open"), exclude=("archive/",))
    assert paths(corpus, site) == ["/docs/"]
    assert run.state == "synced"


def test_a_private_network_is_refused_and_names_are_resolved_once(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    with closing(WebConnector(WebSite(site.url), Patterns())) as there, pytest.raises(SourceDown, match="private"):
        list(there.list_documents({}))
    assert site.asked == []
    site.page("/", "home")
    port = site.url.rpartition(":")[2]
    monkeypatch.setattr(web_fetch, "resolve_public_addresses", lambda *_: ["127.0.0.1"])
    address = f"http://nowhere.invalid:{port}/"
    with WebFetcher(address, most_bytes=1000) as fetcher:
        found = fetcher.get(address, allowed=lambda _: True)
    assert found is not None and found.status == 200


def test_addresses_are_normalised() -> None:
    assert normalize_url(" HTTPS://ann:pw@Wiki.Example:443/a?b=1#c ") == "https://wiki.example/a?b=1"
    assert normalize_url("http://[::1]:8080") == "http://[::1]:8080/"
    for wrong in ("mailto:a@b.c", "javascript:alert(1)", "http://", "http://x:port/", "//x"):
        with pytest.raises(FetchFailed):
            normalize_url(wrong)


def test_links_of_pages_and_entries_of_sitemaps_are_parsed() -> None:
    html = b"<base href='/x/'><a href=a>1</a><a href='a#b'>2</a><a rel=nofollow href=c>3</a><a href='http://['>4</a>"
    assert find_links(html, "https://wiki.example/").urls == ("https://wiki.example/x/a",)
    hidden = (
        b"<!-- <a href=/no> --><script>'<a href=/no2>'</script><A  HREF = '/yes?a=1&amp;b=2' >x</A><!-- <a href=/end>"
    )
    assert find_links(hidden, "https://wiki.example/").urls == (
        "https://wiki.example/yes?a=1&b=2",
        "https://wiki.example/end",
    )
    for hostile in (b"<!--" * 500_000, b"<a " * 500_000, b"<a href=" * 500_000, b"<a href='" + b"x" * 3_000_000):
        assert len(find_links(hostile, "https://wiki.example/").urls) <= 1
    bomb = b'<!DOCTYPE x [<!ENTITY a "aaaa">]><urlset><url><loc>&a;</loc></url></urlset>'
    for wrong in (bomb, b"<html>", b""):
        with pytest.raises(ValueError, match="no sitemap"):
            parse_sitemap(wrong)


@pytest.mark.parametrize(
    ("url", "media_type", "name"),
    [
        ("https://x/a", "text/html", "a.html"),
        ("https://x/a.php", "text/html", "a.php.html"),
        ("https://x/", "text/html", "index.html"),
        ("https://x/a.html", "text/html", "a.html"),
        ("https://x/a.md", "text/plain", "a.md"),
        ("https://x/get?id=1", "application/pdf", "get.pdf"),
        ("https://x/a.docx", "application/octet-stream", "a.docx"),
        ("https://x/a.bin", "application/octet-stream", ""),
        ("https://x/a.png", "image/png", ""),
    ],
)
def test_the_media_type_of_the_server_decides_the_kind_of_a_page(url: str, media_type: str, name: str) -> None:
    assert guess_file_name(url, media_type) == name


def test_a_damaged_stamp_is_ignored() -> None:
    assert web_connector._parse_stamp("") == web_connector._parse_stamp("[1]") == web_connector._parse_stamp("{") == {}
    assert web_connector._parse_stamp(json.dumps({"links": []})) == {"links": []}


# -- one address ------------------------------------------------------------------------------------------------------


def test_a_single_address_is_fetched_within_limits(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InvalidInput, match="lies in a private network"):
        fetch_source(site.url, 1000)
    monkeypatch.setattr(public_network, "_is_public", lambda address: True)
    site.page("/help/new", "ladder")
    site.pages |= {"/old": (302, "/help/new"), "/large": "x" * 2000, "/picture": b"x", "/circle": (302, "/circle")}
    site.types |= {"/picture": "image/png"}
    found = fetch_source(f"{site.url}/old#part", 1000)
    assert (found.uri, found.name) == (f"{site.url}/help/new", "new.html")
    assert b"ladder" in found.load()
    for path, said in (
        ("/large", "larger than"), ("/none", "status 404"), ("/picture", "cannot read files of this kind"),
        ("/circle", "more than 5 redirects"),
    ):  # fmt: skip
        with pytest.raises(InvalidInput, match=said):
            fetch_source(f"{site.url}{path}", 1000)
    for address, said in (
        ("ftp://example.org/x", "no address"),
        ("https://a:b@example.org/", "a password"),
        ("x", "no address"),
    ):
        with pytest.raises(InvalidInput, match=said):
            fetch_source(address, 1000)


def test_a_redirect_into_a_private_network_is_refused(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(public_network, "_is_public", lambda address: address == "127.0.0.1")
    site.pages["/out"] = (302, "http://127.0.0.2:1/secret")
    with pytest.raises(InvalidInput, match=r"127\.0\.0\.2 lies in a private network"):
        fetch_source(f"{site.url}/out", 1000)
