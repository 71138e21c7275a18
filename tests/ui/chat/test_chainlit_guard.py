"""Tests of Chainlit under attack: what a browser may send to it, on a real server with real sockets."""

import asyncio
import json
import re
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest
import socketio
import websockets
from serving import PATIENCE, Served, argot
from websockets.asyncio.client import ClientConnection

from argot.errors import NotAllowed
from argot.types import Principal
from argot.ui.chat.chainlit_setup import MAX_WAITING_FILES
from argot.ui.rendering.chat_buttons import ASK_INSTEAD, CHOOSE_ACTION, EXPORT, REPORT, SENSE, SHARE
from argot.ui.web import chainlit_guard
from argot.ui.web.authorization import Visitor
from argot.ui.web.chainlit_guard import EVENTS, IGNORED_EVENTS, find_session_folder
from argot.ui.web.open_connections import INERT_POLICY, MAX_WINDOWS, TOO_MANY_WINDOWS, OpenConnections

GOOD = "tilted copper llama 9"
OPENED = {"clientType": "webapp", "threadId": "", "userEnv": "{}", "chatProfile": ""}


class Site(Served):
    def __init__(self, home: Path) -> None:
        super().__init__(home)
        self.cookies = {"": {}, **{name: self._signed_in(name) for name in ("ann", "bob", "mia", "root")}}

    def _signed_in(self, name: str) -> dict[str, str]:
        given = {"name": name, "password": GOOD}
        entered = httpx.post(f"{self.url}/sign-in", data=given, headers={"Origin": self.url}, timeout=PATIENCE)
        assert entered.status_code == 303
        return dict(entered.cookies)

    def person(self, name: str) -> httpx.AsyncClient:
        """Open a browser in which somebody is signed in, or nobody if there is no name."""
        headers = {"Origin": self.url}
        return httpx.AsyncClient(base_url=self.url, headers=headers, cookies=self.cookies[name], timeout=PATIENCE)

    def proof(self, client: httpx.AsyncClient) -> dict[str, str]:
        """Return the headers that identify a connecting client to a socket."""
        return {"Origin": self.url, "Cookie": "; ".join(f"{one.name}={one.value}" for one in client.cookies.jar)}

    def jar(self, name: str) -> list[dict[str, str]]:
        """Return the same cookies for a browser with a screen."""
        return [{"name": one, "value": value, "url": self.url} for one, value in self.cookies[name].items()]

    @property
    def socket(self) -> str:
        return f"{self.url.replace('http', 'ws', 1)}/ws/socket.io/"


