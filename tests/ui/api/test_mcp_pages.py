"""Tests of assistants in pages of other sites at /mcp (CORS): over HTTP, and in a real browser."""

import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest
from api_site import URL, Site, with_readers
from identity_provider import CLIENT, SECRET
from serving import Served

from argot.errors import InvalidSettings
from argot.service.identity.people import People
from argot.service.knowledge_base import KnowledgeBase
from argot.settings import Settings
from argot.sqlite_database import SqliteStores
from argot.ui.server import require_consistent

PAGE, STRANGER = "https://inspector.example.com", "https://evil.example"
METADATA = "/.well-known/oauth-protected-resource/mcp"
LIST_TOOLS = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
ACCEPT = {"Accept": "application/json, text/event-stream"}
PREFLIGHT = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization, content-type"}
PROVIDER = {"oidc_issuer": "https://login.example.com", "oidc_client_id": CLIENT, "oidc_client_secret": SECRET}


@pytest.fixture
async def opened(tiny_home: Path, tmp_path: Path) -> AsyncIterator[Callable[..., Any]]:
    home = with_readers(tiny_home, tmp_path)
    async with AsyncExitStack() as stack:

        async def open_site(**more: Any) -> Site:
            settings = Settings(home=home, **{"public_url": URL, "mcp_origins": PAGE, **PROVIDER, **more})
            require_consistent(settings, signing_in=True)
            return Site(await stack.enter_async_context(KnowledgeBase.open(home, settings)))

        yield open_site


@pytest.fixture
async def site(opened: Callable[..., Any]) -> Site:
    made: Site = await opened()
    return made


def list_cors_headers(answer: httpx.Response) -> dict[str, str]:
    return {name: value for name, value in answer.headers.items() if name.startswith("access-control-")}


async def test_an_allowed_page_asks_with_a_key_and_reads_where_to_sign_in(site: Site) -> None:
    readable = {
        "access-control-allow-origin": PAGE,
        "access-control-expose-headers": "WWW-Authenticate, Retry-After",
    }
    async with site.program(None, Origin=PAGE, **ACCEPT, **{"Sec-Fetch-Site": "cross-site"}) as page:
        asked = await page.options("/mcp", headers=PREFLIGHT)
        assert asked.status_code == 204 and asked.headers["access-control-allow-methods"] == "GET, POST"
        allowed = asked.headers["access-control-allow-headers"].lower().split(", ")
        assert {"authorization", "content-type", "mcp-protocol-version", "mcp-session-id"} <= set(allowed)
        refused = await page.post("/mcp", json=LIST_TOOLS)
        assert refused.status_code == 401 and "resource_metadata=" in refused.headers["www-authenticate"]
        told = await page.get(METADATA)
        assert told.json()["resource"] == f"{URL}/mcp"
        done = await page.post("/mcp", json=LIST_TOOLS, headers={"Authorization": f"Bearer {site.key()}"})
        assert done.status_code == 200 and "open_document" in done.text
        # The client of the SDK opens a stream, and goes on without one.
        assert (await page.get("/mcp")).status_code == 405
        for answer in (refused, told, done):
            assert list_cors_headers(answer) == readable and answer.headers["vary"] == "Origin"


async def test_other_pages_and_other_addresses_stay_closed(site: Site) -> None:
    key = {"Authorization": f"Bearer {site.key()}"}
    async with site.program(None, **ACCEPT) as page:
        for origin in (STRANGER, f"{PAGE}.evil.example", f"{PAGE}:8443", PAGE.replace("https", "http"), "null"):
            for answer in (
                await page.options("/mcp", headers={"Origin": origin, **PREFLIGHT}),
                await page.post("/mcp", json=LIST_TOOLS, headers={"Origin": origin, **key}),
                await page.get(METADATA, headers={"Origin": origin}),
            ):
                assert answer.status_code == 403 and "'mcp_origins'" in answer.text, answer.text
                assert list_cors_headers(answer) == {}
        for path in ("/api/me", "/v1/models", "/", "/sign-in", "/mcp/x", "/.well-known/oauth-protected-resource/x"):
            for answer in (
                await page.options(path, headers={"Origin": PAGE, **PREFLIGHT}),
                await page.get(path, headers={"Origin": PAGE, **key}),
            ):
                assert answer.status_code == 403 and list_cors_headers(answer) == {}, path


