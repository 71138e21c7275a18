"""Tests of the web service: where it listens, whom it answers, and its response headers."""

import asyncio
import json
import shutil
import signal
import socket
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI, Request, WebSocket
from repository import ROOT
from serving import Served
from starlette.datastructures import Headers
from starlette.responses import HTMLResponse, PlainTextResponse
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from argot.errors import InvalidSettings, NotAllowed
from argot.service.identity.people import People
from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases.questions.attachments import MAX_FILE_BYTES, MAX_FILES
from argot.settings import Settings
from argot.sqlite_database import SqliteStores
from argot.types import LOCAL_NAME
from argot.ui.chat.chainlit_setup import format_settings, rewrite_page, write_files
from argot.ui.server import bind_socket, require_consistent
from argot.ui.web.asker_identity import asker, get_current_principal, load_signing_secret
from argot.ui.web.authentication import Authenticator
from argot.ui.web.authorization import Addresses, get_visitor, needs
from argot.ui.web.content_policy import build_content_policy
from argot.ui.web.host_names import HostNames
from argot.ui.web.page_templates import show_refusal
from argot.ui.web.security import Guard

PORT = 8123
OWN = f"http://localhost:{PORT}"
COOKIE = f"argot_{PORT}"
PAGE = {"Accept": "text/html"}


@dataclass
class Base:
    """What the authenticator needs of a knowledge base: real people, and settings."""

    people: People
    settings: Settings
    shared: None = None

    async def blocking(self, function: Any, *args: Any, **kwargs: Any) -> Any:
        return await asyncio.to_thread(function, *args, **kwargs)

    async def look_up(self, function: Any, *args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)


def _application() -> FastAPI:
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)

    @app.get("/who")
    @needs("anonymous")
    async def anybody(request: Request) -> PlainTextResponse:
        return PlainTextResponse(str(asker.get()))

    @app.post("/who")
    @needs("anonymous")
    async def anybody_writing(request: Request) -> PlainTextResponse:
        await request.body()
        return PlainTextResponse(str(asker.get()))

    @app.get("/mine")
    @needs("asker")
    async def mine(request: Request) -> PlainTextResponse:
        return PlainTextResponse(f"{asker.get()} {get_visitor(request).auth_method}")

    @app.get("/proof")
    @needs("anonymous")
    async def proof(request: Request) -> PlainTextResponse:
        return PlainTextResponse(str([request.headers.get("authorization"), request.headers.get("cookie")]))

    @app.get("/")
    @needs("asker")
    async def page() -> HTMLResponse:
        return HTMLResponse("<script>1</script>")

    @app.websocket("/ws")
    @needs("asker")
    async def echo(socket: WebSocket) -> None:
        await socket.accept()
        with suppress(WebSocketDisconnect):
            while True:
                await socket.send_text(f"{asker.get()}: {await socket.receive_text()}")

    return app


@dataclass
class Site:
    """A guarded application, and browsers for it."""

    guard: Guard
    base: Base

    def browser(self, name: str | None = None, client: str = "127.0.0.1", url: str = OWN) -> TestClient:
        browser = TestClient(self.guard, base_url=url, client=(client, 50000), follow_redirects=False)
        browser.headers["Host"] = url.removeprefix("http://")
        if name:
            browser.headers["Cookie"] = f"{COOKIE}={self.base.people.sessions.begin(name)}"
        return browser


@pytest.fixture
def make_site(tmp_path: Path) -> Iterator[Callable[..., Site]]:
    """Provide a function that makes sites over one people.db, in which ann has a password unless `alone` is set."""
    people = People(SqliteStores(tmp_path))
    people.add("ann")

    def make(*, alone: bool = False, secluded: bool = True, **settings: Any) -> Site:
        if not alone:
            people.database.write("UPDATE users SET password = 'a hash' WHERE name = 'ann'")
        base = Base(people, Settings(home=tmp_path, **settings))
        app = _application()
        authenticator = Authenticator(
            base,  # type: ignore[arg-type]
            port=PORT,
            secluded=secluded and not settings.get("public_url"),
            key=b"key",
            ticket=lambda: "signed",
            read_ticket=lambda token: LOCAL_NAME if token == "signed" else None,
        )
        names = HostNames("127.0.0.1", PORT, secluded=secluded, public_url=settings.get("public_url", ""))
        guard = Guard(
            app,
            names=names,
            page="<script>1</script>",
            authenticator=authenticator,
            addresses=Addresses.of(app),
            inner=lambda who: who.name,
            refused=show_refusal,
        )
        return Site(guard, base)

    yield make
    people.close()