@pytest.fixture(scope="module")
def site(tiny_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """Provide a site: ann and bob ask, mia manages, root administers. An error in its log fails the tests."""
    home = Path(shutil.copytree(tiny_home, tmp_path_factory.mktemp("guarded") / "kb"))
    for name, *more in (("ann",), ("bob",), ("mia", "--role", "manager"), ("root", "--role", "admin")):
        argot("user", "add", name, "--password", *more, "--home", home, typed=f"{GOOD}\n")
    with Site(home) as server:
        yield server
    log = "".join(server.said)
    assert "Traceback" not in log, log


@pytest.fixture
async def ann(site: Site) -> AsyncIterator[httpx.AsyncClient]:
    async with site.person("ann") as client:
        yield client


@pytest.fixture
async def bob(site: Site) -> AsyncIterator[httpx.AsyncClient]:
    async with site.person("bob") as client:
        yield client


class Window:
    """A real Socket.IO client, as the page has one, and the events it received."""

    def __init__(self, site: Site, client: httpx.AsyncClient) -> None:
        self.site, self.proof = site, site.proof(client)
        self.client = socketio.AsyncClient(reconnection=False)
        self.heard: list[tuple[str, Any]] = []
        self.news = asyncio.Condition()
        self.client.on("*", self._hear)

    async def _hear(self, event: str, *data: Any) -> None:
        async with self.news:
            self.heard.append((event, data[0] if data else None))
            self.news.notify_all()

    async def open(self, session: Any, transports: tuple[str, ...] = ("websocket",), **more: Any) -> None:
        """Open the session and wait until it has begun; raise an error if it is refused."""
        auth = {**OPENED, "sessionId": session, **more}
        path = "/ws/socket.io"
        await self.client.connect(
            self.site.url, self.proof, auth, list(transports), socketio_path=path, wait_timeout=PATIENCE
        )
        await self.client.emit("connection_successful")
        await self.until("task_end")

    async def until(self, event: str, holding: str = "") -> Any:
        """Return the first event of this name that contains this text, even if it has already arrived."""
        async with asyncio.timeout(PATIENCE), self.news:
            while True:
                for name, data in self.heard:
                    if name == event and holding in json.dumps(data):
                        return data
                await self.news.wait()

    async def ask(self, question: str, **more: Any) -> str:
        """Ask a question, wait for its answer, and return the id of the question's message."""
        id_ = str(uuid4())
        await self.client.emit("client_message", {"message": {"id": id_, "output": question, **more}})
        await self.until("action", '"tool-')
        return id_


@asynccontextmanager
async def window(site: Site, client: httpx.AsyncClient, session: Any = None, **more: Any) -> AsyncIterator[Window]:
    one = Window(site, client)
    try:
        await one.open(str(uuid4()) if session is None else session, **more)
        yield one
    finally:
        await one.client.disconnect()


@asynccontextmanager
async def raw(site: Site, client: httpx.AsyncClient, query: str = "EIO=4&transport=websocket") -> AsyncIterator[Any]:
    """Open a bare socket, without the checks of a client."""
    proof = site.proof(client)
    headers = {"Cookie": proof["Cookie"]}
    async with websockets.connect(
        f"{site.socket}?{query}", additional_headers=headers, origin=websockets.Origin(site.url)
    ) as socket:
        yield socket


async def begun(socket: ClientConnection, session: str) -> None:
    assert str(await socket.recv()).startswith("0")
    await socket.send("40" + json.dumps({**OPENED, "sessionId": session}))
    assert str(await socket.recv()).startswith("40")


async def said_to(socket: ClientConnection, holding: str) -> None:
    while holding not in str(await asyncio.wait_for(socket.recv(), PATIENCE)):
        continue


async def refused(site: Site, client: httpx.AsyncClient, session: Any) -> bool:
    """Tell whether a session of this id is refused. One that begins is ended, with everything Chainlit then does."""
    async with raw(site, client) as socket:
        assert str(await socket.recv()).startswith("0")
        await socket.send("40" + json.dumps({**OPENED, "sessionId": session}))
        try:
            begun = str(await asyncio.wait_for(socket.recv(), PATIENCE)).startswith("40")
        except websockets.ConnectionClosed as closed:
            return closed.rcvd is not None and closed.rcvd.code == 1008
        if begun:
            await socket.send('42["clear_session"]')
            await socket.send('42["connection_successful"]')
            await said_to(socket, "task_end")
        await socket.send("41")
        return not begun


# -- session ids that are paths --------------------------------------------------------------------------------------


PATHS = (
    "..", "../..", "../public", "../../kb", ".", "", "/", "a/b", "%2e%2e", "..\\..", "\0", "x" * 5000, "public",
    "00000000-0000-4000-8000-000000000000/../../public", "00000000-0000-4000-8000-00000000000A ",
    "00000000-0000-4000-8000-000000000000\n", "{00000000-0000-4000-8000-000000000000}",
    None, 0, True, [], ["a"], {}, {"a": 1},
)  # fmt: skip


async def test_a_session_named_as_a_path_removes_nothing(site: Site, ann: httpx.AsyncClient) -> None:
    """Check it because Chainlit joins the id to its folder of files, and removes that folder with the session."""
    mine = site.home.parent / "of others"
    mine.mkdir(exist_ok=True)
    (mine / "kept.txt").write_text("kept")
    before = sorted(path for path in site.home.rglob("*") if path.is_dir())
    for path in (str(mine), str(site.home), "../../../of others", *PATHS):
        assert await refused(site, ann, path), path
    assert (mine / "kept.txt").read_text() == "kept"
    assert sorted(path for path in site.home.rglob("*") if path.is_dir()) == before


async def test_a_session_begins_and_ends_with_its_own_files(site: Site, ann: httpx.AsyncClient) -> None:
    session = str(uuid4())
    files = site.home / "chat" / ".files"
    async with window(site, ann, session) as one:
        put = await ann.post(
            "/project/file", params={"session_id": session}, files={"file": ("a.md", b"# A", "text/html")}
        )
        assert put.status_code == 200
        assert [path.name for path in (files / session).iterdir()] == [f"{put.json()['id']}.bin"]
        await one.client.emit("clear_session")
        one.heard.clear()
        await one.client.emit("connection_successful")
        await one.until("task_end")
    async with asyncio.timeout(PATIENCE):
        while (files / session).exists():  # noqa: ASYNC110  another process removes it
            await asyncio.sleep(0.01)


def test_a_sessions_folder_lies_within_chainlits_folder(tmp_path: Path) -> None:
    base, elsewhere, session = tmp_path / ".files", tmp_path / "kb", str(uuid4())
    base.mkdir()
    elsewhere.mkdir()
    assert find_session_folder(base, session) == base / session
    for path in (str(elsewhere), *PATHS):
        with pytest.raises(NotAllowed):
            find_session_folder(base, path)
    (base / session).symlink_to(elsewhere)
    with pytest.raises(NotAllowed, match="leads elsewhere"):
        find_session_folder(base, session)


# -- sessions of other people ----------------------------------------------------------------------------------------


async def test_the_session_id_of_another_persons_window_is_refused(
    site: Site, ann: httpx.AsyncClient, bob: httpx.AsyncClient
) -> None:
    session = str(uuid4())
    async with window(site, ann, session) as hers:
        assert await refused(site, bob, session)
        put = await bob.post("/project/file", params={"session_id": session}, files={"file": ("a.md", b"# A")})
        assert put.status_code in {401, 404}
        await hers.ask("What is the WL voltage during a read?")  # her session still works


# -- frames and events -----------------------------------------------------------------------------------------------


FRAMES = (
    "", "4", "49", "42", "42[]", "42{}", "42null", "42[1]", "42[[]]", "42[null]", '42["nothing"]', '42["connect"]',
    '42["connect",{"HTTP_COOKIE":"x"},{"sessionId":"../x"}]', '42["disconnect"]', '42["*"]', '42["client_message"]',
    '42["client_message",null]', '42["client_message",{"message":null}]', '42["client_message",{"message":{"id":"x"}}]',
    '42["client_message",{"message":{"id":"../x","output":"a"}}]', '42["client_message",[]]', '42["client_message",7]',
    '42["client_message",{"message":{"id":"c0ffee00-0000-4000-8000-000000000000","output":["a"]}}]',
    '42["client_message",{"message":{"id":"c0ffee00-0000-4000-8000-000000000000","output":"a"},"fileReferences":7}]',
    '42["client_message",{"message":{"id":"c0ffee00-0000-4000-8000-000000000000","output":"a"},"fileReferences":[{}]}]',
    '42["client_message",{"message":{"id":"c0ffee00-0000-4000-8000-000000000000","output":"a"},"fileReferences":[{"id":[]}]}]',
    '42["chat_settings_change",7]', '42["chat_settings_change",{"profile":{}}]',
    '42["chat_settings_change",{"tags":"a"}]',
    '42["window_message",7]', '42["window_message",{"open":{}}]', '42["edit_message",{}]', '42["message_favorite",{}]',
    '42["audio_start"]', '42["audio_chunk",{}]', '42["audio_end"]', '42["fetch_favorites"]', '42["chat_settings_edit"]',
    '4212["stop"]', '421["nothing"]', '43[]', '431[]', '44{"a":1}', '451-["a",{"_placeholder":true,"num":0}]', "46",
    '459999999999-["a"]', '42/admin,["stop"]', "40/admin,", '40/,{"sessionId":"../x"}', '40{"sessionId":"../x"}', "40",
    "2", "2probe", "5", "6", "9", "b4AAAA", "\ud7ff", '42["client_message",' + "[" * 100_000, "42[" + "9" * 5000 + "]",
    '42["stop"', '4\u0662["stop"]', " 42", '41/admin,',
)  # fmt: skip
"""What no window of ours sends, or sends and nothing needs."""


async def test_invalid_events_are_dropped_with_at_most_one_log_line(site: Site, ann: httpx.AsyncClient) -> None:
    said = len(site.said)
    async with raw(site, ann) as socket:
        await begun(socket, str(uuid4()))
        for frame in FRAMES:
            await socket.send(frame)
        await socket.send(b"\x00\x01")
        await socket.send('42["connection_successful"]')  # the session still answers
        await said_to(socket, "task_end")
    assert len(await asyncio.to_thread(site.wait_for_lines, "'ann' sent the chat window", said)) == 1
    assert "Traceback" not in "".join(site.said[said:])


async def test_nothing_is_accepted_before_the_session_has_begun(site: Site, ann: httpx.AsyncClient) -> None:
    async with raw(site, ann) as socket:
        assert str(await socket.recv()).startswith("0")
        for frame in ('42["connection_successful"]', '42["stop"]', "41"):
            await socket.send(frame)
        await socket.send("40")
        with pytest.raises(websockets.ConnectionClosed) as closed:
            await asyncio.wait_for(socket.recv(), PATIENCE)
        assert closed.value.rcvd and closed.value.rcvd.code == 1008


async def test_message_fields_that_no_window_sends_are_ignored(site: Site, ann: httpx.AsyncClient) -> None:
    """Check that a browser decides neither the author, nor the place, nor the kind of a message."""
    wrong = {"chatProfile": "%2e%2e", "clientType": "teams", "userEnv": "{", "threadId": "../../x"}
    async with window(site, ann, **wrong) as one:
        forged = {"name": "root", "type": "assistant_message", "parentId": "../x", "createdAt": 7, "isError": True}
        more = {"metadata": {"a": 1}, "command": "x", "modes": [], "language": "html", "threadId": "../x"}
        asked = await one.ask("What is the WL voltage during a read? \ud83d", **forged, **more)
        shown = await one.until("new_message", asked)
    kept = {name: shown[name] for name in ("name", "type", "parentId", "isError", "metadata", "command", "modes")}
    assert kept == {"name": "ann", "type": "user_message", "parentId": None, "isError": False, "metadata": {},
                    "command": None, "modes": None}  # fmt: skip
    assert re.fullmatch(r"t[0-9a-f]{16}", (await one.until("first_interaction"))["thread_id"])


@pytest.mark.parametrize(
    "query", ["EIO=4&transport=polling", "EIO=4", "", "EIO=4&transport=websocket&sid=x", "EIO=3&transport=websocket",
              "EIO=4&transport=websocket&transport=polling", "EIO=4&transport=websocket&j=1"],
)  # fmt: skip
async def test_other_transports_than_websocket_are_refused(site: Site, ann: httpx.AsyncClient, query: str) -> None:
    with pytest.raises((websockets.ConnectionClosed, websockets.InvalidHandshake)):
        async with raw(site, ann, query) as socket:
            await asyncio.wait_for(socket.recv(), PATIENCE)
    for method in ("GET", "POST", "OPTIONS"):
        answer = await ann.request(method, f"/ws/socket.io/?{query}", content="40")
        assert answer.status_code == 404


async def test_a_real_client_cannot_use_polling(site: Site, ann: httpx.AsyncClient) -> None:
    with pytest.raises((socketio.exceptions.ConnectionError, RuntimeError)):  # the client fails when it is refused
        await Window(site, ann).open(str(uuid4()), transports=("polling",))


@pytest.mark.parametrize("name", ["", "ann"])
async def test_a_socket_needs_a_session_and_its_own_origin(site: Site, name: str) -> None:
    async with site.person(name) as client:
        headers = {} if not name else {"Cookie": site.proof(client)["Cookie"]}
        origin = websockets.Origin(site.url if not name else "http://evil.example")
        with pytest.raises((websockets.ConnectionClosed, websockets.InvalidHandshake)):
            async with websockets.connect(
                f"{site.socket}?EIO=4&transport=websocket", additional_headers=headers, origin=origin
            ) as socket:
                await asyncio.wait_for(socket.recv(), PATIENCE)


def test_every_event_of_chainlit_is_known(tmp_path: Path) -> None:
    """Check that a new Chainlit release with another event is noticed."""
    script = "import json; from chainlit import server; print(json.dumps(sorted(server.sio.handlers['/'])))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=tmp_path, check=True)
    theirs = set(json.loads(done.stdout.splitlines()[-1]))
    assert theirs - {"connect", "disconnect"} == set(EVENTS) | IGNORED_EVENTS


async def test_the_number_of_windows_per_person_is_limited() -> None:
    ended = asyncio.Event()
    sent: list[Any] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await ended.wait()

    async def stays(who: Any, did: bool) -> bool:
        return True

    async def nothing() -> Any:
        return {"type": "websocket.connect"}

    async def send(message: Any) -> None:
        sent.append(message)

    connections = OpenConnections()
    who = Visitor("ann", "Ann", Principal("ann"), "", "password")
    serve = connections.serve_websocket(app, who, stays)
    scope = {"type": "websocket"}
    opened = [asyncio.create_task(serve(scope, nothing, send)) for _ in range(MAX_WINDOWS)]
    await asyncio.sleep(0)
    await serve(scope, nothing, send)
    assert [(one["type"], one["reason"]) for one in sent] == [("websocket.close", TOO_MANY_WINDOWS)]
    ended.set()
    await asyncio.gather(*opened)
    await serve(scope, nothing, send)
    assert len(sent) == 1


async def test_a_socket_that_begins_no_session_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chainlit_guard, "BEGIN_SECONDS", 0.01)
    sent: list[Any] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        assert (await receive())["type"] == "websocket.disconnect"

    async def silence() -> Any:
        await asyncio.Event().wait()

    async def send(message: Any) -> None:
        sent.append(message)

    who = Visitor("ann", "Ann", Principal("ann"), "", "password")
    socket = chainlit_guard.Socket(app, who)
    await socket({"type": "websocket", "query_string": b"EIO=4&transport=websocket"}, silence, send)
    assert [one["type"] for one in sent] == ["websocket.close"]


