"""The web service: where it listens, whom it answers, and what it tells browsers."""

import json
import shutil
import signal
import socket
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse
from starlette.routing import Route, WebSocketRoute
from starlette.testclient import TestClient
from starlette.websockets import WebSocket, WebSocketDisconnect

from argot.errors import InvalidSettings, NotAllowed
from argot.service.owner import KnowledgeBase
from argot.settings import Settings
from argot.ui.chat_people import asker, current_principal, signing_secret
from argot.ui.chat_setup import lay_out, own_page, settings_toml
from argot.ui.web import bind
from argot.ui.web_guard import Guard, content_policy

PORT = 8123
OWN = f"http://localhost:{PORT}"


async def _who(request: Request) -> PlainTextResponse:
    return PlainTextResponse(str(asker.get()))


async def _token(request: Request) -> PlainTextResponse:
    return PlainTextResponse(request.headers.get("authorization", "none"))


async def _page(request: Request) -> HTMLResponse:
    return HTMLResponse("<script>1</script>")


async def _echo(socket: WebSocket) -> None:
    await socket.accept()
    await socket.send_text(str(asker.get()))
    await socket.close()


@pytest.fixture
def client() -> Iterator[TestClient]:
    paths = ("/who", "/mcp", "/login", "/project/file", "/project/file/x", "/auth/jwt", "/docs", "/project/threads")
    routes = [Route(path, _who, methods=["GET", "POST"]) for path in paths]
    app = Starlette(routes=[*routes, Route("/", _page), Route("/token", _token), WebSocketRoute("/ws", _echo)])
    guard = Guard(
        app,
        host="127.0.0.1",
        port=PORT,
        page="<script>1</script>",
        cookie="argot_8123",
        identify=lambda token: "ann" if token == "signed" else None,
        welcome=lambda: "signed",
    )
    with TestClient(guard, base_url=OWN) as client:
        yield client


@pytest.mark.parametrize("host", [f"localhost:{PORT}", f"127.0.0.1:{PORT}", f"[::1]:{PORT}", f"LOCALHOST:{PORT}"])
def test_its_own_names_are_answered(client: TestClient, host: str) -> None:
    assert client.get("/who", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    "host", ["evil.example", f"evil.example:{PORT}", "localhost", "localhost:80", f"localhost.evil.example:{PORT}", ""]
)
def test_a_name_rebound_to_this_machine_is_not(client: TestClient, host: str) -> None:
    assert client.get("/who", headers={"Host": host}).status_code == 421


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "http://localhost:9999", f"https://localhost:{PORT}"]
)
def test_pages_of_other_origins_are_refused(client: TestClient, origin: str) -> None:
    assert client.post("/who", headers={"Origin": origin}).status_code == 403
    assert client.get("/who", headers={"Origin": origin}).status_code == 403
    with pytest.raises(WebSocketDisconnect), client.websocket_connect("/ws", headers={"Origin": origin}):
        pass


def test_its_own_page_may_ask_and_connect(client: TestClient) -> None:
    headers = {"Origin": OWN, "Cookie": "argot_8123=signed"}
    answer = client.post("/who", headers=headers)
    assert (answer.status_code, answer.text) == (200, "ann")
    assert "access-control-allow-origin" not in answer.headers
    with client.websocket_connect("/ws", headers={**headers, "Host": f"localhost:{PORT}"}) as connection:
        assert connection.receive_text() == "ann"


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_a_foreign_site_may_link_here_but_not_load_from_here(client: TestClient, site: str) -> None:
    """A page on another port of this machine is the same site to a browser, and no friend of ours."""
    cross = {"Sec-Fetch-Site": site}
    assert client.get("/who", headers={**cross, "Sec-Fetch-Mode": "navigate"}).status_code == 200
    assert client.get("/who", headers={**cross, "Sec-Fetch-Mode": "no-cors"}).status_code == 403


@pytest.mark.parametrize("cookie", ["", "argot_8123=forged", "argot_9999=signed", "=;=;\x01"])
def test_nobody_is_taken_for_somebody(client: TestClient, cookie: str) -> None:
    assert client.get("/who", headers={"Cookie": cookie}).text == "None"


def test_who_is_asking_is_told_by_the_cookie_alone(client: TestClient) -> None:
    assert client.get("/token", headers={"Authorization": "Bearer signed"}).text == "none"
    assert client.get("/who", headers={"Authorization": "Bearer signed"}).text == "None"