async def test_an_allowed_page_never_asks_as_the_person_who_opens_it(opened: Callable[..., Any]) -> None:
    proxy = {"sign_in_header": "X-Remote-User", "trusted_proxies": "127.0.0.1"}
    site = await opened(**proxy)
    site.kb.people.set_password("ann", "tilted copper llama 9")
    cookie = f"{site.authenticator.cookie}={site.kb.people.sessions.begin('ann')}"
    async with site.program(None, Origin=PAGE, **ACCEPT) as page:
        # A browser adds the cookie of a page of the same domain, and a proxy the name of whoever is signed in there.
        for added in ({"Cookie": cookie}, {"Cookie": cookie, "Authorization": f"Bearer {site.key()}"}):
            answer = await page.post("/mcp", json=LIST_TOOLS, headers=added)
            assert answer.status_code == 403 and list_cors_headers(answer) == {}
        named = await page.post("/mcp", json=LIST_TOOLS, headers={"X-Remote-User": "ann"})
        assert named.status_code == 403 and "open_document" not in named.text
        assert "access-control-allow-credentials" not in (await page.options("/mcp", headers=PREFLIGHT)).headers


async def test_without_the_setting_no_page_of_another_site_asks(opened: Callable[..., Any]) -> None:
    site = await opened(mcp_origins="")
    async with site.program("ann", Origin=PAGE, **ACCEPT) as page:
        assert (await page.options("/mcp", headers=PREFLIGHT)).status_code == 403
        assert (await page.post("/mcp", json=LIST_TOOLS)).status_code == 403


@pytest.mark.parametrize("wrong", ["https://*.example.com", "*", "http://inspector.example.com", "https://a.example/x"])
def test_sites_that_are_no_origins_are_refused(wrong: str) -> None:
    with pytest.raises(InvalidSettings, match="'mcp_origins' cannot hold"):
        require_consistent(Settings(mcp_origins=wrong), signing_in=True)


ASK = """async ([url, key, credentials]) => {
    const headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
                     "MCP-Protocol-Version": "2025-11-25"};
    if (key) headers["Authorization"] = `Bearer ${key}`;
    const body = JSON.stringify({jsonrpc: "2.0", id: 1, method: "tools/list"});
    try {
        const got = await fetch(url, {method: "POST", headers, body, credentials});
        return [got.status, got.headers.get("WWW-Authenticate") || await got.text()];
    } catch (error) { return [0, String(error)]; }
}"""


@contextmanager
def page_server() -> Iterator[str]:
    """Serve an empty page of another site, and return its address."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(b"<!doctype html><title>An assistant</title>")

        def log_message(self, *_: Any) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.browser
def test_a_browser_lets_an_allowed_page_ask_and_no_other(chromium: Any, tiny_home: Path, tmp_path: Path) -> None:
    home = with_readers(tiny_home, tmp_path)
    people = People(SqliteStores(home))
    people.set_password("ann", "tilted copper llama 9")
    key = people.keys.make("ann", "page")[1]
    people.close()
    cases = {"bare": ["", "omit"], "key": [key, "omit"], "cookies": [key, "include"]}
    with (
        page_server() as allowed,
        page_server() as other,
        Served(home, ARGOT_MCP_ORIGINS=allowed) as server,
    ):
        context, said = chromium.new_context(), {}
        for address in (allowed, other):
            tab = context.new_page()
            tab.goto(address)
            said[address] = {case: tab.evaluate(ASK, [f"{server.url}/mcp", *given]) for case, given in cases.items()}
        context.close()
    (bare, challenge), (asked, answer), (with_cookies, _) = said[allowed].values()
    assert bare == 401 and challenge == 'Bearer realm="Argot"'
    assert asked == 200 and "open_document" in answer
    assert with_cookies == 0 and [status for status, _ in said[other].values()] == [0, 0, 0]