@pytest.fixture
def client(make_site: Callable[..., Site]) -> TestClient:
    """Provide a browser of an installation where nobody has a password."""
    return make_site(alone=True).browser()


@pytest.mark.parametrize("host", [f"localhost:{PORT}", f"127.0.0.1:{PORT}", f"[::1]:{PORT}", f"LOCALHOST:{PORT}"])
def test_local_host_names_are_answered(client: TestClient, host: str) -> None:
    assert client.get("/who", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    "host",
    ["evil.example", f"evil.example:{PORT}", "localhost", "localhost:80", f"localhost.evil.example:{PORT}", "",
     f"192.0.2.7:{PORT}"],
)  # fmt: skip
def test_foreign_host_names_are_refused(client: TestClient, host: str) -> None:
    assert client.get("/who", headers={"Host": host}).status_code == 421


def test_with_sign_in_any_own_address_is_answered_but_no_foreign_name(
    make_site: Callable[..., Site],
) -> None:
    browser = make_site(secluded=False, public_url="https://argot.example.com").browser()
    for host in (f"192.0.2.7:{PORT}", f"[2001:db8::5]:{PORT}", "argot.example.com"):
        assert browser.get("/who", headers={"Host": host}).status_code == 200
    own = {"Host": f"192.0.2.7:{PORT}", "Origin": f"http://192.0.2.7:{PORT}"}
    assert browser.post("/who", headers=own).status_code == 200
    public = {"Host": "argot.example.com", "Origin": "https://argot.example.com"}
    assert browser.post("/who", headers=public).status_code == 200
    for host in (f"evil.example:{PORT}", "192.0.2.7:1", "192.0.2.7", "argot.example.com.evil.example", "1.2.3", "[:1"):
        assert browser.get("/who", headers={"Host": host}).status_code == 421
    for origin in ("https://evil.example", "http://argot.example.com", "http://192.0.2.8:8123", "null"):
        assert browser.post("/who", headers={**own, "Origin": origin}).status_code == 403


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "http://localhost:9999", f"https://localhost:{PORT}"]
)
def test_pages_of_other_origins_are_refused(client: TestClient, origin: str) -> None:
    assert client.post("/who", headers={"Origin": origin}).status_code == 403
    assert client.get("/who", headers={"Origin": origin}).status_code == 403
    with pytest.raises(WebSocketDisconnect), client.websocket_connect("/ws", headers={"Origin": origin}):
        pass


def test_argots_own_page_may_send_requests_and_connect(client: TestClient) -> None:
    headers = {"Origin": OWN, "Cookie": f"{COOKIE}=signed"}
    answer = client.post("/who", headers=headers)
    assert (answer.status_code, answer.text) == (200, "local")
    assert "access-control-allow-origin" not in answer.headers
    with client.websocket_connect("/ws", headers={**headers, "Host": f"localhost:{PORT}"}) as connection:
        connection.send_text("42 hello")
        assert connection.receive_text() == "local: 42 hello"


def test_a_changing_request_must_say_which_page_sent_it(client: TestClient) -> None:
    assert client.post("/who").status_code == 403
    assert client.post("/who", headers={"Sec-Fetch-Site": "none"}).status_code == 403
    assert client.post("/who", headers={"Sec-Fetch-Site": "same-origin"}).status_code == 200


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_a_foreign_site_may_link_but_not_embed(client: TestClient, site: str) -> None:
    """Check another port of this machine too: to a browser it is the same site, but it is not trusted."""
    cross = {"Sec-Fetch-Site": site}
    assert client.get("/who", headers={**cross, "Sec-Fetch-Mode": "navigate"}).status_code == 200
    assert client.get("/who", headers={**cross, "Sec-Fetch-Mode": "no-cors"}).status_code == 403


@pytest.mark.parametrize("cookie", ["", f"{COOKIE}=forged", "argot_9999=signed", "=;=;\x01"])
def test_an_unknown_cookie_gives_no_identity(client: TestClient, cookie: str) -> None:
    assert client.get("/who", headers={"Cookie": cookie}).text == "None"
    assert client.get("/mine", headers={"Cookie": cookie}).status_code == 401