async def test_a_socket_offers_no_compression_and_refuses_large_frames(site: Site, ann: httpx.AsyncClient) -> None:
    async with raw(site, ann) as socket:
        assert socket.response.headers.get("Sec-WebSocket-Extensions") is None
        await begun(socket, str(uuid4()))
        with pytest.raises(websockets.ConnectionClosed):
            await socket.send('42["client_message",[' + "{}," * 2_000_000 + "{}]]")
            while True:
                await asyncio.wait_for(socket.recv(), PATIENCE)


# -- files -----------------------------------------------------------------------------------------------------------


async def test_an_uploaded_file_joins_the_conversation_of_its_window(site: Site, ann: httpx.AsyncClient) -> None:
    session = str(uuid4())
    async with window(site, ann, session) as one:
        at = {"params": {"session_id": session}}
        empty = await ann.post("/project/file", **at, files={"file": ("a.md", b"")})
        assert (empty.status_code, empty.json()["detail"]) == (400, "This file is empty.")
        put = await ann.post("/project/file", **at, files={"file": ("../annex.md", b"The annex has four doors.")})
        assert put.status_code == 200
        sent = {"message": {"id": str(uuid4()), "output": ""}, "fileReferences": [put.json()] * 2}
        await one.client.emit("client_message", sent)
        await one.until("new_message", "can now be asked about")
        one.heard.clear()
        sent["message"] = {"id": str(uuid4()), "output": ""}
        await one.client.emit("client_message", sent)  # it was taken, so it cannot be sent again
        await one.until("new_message", "Pick it again")