def test_whoever_opens_the_page_gets_an_identity_that_only_this_site_sees(client: TestClient) -> None:
    cookie = client.get("/").headers["set-cookie"]
    assert cookie.startswith("argot_8123=signed;")
    assert {"HttpOnly", "SameSite=Strict"} <= set(cookie.split("; "))
    assert "set-cookie" not in client.get("/", headers={"Cookie": "argot_8123=signed"}).headers
    client.cookies.clear()
    assert "set-cookie" not in client.get("/who").headers


@pytest.mark.parametrize("path", ["/mcp", "/project/file", "/project/file/x", "/auth/jwt", "/docs"])
def test_what_argot_does_not_use_of_chainlit_is_closed(client: TestClient, path: str) -> None:
    assert client.post(path).status_code == 404
    assert client.get("/project/threads").status_code == 200


def test_the_sign_in_page_opens_but_takes_no_password(client: TestClient) -> None:
    assert client.get("/login").status_code == 200
    assert client.post("/login").status_code == 404


def test_every_answer_tells_the_browser_to_stay_here(client: TestClient) -> None:
    for answer in (client.get("/who"), client.get("/")):
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"
        policy = dict(part.split(" ", 1) for part in answer.headers["content-security-policy"].split("; "))
        assert policy["default-src"] == "'none'"
        assert policy["frame-ancestors"] == "'none'"
        assert policy["img-src"] == "'self' data: blob:"
        assert "unsafe" not in policy["script-src"]
        assert "sha256-" in policy["script-src"]


def test_only_inline_scripts_of_the_page_itself_may_run() -> None:
    one, other = content_policy("<script>1</script>", []), content_policy("<script>2</script>", [])
    assert one != other


# -- where it listens ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.7"])
def test_it_listens_on_this_machine_alone(host: str) -> None:
    with pytest.raises(InvalidSettings, match="open to this machine only"):
        bind(host, 0)


def test_a_busy_port_is_named_with_a_way_out() -> None:
    with bind("127.0.0.1", 0) as listener:
        port = listener.getsockname()[1]
        with pytest.raises(InvalidSettings, match=f"Port {port} of 127.0.0.1 is in use.*--port"):
            bind("127.0.0.1", port)


def test_a_name_that_is_none_is_refused() -> None:
    with pytest.raises(InvalidSettings, match=r"no such host\.invalid"):
        bind("no such host.invalid", 0)


def test_port_0_takes_any_free_one() -> None:
    with bind("localhost", 0) as listener:
        assert listener.family in (socket.AF_INET, socket.AF_INET6)
        assert listener.getsockname()[1] > 0


# -- who asks --------------------------------------------------------------------------------------------------------


async def test_without_an_identity_nothing_is_done(tmp_path: Path) -> None:
    async with KnowledgeBase.open(tmp_path / "kb", Settings(home=tmp_path / "kb"), create=True) as kb:
        with pytest.raises(NotAllowed):
            await current_principal(kb)


def test_the_signing_secret_is_made_once_for_its_owner_alone(tmp_path: Path) -> None:
    secret = signing_secret(tmp_path)
    assert len(secret) >= 32
    assert signing_secret(tmp_path) == secret
    assert (tmp_path / "secret").stat().st_mode & 0o777 == 0o600


# -- what Chainlit finds ---------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def package() -> Path:
    import importlib.util

    found = importlib.util.find_spec("chainlit")
    assert found and found.origin
    return Path(found.origin).parent


def test_its_settings_are_ours(package: Path, tmp_path: Path) -> None:
    folder = lay_out(tmp_path / "chat", package, [OWN])
    found = tomllib.loads((folder / ".chainlit" / "config.toml").read_text("utf-8"))
    assert found["project"]["allow_origins"] == [OWN]
    assert found["features"]["unsafe_allow_html"] is False
    assert found["features"]["latex"] is False
    assert found["features"]["spontaneous_file_upload"]["enabled"] is False
    assert found["UI"]["name"] == "Argot"
    assert folder.stat().st_mode & 0o777 == 0o700


def test_a_second_start_renews_everything_but_the_secret(package: Path, tmp_path: Path) -> None:
    folder = lay_out(tmp_path / "chat", package, [OWN])
    secret = signing_secret(folder)
    (folder / ".files").mkdir()
    (folder / ".files" / "left over").write_text("x")
    lay_out(folder, package, [OWN])
    assert signing_secret(folder) == secret
    assert not (folder / ".files").exists()
    assert (folder / "build" / "assets").resolve() == (package / "frontend" / "dist" / "assets").resolve()