def test_the_identity_is_set_by_the_guard_only(make_site: Callable[..., Site]) -> None:
    browser = make_site().browser("ann")
    assert browser.get("/proof", headers={"Authorization": "Bearer signed"}).text == "[None, None]"
    assert browser.get("/mine").text == "ann password"


def test_opening_the_page_sets_a_cookie_for_this_site_only(client: TestClient) -> None:
    cookie = client.get("/", headers=PAGE).headers["set-cookie"]
    assert cookie.startswith(f"{COOKIE}=signed;")
    assert {"HttpOnly", "SameSite=Strict"} <= set(cookie.split("; "))
    assert "set-cookie" not in client.get("/", headers={"Cookie": f"{COOKIE}=signed", **PAGE}).headers
    client.cookies.clear()
    assert "set-cookie" not in client.get("/who").headers


def test_local_access_ends_as_soon_as_a_password_is_set(
    make_site: Callable[..., Site],
) -> None:
    site = make_site(alone=True)
    browser = site.browser()
    local = {"Cookie": f"{COOKIE}=signed"}
    assert browser.get("/mine", headers=local).text == "local local"
    with browser.websocket_connect("/ws", headers={**local, "Origin": OWN}) as connection:
        connection.send_text("42")
        assert connection.receive_text() == "local: 42"
        site.base.people.set_password("ann", "tilted copper llama 9")
        with pytest.raises(WebSocketDisconnect):
            connection.receive_text()
    assert browser.get("/mine", headers=local).status_code == 401
    answer = browser.get("/?a=1", headers={**local, **PAGE})
    assert (answer.status_code, answer.headers["location"]) == (303, "/sign-in?next=%2F%3Fa%3D1")
    assert "set-cookie" not in answer.headers


def test_a_shared_site_does_not_recognise_a_local_user(
    make_site: Callable[..., Site],
) -> None:
    for settings in ({"secluded": False}, {"public_url": "https://argot.example.com"}):
        browser = make_site(alone=True, **settings).browser()
        assert browser.get("/mine", headers={"Cookie": f"{COOKIE}=signed"}).status_code == 401
        assert "set-cookie" not in browser.get("/", headers=PAGE).headers


def test_a_suspension_ends_open_connections_at_once(make_site: Callable[..., Site]) -> None:
    site = make_site()
    browser, other = site.browser("ann"), site.browser("ann")
    assert browser.get("/mine").text == "ann password"
    with other.websocket_connect("/ws", headers={"Origin": OWN}) as connection:
        connection.send_text("42 hello")
        assert connection.receive_text() == "ann: 42 hello"
        site.base.people.suspend("ann")
        with pytest.raises(WebSocketDisconnect) as cut:
            connection.receive_text()
        assert cut.value.code == 1008
    assert browser.get("/mine").status_code == 401
    with pytest.raises(WebSocketDisconnect), other.websocket_connect("/ws", headers={"Origin": OWN}):
        pass
    site.base.people.restore("ann")
    assert browser.get("/mine").status_code == 401  # the old session is not restored
    assert site.browser("ann").get("/mine").status_code == 200


def test_signing_out_closes_the_connections_of_that_session_only(make_site: Callable[..., Site]) -> None:
    site = make_site()
    sessions = site.base.people.sessions
    with site.browser("ann").websocket_connect("/ws", headers={"Origin": OWN}) as one:
        (first,) = sessions.of("ann")
        with site.browser("ann").websocket_connect("/ws", headers={"Origin": OWN}) as other:
            sessions.end("ann", only=first.id)
            with pytest.raises(WebSocketDisconnect):
                one.receive_text()
            other.send_text("42")
            assert other.receive_text() == "ann: 42"


def test_an_expired_session_ends_its_connection_at_the_next_message(
    make_site: Callable[..., Site],
) -> None:
    site = make_site()
    with site.browser("ann").websocket_connect("/ws", headers={"Origin": OWN}) as connection:
        later = time.time() + site.base.people.sessions.lifetimes.idle + 1
        site.base.people.sessions.clock = lambda: later
        connection.send_text("3")
        with pytest.raises(WebSocketDisconnect):
            connection.receive_text()


def test_behind_https_the_cookie_is_secure(make_site: Callable[..., Site]) -> None:
    authenticator = make_site(public_url="https://argot.example.com").guard.authenticator
    assert authenticator.cookie == f"__Host-argot_{PORT}"
    assert "; Secure" in authenticator.set_cookie("x")
    assert "; Secure" not in make_site().guard.authenticator.set_cookie("x")