async def test_the_number_of_uploaded_but_unsent_files_is_limited(site: Site, bob: httpx.AsyncClient) -> None:
    statuses = []
    for _ in range(2):  # a second window does not allow more files
        session = str(uuid4())
        async with window(site, bob, session):
            at = {"params": {"session_id": session}}
            for number in range(MAX_WAITING_FILES // 2 + 1):
                put = await bob.post("/project/file", **at, files={"file": (f"{number}.md", b"The annex.")})
                statuses.append(put.status_code)
    assert statuses == [200] * MAX_WAITING_FILES + [413] * 2
    assert "waiting to be sent" in put.text


async def test_a_form_without_a_file_field_refuses_a_large_upload(site: Site, ann: httpx.AsyncClient) -> None:
    for path in ("/account/password", "/account/keys", "/sign-in", "/sign-out"):
        answer = await ann.post(path, files={"file": ("a", b"a" * 5_000_000)})
        assert answer.status_code == 413, path


# -- addresses -------------------------------------------------------------------------------------------------------


NOTHING = {"": 404, "ann": 404, "mia": 404, "root": 404}
SIGNED_IN = {"": 401, "ann": 200, "mia": 200, "root": 200}
ALL = {"": 200, "ann": 200, "mia": 200, "root": 200}
ID = "c0ffee00-0000-4000-8000-000000000000"
IN_SESSION = {"sessionId": ID}
VERDICTS: dict[str, tuple[dict[str, int], Any]] = {
    # Argot needs none of these, so they are closed to everybody.
    "GET /openapi.json": (NOTHING, None),
    "HEAD /openapi.json": (NOTHING, None),
    "GET /docs": (NOTHING, None),
    "HEAD /docs": (NOTHING, None),
    "GET /docs/oauth2-redirect": (NOTHING, None),
    "HEAD /docs/oauth2-redirect": (NOTHING, None),
    "GET /redoc": (NOTHING, None),
    "HEAD /redoc": (NOTHING, None),
    "GET /copilot/{filename:path}": (NOTHING, None),
    "POST /login": (NOTHING, {"username": "root", "password": GOOD}),
    "POST /auth/jwt": (NOTHING, {}),
    "POST /auth/header": (NOTHING, {}),
    "GET /auth/oauth/{provider_id}": (NOTHING, None),
    "GET /auth/oauth/{provider_id}/callback": (NOTHING, None),
    "POST /auth/oauth/azure-ad-hybrid/callback": (NOTHING, {}),
    "GET /project/share/{thread_id}": (NOTHING, None),
    "PUT /project/thread/share": (NOTHING, {"threadId": "x", "isShared": True}),
    "GET /project/thread/{thread_id}/element/{element_id}": (NOTHING, None),
    "PUT /project/element": (NOTHING, {**IN_SESSION, "element": {"type": "custom"}}),
    "DELETE /project/element": (NOTHING, {**IN_SESSION, "element": {"type": "custom"}}),
    # Argot's own address: a signed-in page needs its token.
    "POST /mcp": ({"": 401, "ann": 403, "mia": 403, "root": 403}, {}),
    "DELETE /mcp": ({"": 405, "ann": 405, "mia": 405, "root": 405}, {**IN_SESSION, "name": "x"}),
    "GET /project/file/{file_id}": (NOTHING, None),
    # The page and its assets, which are not secret.
    "GET /public/{filename:path}": (NOTHING, None),
    "GET /assets/{filename:path}": (NOTHING, None),
    "GET /favicon": (ALL, None),
    "GET /logo": (ALL, None),
    "GET /avatars/{avatar_id:str}": (ALL, None),
    "GET /auth/config": (ALL, None),
    "GET /project/translations": (ALL, None),
    "HEAD /": (ALL, None),
    "GET /health": (ALL, None),
    "GET /{full_path:path}": ({**NOTHING, "": 401}, None),  # only the paths of the window, see below
    # A person's own data, when signed in.
    "GET /user": (SIGNED_IN, None),
    "GET /project/settings": (SIGNED_IN, None),
    "POST /project/threads": (SIGNED_IN, {"pagination": {"first": 5}, "filter": {"userId": "root"}}),
    "GET /project/thread/{thread_id}": ({**NOTHING, "": 401}, None),
    "PUT /project/thread": ({**NOTHING, "": 401}, {"threadId": "x", "name": "x"}),
    "DELETE /project/thread": ({**NOTHING, "": 401}, {"threadId": "x"}),
    "PUT /feedback": ({**NOTHING, "": 401}, {"feedback": {"forId": "x.1", "value": 1}, **IN_SESSION}),
    "DELETE /feedback": ({**NOTHING, "": 401}, {"feedbackId": "x.1"}),
    "POST /set-session-cookie": (SIGNED_IN, {"session_id": ID}),
    "POST /project/action": ({**NOTHING, "": 401}, {**IN_SESSION, "action": {"name": "x", "payload": {}, "id": "x"}}),
    "POST /project/file": ({"": 401, "ann": 422, "mia": 422, "root": 422}, {}),
    "POST /logout": ({"": 200}, {}),
    "WEBSOCKET /ws/socket.io": ({}, None),  # see the tests above
}
"""Every address of Chainlit: what it answers to nobody, an asker, a manager and an administrator, given this body."""


def test_every_address_of_chainlit_has_a_declared_verdict(tmp_path: Path) -> None:
    script = (
        "import json\nfrom chainlit import server\nfrom fastapi.routing import iter_route_contexts\n"
        "print(json.dumps([f'{m} {r.path}' for r in iter_route_contexts(server.app.routes)"
        " for m in sorted(getattr(r, 'methods', None) or ['WEBSOCKET'])]))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=tmp_path, check=True)
    assert set(json.loads(done.stdout.splitlines()[-1])) == VERDICTS.keys()


@pytest.mark.parametrize("name", VERDICTS)
async def test_the_verdict_holds_for_every_user(site: Site, name: str) -> None:
    statuses, body = VERDICTS[name]
    method, path = name.split()
    path = re.sub(r"\{.*?\}", "x", path)
    for who, status in statuses.items():
        async with site.person(who) as client:
            answer = await client.request(method, path, json=body)
        assert answer.status_code == status, (name, who, answer.text)
        assert "set-cookie" not in answer.headers or name == "POST /logout"
        assert answer.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize("path", ["/", "/thread", "/thread/x", "/thread/x/", "/element/x", "/share/x", "/env"])
async def test_the_window_is_shown_at_its_own_paths(ann: httpx.AsyncClient, path: str) -> None:
    answer = await ann.get(path, headers={"accept": "text/html"})
    assert answer.status_code == 200 and "/public/argot" in answer.text


@pytest.mark.parametrize("path", ["/sources", "/glossary/missed", "/thread/x/y", "/threads", "//thread"])
async def test_a_misspelt_address_leads_to_the_pages_that_exist(site: Site, path: str) -> None:
    for who, pages in (("ann", {"/", "/library", "/terms"}), ("mia", {"/", "/terms", "/documents", "/glossary"})):
        async with site.person(who) as client:
            answer = await client.get(site.url + path, headers={"accept": "text/html", "accept-language": "de"})
        assert answer.status_code == 404 and "Unter dieser Adresse gibt es keine Seite." in answer.text
        links = set(re.findall(r'<a href="([^"]+)"', answer.text))
        assert pages <= links and ("/administration" not in links) and (who == "mia" or "/documents" not in links)


TRICKS = (
    "..%2f..%2fpeople.db", "%2e%2e/%2e%2e/people.db", "..%5c..%5cpeople.db", "%2fetc%2fpasswd", "//etc/passwd",
    "argot.js%00.svg", "%00", "argot.js%2f..%2f..%2fsecret", "theme.json", "help/en.md", "avatars/argot.svg",
    "elements/x.jsx", "..%2f.files", "..%2fsecret", "x" * 5000, "%ff%fe", "..;/secret", "*", "argot.*", "index.html",
)  # fmt: skip


@pytest.mark.parametrize("trick", TRICKS)
async def test_only_shipped_files_are_served(site: Site, ann: httpx.AsyncClient, trick: str) -> None:
    secret = (site.home / "chat" / "secret").read_text().strip()
    for where in ("/public/", "/assets/"):
        answer = await ann.get(httpx.URL(site.url + where + trick))
        assert answer.status_code == 404 and secret not in answer.text
    for where in ("/avatars/", "/logo?theme=", "/favicon?theme=", "/project/translations?language=", "/project/file/"):
        answer = await ann.get(httpx.URL(site.url + where + trick))
        shown = answer.headers["content-type"].startswith(("image/svg+xml", "text/html")) and "Argot" in answer.text
        assert shown or answer.status_code in {404, 422} or where.startswith("/project/t")
        assert secret not in answer.text and "root:" not in answer.text


async def test_files_in_chainlits_folders_are_not_served(site: Site, ann: httpx.AsyncClient) -> None:
    """Check it whatever may be written there: Argot's pages consist of installed files only."""
    public = site.home / "chat" / "public"
    (public / "evil.html").write_text("<script>1</script>")
    (public / "argot.js").write_text("evil()")
    (public / "avatars").mkdir(exist_ok=True)
    (public / "avatars" / "mia.html").write_text("<script>1</script>")
    (public / "secret.css").symlink_to(site.home / "chat" / "secret")
    for name in ("evil.html", "secret.css", "avatars/mia.html"):
        assert (await ann.get(f"/public/{name}")).status_code == 404
    assert "evil" not in (await ann.get("/public/argot.js")).text
    assert (await ann.get("/avatars/mia")).headers["content-type"] == "image/svg+xml"
    for name, kind in (("argot.js", "text/javascript"), ("door.css", "text/css"), ("logo_dark.svg", "image/svg+xml")):
        answer = await ann.get(f"/public/{name}")
        assert answer.status_code == 200 and answer.headers["content-type"].startswith(kind)


async def test_feedback_and_buttons_work_in_ones_own_window_only(
    site: Site, ann: httpx.AsyncClient, bob: httpx.AsyncClient
) -> None:
    session = str(uuid4())
    async with window(site, ann, session) as one:
        await one.ask("What is the WL voltage during a read?")
        thread = (await one.until("first_interaction"))["thread_id"]
        thumb = {"feedback": {"forId": f"{thread}.0", "value": 1, "comment": "x"}, "sessionId": session}
        button = {"sessionId": session, "action": {"name": EXPORT, "payload": {}, "id": "x"}}
        for method, path, body in (
            ("PUT", "/feedback", thumb), ("DELETE", "/feedback", {"feedbackId": f"{thread}.0"}),
            ("PUT", "/project/thread", {"threadId": thread, "name": "bob's"}),
            ("GET", f"/project/thread/{thread}", None), ("DELETE", "/project/thread", {"threadId": thread}),
            ("POST", "/project/action", button),
        ):  # fmt: skip
            refused = await bob.request(method, path, json=body)
            assert refused.status_code == 404 and refused.json()["detail"], path
        assert thread not in (await bob.post("/project/threads", json={"pagination": {"first": 50}, "filter": {}})).text
        assert (await ann.put("/feedback", json=thumb)).json() == {"success": True, "feedbackId": f"{thread}.0"}
        assert (await ann.request("DELETE", "/feedback", json={"feedbackId": f"{thread}.0"})).status_code == 200
        offered = [data for event, data in one.heard if event == "action" and data["name"] == EXPORT]
        pressed = await ann.post("/project/action", json={"sessionId": session, "action": offered[-1]})
        assert pressed.status_code == 200
        await one.until("new_message", "/export.")


JSON = {"Content-Type": "application/json"}
ODD = (
    None, 0, -1, 10**30, 1.5, True, "", "x" * 100_000, "\ud83d", "\0", "../..", "\u00b2", "9" * 5000, [], ["x"], {},
)  # fmt: skip


async def test_no_request_body_breaks_an_address(site: Site, ann: httpx.AsyncClient) -> None:
    session = str(uuid4())
    async with window(site, ann, session) as one:
        await one.ask("What is the WL voltage during a read?")
        thread = (await one.until("first_interaction"))["thread_id"]
        action = next(data for event, data in one.heard if event == "action")
        for odd in ODD:
            bodies: list[tuple[str, str, Any]] = [
                ("PUT", "/feedback", {"feedback": {"forId": odd, "value": 1}, "sessionId": session}),
                ("PUT", "/feedback", {"feedback": {"forId": f"{thread}.0", "value": odd, "comment": odd}}),
                ("PUT", "/feedback", {"feedback": odd}),
                ("DELETE", "/feedback", {"feedbackId": odd}),
                ("DELETE", "/feedback", {"feedbackId": f"{thread}.{odd}"}),
                ("POST", "/project/threads", {"pagination": {"first": 5, "cursor": odd}, "filter": {"search": odd}}),
                ("POST", "/project/threads", {"pagination": {"first": odd}, "filter": {}}),
                ("PUT", "/project/thread", {"threadId": odd, "name": "x"}),
                ("PUT", "/project/thread", {"threadId": thread, "name": odd}),
                ("DELETE", "/project/thread", {"threadId": odd}),
                ("POST", "/set-session-cookie", {"session_id": odd}),
                ("POST", "/project/action", {"sessionId": odd, "action": action}),
                ("POST", "/project/action", {"sessionId": session, "action": odd}),
                ("POST", "/project/action", {"sessionId": session, "action": {**action, "name": odd}}),
                ("POST", "/project/action", {"sessionId": session, "action": {**action, "forId": odd, "id": odd}}),
                *(
                    ("POST", "/project/action", {"sessionId": session, "action": {
                        **action, "name": name, "payload": dict.fromkeys(("turn", "term", "sense", "choice"), odd)}})
                    for name in (CHOOSE_ACTION, ASK_INSTEAD, SENSE, REPORT, SHARE, EXPORT)
                ),
                ("POST", "/project/file", odd),
            ]  # fmt: skip
            for method, path, body in bodies:
                answer = await ann.request(method, path, content=json.dumps(body), headers=JSON)
                assert answer.status_code < 500, (method, path, body)
        for path in ("/feedback", "/project/action", "/project/threads", "/project/thread"):
            large = await ann.request("PUT", path, content=b'{"a": "' + b"x" * 2_000_000)
            assert large.status_code in {404, 405, 413}, path


SCRIPT = "document.documentElement.dataset.ran = 1; try { parent.document.title = 'ran' } catch (error) {}"
ACTIVE = {
    "evil.html": ("text/html", f"<!doctype html><title>x</title><script>{SCRIPT}</script>"),
    "evil.xhtml": ("application/xhtml+xml", f'<html xmlns="http://www.w3.org/1999/xhtml"><script>{SCRIPT}</script></html>'),
    "evil.svg": ("image/svg+xml", f'<svg xmlns="http://www.w3.org/2000/svg"><script>{SCRIPT}</script></svg>'),
    "evil.xml": ("text/xml", f'<x xmlns:h="http://www.w3.org/1999/xhtml"><h:script>{SCRIPT}</h:script></x>'),
    "evil.js": ("text/javascript", SCRIPT),
    "evil.css": ("text/css", "html { background: url(http://tracker.example/x) }"),
    "evil.mhtml": ("multipart/related", f"MIME-Version: 1.0\nContent-Type: text/html\n\n<script>{SCRIPT}</script>"),
    "evil.swf": ("application/x-shockwave-flash", "FWS"),
    "evil.wasm": ("application/wasm", "\0asm\1\0\0\0"),
    "evil.pdf": ("application/pdf", "%PDF-1.4\n1 0 obj<</OpenAction<</S/JavaScript/JS(app.alert(1))>>>>endobj"),
}  # fmt: skip


def _upload_all(site: Site, session: str) -> dict[str, str]:
    async def upload() -> dict[str, str]:
        async with site.person("ann") as client:
            one = Window(site, client)
            await one.open(session)
            ids = {}
            for name, (kind, text) in ACTIVE.items():
                file = {"file": (name, text.encode(), kind)}
                put = await client.post("/project/file", params={"session_id": session}, files=file)
                assert put.status_code == 200, name
                ids[name] = put.json()["id"]
            await one.client.disconnect()  # the session waits for its window to reconnect
            return ids

    return asyncio.run(upload())


@pytest.mark.browser
def test_no_uploaded_content_runs_in_the_browser(chromium: Any, site: Site) -> None:
    """Check files that an administrator opens at any address, and that one of Argot's pages names as a script."""
    session = str(uuid4())
    with ThreadPoolExecutor(1) as thread:  # in a thread, because Playwright runs an event loop in this one
        ids = thread.submit(_upload_all, site, session).result()
    context = chromium.new_context()
    context.add_cookies(site.jar("root"))
    page = context.new_page()
    page.set_default_timeout(1000 * PATIENCE)
    for name, id_ in ids.items():
        folder = f"{site.home.name}/chat/.files/{session}"
        for path in (
            f"/project/file/{id_}?session_id={session}", f"/public/{id_}.bin", f"/public/{name}",
            f"/public/..%2f.files%2f{session}%2f{id_}.bin", f"/assets/..%2f..%2f.files%2f{session}%2f{id_}.bin",
            f"/copilot/..%2f{folder}",
        ):  # fmt: skip
            answer = page.goto(f"{site.url}{path}")
            assert answer.status == 404, path
            assert page.evaluate("document.documentElement.dataset.ran") is None
    page.goto(f"{site.url}/account")
    for address in (f"/project/file/{ids['evil.js']}?session_id={session}", "/account/data", "data:text/javascript,1"):
        blocked = "(src) => new Promise((done) => { const one = document.createElement('script'); one.src = src;"
        blocked += " one.onload = () => done('ran'); one.onerror = () => done('blocked'); document.body.append(one); })"
        assert page.evaluate(blocked, address) == "blocked", address
    context.close()


@pytest.mark.browser
def test_the_original_of_a_document_is_downloaded_and_never_opened(chromium: Any, site: Site) -> None:
    upload = {"file": ("evil.html", ACTIVE["evil.html"][1].replace("<script>", "Four doors.<script>"), "text/html")}
    headers = {"Origin": site.url}
    with httpx.Client(base_url=site.url, cookies=site.cookies["root"], headers=headers, timeout=PATIENCE) as root:
        token = re.search(r'name="csrf" value="(\w+)"', root.get("/account").text)
        assert token
        put = root.post("/api/documents", files=upload, headers={"X-CSRF-Token": token[1]})
        assert put.status_code == 201, put.text
        path = f"/api/documents/{put.json()['document']['id']}/original"
        given = root.get(path)
        assert given.headers["content-disposition"].startswith("attachment")
        assert (
            "sandbox" in given.headers["content-security-policy"]
            and given.headers["x-content-type-options"] == "nosniff"
        )
        for other in ("/account/data", "/glossary/files/export?format=csv"):
            saved = root.get(other)
            assert saved.headers["content-disposition"].startswith("attachment"), other
            assert saved.headers["content-security-policy"] == INERT_POLICY, other
    context = chromium.new_context(accept_downloads=True)
    context.add_cookies(
        [{"name": name, "value": value, "url": site.url} for name, value in site.cookies["root"].items()]
    )
    page = context.new_page()
    page.goto(f"{site.url}/account")
    with page.expect_download(timeout=1000 * PATIENCE):
        page.evaluate("(path) => { window.location.href = path }", path)
    assert page.url.endswith("/account")
    context.close()