def test_the_page_asks_no_other_server(package: Path) -> None:
    html = own_page((package / "frontend" / "dist" / "index.html").read_text("utf-8"))
    assert "http" not in html
    assert "<title>Argot</title>" in html
    assert "/assets/index" in html


def test_settings_are_toml_whatever_is_in_them() -> None:
    text = settings_toml(['http://"quoted":1'], "2.12.0")
    assert tomllib.loads(text)["project"]["allow_origins"] == ['http://"quoted":1']


def test_our_own_assets_ask_no_other_server() -> None:
    folder = Path(__file__).parent.parent / "ui" / "assets"
    for path in [*folder.rglob("*.css"), *folder.rglob("*.js"), *folder.rglob("*.svg")]:
        text = path.read_text("utf-8").replace("http://www.w3.org/2000/svg", "")
        assert "http:" not in text and "https:" not in text and "url(" not in text, path
    theme: Any = json.loads((folder / "theme.json").read_text("utf-8"))
    assert theme["variables"]["light"].keys() == theme["variables"]["dark"].keys()
    assert "custom_fonts" not in theme


OPEN = {
    "GET /{full_path:path}", "HEAD /", "GET /health", "GET /public/{filename:path}", "GET /assets/{filename:path}",
    "GET /favicon", "GET /logo", "GET /avatars/{avatar_id:str}", "GET /project/translations", "GET /auth/config",
    "POST /auth/header", "POST /set-session-cookie", "POST /logout",
}  # fmt: skip
"""What anybody may ask of Chainlit: its page, its looks, and a cookie for this machine."""
SIGNED_IN = {
    "GET /user", "GET /project/settings", "PUT /feedback", "DELETE /feedback", "POST /project/threads",
    "GET /project/thread/{thread_id}", "GET /project/thread/{thread_id}/element/{element_id}", "PUT /project/thread",
    "DELETE /project/thread", "POST /project/action",
}  # fmt: skip


def test_every_address_of_chainlit_is_declared_open_or_for_the_signed_in_or_closed(tmp_path: Path) -> None:
    """Of a real application, in a process of its own: another release with another route must not pass unseen."""
    script = """
import json, os, sys
os.environ.update(CHAINLIT_APP_ROOT=sys.argv[1], CHAINLIT_AUTH_SECRET="x" * 40)
from starlette.testclient import TestClient
from chainlit import server
from chainlit.config import config
async def nobody(headers): ...
config.code.header_auth_callback = nobody
from argot.ui.web_guard import Guard
guard = Guard(server.app, host="127.0.0.1", port=8000, page="", cookie="c", identify=lambda token: None)
client = TestClient(guard, base_url="http://localhost:8000")
routes = {(m, r.path) for r in server.router.routes for m in r.methods}
print(json.dumps({f"{m} {p}": client.request(m, p.partition("{")[0] + "x" * ("{" in p), json={}).status_code
                  for m, p in sorted(routes)}))
"""
    command = [sys.executable, "-c", script, str(tmp_path)]
    done = subprocess.run(command, check=False, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    found: dict[str, int] = json.loads(done.stdout.splitlines()[-1])
    assert {route for route, status in found.items() if status == 401} - OPEN == SIGNED_IN
    closed = found.keys() - OPEN - SIGNED_IN
    assert {route: found[route] for route in closed if found[route] != 404} == {}


@pytest.mark.parametrize("stop", [signal.SIGTERM, signal.SIGINT])
def test_a_stopped_service_closes_its_stores(tiny_home: Path, tmp_path: Path, stop: signal.Signals) -> None:
    home = shutil.copytree(tiny_home, tmp_path / "kb")
    command = [sys.executable, "-c", "from argot.ui.cli import main; main()", "serve", "--port", "0"]
    with subprocess.Popen([*command, "--home", str(home)], stderr=subprocess.PIPE, text=True) as service:
        assert service.stderr
        assert any("is open at" in line for line in service.stderr)
        assert (home / "socket").exists()
        service.send_signal(stop)
        assert service.wait(timeout=60) == 0
    assert not {"socket", "owner.json", "corpus.db-wal", "threads.db-wal"} & {path.name for path in home.iterdir()}