def test_a_visitor_without_a_session_cannot_send_a_large_body(make_site: Callable[..., Site]) -> None:
    site = make_site()
    large = b"x" * 100_000
    assert site.browser().post("/who", content=large, headers={"Origin": OWN}).status_code == 413
    assert site.browser("ann").post("/who", content=large, headers={"Origin": OWN}).status_code == 200


def test_a_script_without_a_session_is_sent_to_the_sign_in_page(make_site: Callable[..., Site]) -> None:
    headers = {"HX-Request": "true", "HX-Current-URL": f"{OWN}/glossary/PUC"}
    answer = make_site().browser().get("/mine", headers=headers)
    assert (answer.status_code, answer.headers["hx-redirect"]) == (401, "/sign-in?next=%2Fglossary%2FPUC")


# -- a proxy that signs people in ------------------------------------------------------------------------------------

PROXY = "192.0.2.1"
BY_PROXY = {"sign_in_header": "X-Remote-User", "trusted_proxies": "192.0.2.0/28, 2001:db8::1", "secluded": False}


def _as(name: str, **more: str) -> dict[str, str]:
    return {"X-Remote-User": name, **more}


def test_only_the_trusted_proxy_may_name_the_user(make_site: Callable[..., Site]) -> None:
    site = make_site(alone=True, **BY_PROXY)
    assert site.browser(client=PROXY).get("/mine", headers=_as("ann")).text == "ann header"
    assert site.browser(client="2001:db8::1").get("/mine", headers=_as("ann")).text == "ann header"
    for address in ("192.0.2.16", "127.0.0.1", "::1", "testclient", "2001:db8::2"):
        assert site.browser(client=address).get("/mine", headers=_as("ann")).status_code == 401
        forwarded = _as("ann", **{"X-Forwarded-For": PROXY})
        assert site.browser(client=address).get("/mine", headers=forwarded).status_code == 401


def test_without_the_setting_the_user_header_is_ignored(make_site: Callable[..., Site]) -> None:
    site = make_site(trusted_proxies=PROXY)
    assert site.browser(client=PROXY).get("/mine", headers=_as("ann")).status_code == 401


def test_the_proxy_cannot_name_the_local_user(make_site: Callable[..., Site]) -> None:
    for unknown in ("refuse", "create"):
        site = make_site(alone=True, unknown_people=unknown, **BY_PROXY)
        assert site.browser(client=PROXY).get("/mine", headers=_as("local")).status_code == 403


def test_an_unknown_user_of_the_proxy_is_refused_or_added_as_an_asker(make_site: Callable[..., Site]) -> None:
    refusing = make_site(alone=True, **BY_PROXY).browser(client=PROXY)
    answer = refusing.get("/mine", headers={**_as("zoe"), **PAGE})
    assert answer.status_code == 403
    assert "does not know &#39;zoe&#39;" in answer.text
    site = make_site(alone=True, unknown_people="create", **BY_PROXY)
    assert site.browser(client=PROXY).get("/mine", headers=_as("zoe")).text == "zoe header"
    assert site.base.people.user("zoe").role == "asker"
    named = {"X-Remote-User": "Zoë".encode()}
    assert site.browser(client=PROXY).get("/mine", headers=named).status_code == 200  # type: ignore[arg-type]
    assert site.base.people.user("Zoë")
    for bad in ("@ann", "a" * 65, "<script>"):
        assert site.browser(client=PROXY).get("/mine", headers=_as(bad)).status_code == 403


def test_two_names_or_none_from_the_proxy_are_refused(make_site: Callable[..., Site]) -> None:
    browser = make_site(alone=True, **BY_PROXY).browser(client=PROXY)
    assert browser.get("/mine", headers=[("X-Remote-User", "ann"), ("X-Remote-User", "bob")]).status_code == 403  # type: ignore[arg-type]
    assert browser.get("/mine", headers=_as("")).status_code == 403


def test_a_suspended_user_is_refused_through_the_proxy_too(make_site: Callable[..., Site]) -> None:
    site = make_site(alone=True, **BY_PROXY)
    browser = site.browser(client=PROXY)
    with browser.websocket_connect("/ws", headers=_as("ann", Origin=OWN)) as connection:
        connection.send_text("42")
        assert connection.receive_text() == "ann: 42"
        site.base.people.suspend("ann")
        with pytest.raises(WebSocketDisconnect):
            connection.receive_text()
    answer = browser.get("/mine", headers={**_as("ann"), **PAGE})
    assert answer.status_code == 403 and "suspended" in answer.text
    with pytest.raises(WebSocketDisconnect), browser.websocket_connect("/ws", headers=_as("ann", Origin=OWN)):
        pass


def test_the_clients_address_is_taken_from_the_trusted_proxy_only(make_site: Callable[..., Site]) -> None:
    authenticator = make_site(alone=True, **BY_PROXY).guard.authenticator

    def address(peer: str, forwarded: str) -> str:
        scope = {"type": "http", "client": (peer, 1)}
        return authenticator.find_address(scope, Headers({"x-forwarded-for": forwarded}))

    assert address(PROXY, "203.0.113.9, 198.51.100.7, 192.0.2.3") == "198.51.100.7"
    assert address(PROXY, "") == PROXY
    assert address("198.51.100.7", "203.0.113.9") == "198.51.100.7"


def test_unsafe_sign_in_settings_are_refused() -> None:
    with pytest.raises(InvalidSettings, match="trusted_proxies"):
        require_consistent(Settings(sign_in_header="X-User"), signing_in=True)
    with pytest.raises(InvalidSettings, match="argot user add NAME --password"):
        require_consistent(Settings(public_url="https://argot.example.com"), signing_in=False)
    with pytest.raises(InvalidSettings, match=r"'10\.0\.0\.1/8'"):
        require_consistent(Settings(trusted_proxies="10.0.0.1/8"), signing_in=True)
    require_consistent(Settings(), signing_in=False)
    require_consistent(Settings(sign_in_header="X-User", trusted_proxies="127.0.0.1, 10.0.0.0/8"), signing_in=True)


# -- response headers ------------------------------------------------------------------------------------------------


def test_every_response_has_the_security_headers(client: TestClient) -> None:
    for answer in (client.get("/who"), client.get("/", headers=PAGE), client.get("/nothing"), client.get("/mine")):
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "same-origin"
        policy = dict(part.split(" ", 1) for part in answer.headers["content-security-policy"].split("; "))
        assert policy["default-src"] == "'none'"
        assert policy["frame-ancestors"] == "'none'"
        assert policy["img-src"] == "'self'"
        assert "unsafe" not in policy["script-src"]
        assert "sha256-" in policy["script-src"]


def test_personal_responses_are_not_cached(make_site: Callable[..., Site]) -> None:
    browser = make_site().browser("ann")
    assert browser.get("/mine").headers["cache-control"] == "no-store"


def test_only_inline_scripts_of_the_page_itself_may_run() -> None:
    one, other = (build_content_policy(f"<script>{number}</script>", "localhost:1") for number in (1, 2))
    assert one != other


def test_a_host_header_cannot_change_the_content_policy() -> None:
    assert "evil" not in build_content_policy("", "x; script-src evil")


# -- where it listens ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.7"])
def test_without_sign_in_the_service_listens_locally_only(host: str) -> None:
    with pytest.raises(InvalidSettings, match=r"open to this machine only.*argot user add NAME --password"):
        bind_socket(host, 0)


def test_with_sign_in_the_service_may_listen_for_others() -> None:
    with bind_socket("0.0.0.0", 0, shared=True) as listener:
        assert listener.getsockname()[0] == "0.0.0.0"


def test_a_busy_port_is_reported_with_a_remedy() -> None:
    with bind_socket("127.0.0.1", 0) as listener:
        port = listener.getsockname()[1]
        with pytest.raises(InvalidSettings, match=f"Port {port} of 127.0.0.1 is in use.*--port"):
            bind_socket("127.0.0.1", port)


def test_an_invalid_host_name_is_refused() -> None:
    with pytest.raises(InvalidSettings, match=r"no such host\.invalid"):
        bind_socket("no such host.invalid", 0)


def test_port_0_takes_any_free_port() -> None:
    with bind_socket("localhost", 0) as listener:
        assert listener.family in (socket.AF_INET, socket.AF_INET6)
        assert listener.getsockname()[1] > 0


async def test_packets_are_sent_without_delay() -> None:
    """Check it because a packet held back by Nagle's algorithm waits some 40 ms for an acknowledgement."""
    held_back = asyncio.Queue[int]()

    def connected(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        accepted = writer.get_extra_info("socket")
        held_back.put_nowait(accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
        writer.close()

    with bind_socket("127.0.0.1", 0) as listener:
        address = listener.getsockname()
        async with await asyncio.start_server(connected, sock=listener):
            _, writer = await asyncio.open_connection(*address)
            assert await held_back.get()
            writer.close()


# -- identities ------------------------------------------------------------------------------------------------------


async def test_without_an_identity_the_principal_is_refused(tmp_path: Path) -> None:
    async with KnowledgeBase.open(tmp_path / "kb", Settings(home=tmp_path / "kb"), create=True) as kb:
        with pytest.raises(NotAllowed):
            await get_current_principal(kb)


def test_the_signing_secret_is_made_once_and_readable_by_its_owner_only(tmp_path: Path) -> None:
    secret = load_signing_secret(tmp_path)
    assert len(secret) >= 32
    assert load_signing_secret(tmp_path) == secret
    assert (tmp_path / "secret").stat().st_mode & 0o777 == 0o600


# -- files for Chainlit ----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def package() -> Path:
    import importlib.util

    found = importlib.util.find_spec("chainlit")
    assert found and found.origin
    return Path(found.origin).parent


def test_chainlits_settings_are_written_by_argot(package: Path, tmp_path: Path) -> None:
    folder = write_files(tmp_path / "chat", package, [OWN])
    found = tomllib.loads((folder / ".chainlit" / "config.toml").read_text("utf-8"))
    assert found["project"]["allow_origins"] == [OWN]
    assert found["features"]["unsafe_allow_html"] is False
    assert found["features"]["latex"] is False
    upload = found["features"]["spontaneous_file_upload"]
    assert (upload["enabled"], upload["max_files"], upload["max_size_mb"]) == (True, MAX_FILES, MAX_FILE_BYTES // 10**6)
    assert found["UI"]["name"] == "Argot"
    assert folder.stat().st_mode & 0o777 == 0o700


def test_a_second_start_renews_everything_but_the_secret(package: Path, tmp_path: Path) -> None:
    folder = write_files(tmp_path / "chat", package, [OWN])
    secret = load_signing_secret(folder)
    (folder / ".files").mkdir()
    (folder / ".files" / "left over").write_text("x")
    write_files(folder, package, [OWN])
    assert load_signing_secret(folder) == secret
    assert not (folder / ".files").exists()
    assert (folder / "build" / "assets").resolve() == (package / "frontend" / "dist" / "assets").resolve()


def test_the_page_loads_nothing_from_other_servers(package: Path) -> None:
    html = rewrite_page((package / "frontend" / "dist" / "index.html").read_text("utf-8"))
    assert "http" not in html
    assert "<title>Argot</title>" in html
    assert "/assets/index" in html


def test_written_settings_are_valid_toml() -> None:
    text = format_settings(['http://"quoted":1'], "2.12.0")
    assert tomllib.loads(text)["project"]["allow_origins"] == ['http://"quoted":1']


def test_argots_assets_load_nothing_from_other_servers() -> None:
    folder = ROOT / "ui" / "assets"
    for path in [*folder.rglob("*.css"), *folder.rglob("*.js"), *folder.rglob("*.svg")]:
        text = path.read_text("utf-8").replace("http://www.w3.org/2000/svg", "")
        assert "http:" not in text and "https:" not in text and "url(" not in text, path
    theme: Any = json.loads((folder / "theme.json").read_text("utf-8"))
    assert theme["variables"]["light"].keys() == theme["variables"]["dark"].keys()
    assert "custom_fonts" not in theme


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_a_stopped_service_closes_its_stores_and_records_its_stop(
    tiny_home: Path, tmp_path: Path, how: signal.Signals
) -> None:
    """Check SIGTERM, and Ctrl+C; serving.py checks what is left open."""
    audit = tmp_path / "audit.jsonl"
    with Served(Path(shutil.copytree(tiny_home, tmp_path / "kb")), ARGOT_AUDIT_FILE=str(audit)) as service:
        assert (service.home / "socket").exists()
        assert service.stop(how) == 0
    assert [json.loads(line)["activity_name"] for line in audit.read_text().splitlines()] == ["Start", "Stop"]


def test_chainlits_client_of_a_tracing_service_is_imported_without_the_tracing() -> None:
    code = (
        "import sys\nfrom argot.ui.chat.chainlit_setup import leave_out_traceloop\n"
        "with leave_out_traceloop():\n    import literalai\n"
        "print([name for name in sys.modules if name.startswith('traceloop')])"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, timeout=600)
    assert done.stdout == "[]\n"
