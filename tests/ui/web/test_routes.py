"""Tests of every address of the real application for every role: only declared roles pass, others are refused.

The application runs in its own process, because Chainlit can be set up only once in a process.
"""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from fastapi import Depends, FastAPI
from starlette.requests import Request
from starlette.testclient import TestClient

from argot.types import Principal
from argot.ui.web.authorization import (
    CSRF_HEADER,
    ENTRY_KEY,
    VISITOR_KEY,
    Addresses,
    Visitor,
    check_access,
    get_visitor,
    needs,
    refuse_forgery,
)
from argot.ui.web.chainlit_guard import ROUTES

OPEN = {
    "GET /health", "HEAD /health", "GET /ready", "HEAD /ready", "GET /sign-in", "POST /sign-in", "GET /login",
    "POST /logout", "POST /sign-out", "POST /slack/events", "GET /api/openapi.json", "GET /glossary/static/{name}",
    "GET /public/{filename:path}", "GET /favicon", "GET /logo", "GET /avatars/{avatar_id:str}",
}  # fmt: skip
"""Of our own addresses, all that people may use without being signed in."""
OF_THE_WINDOW = {"GET /assets/{filename:path}", "GET /auth/config", "GET /project/translations", "HEAD /"}
CLOSED = {
    "GET /openapi.json", "HEAD /openapi.json", "GET /docs", "HEAD /docs", "GET /docs/oauth2-redirect",
    "HEAD /docs/oauth2-redirect", "GET /redoc", "HEAD /redoc", "GET /copilot/{filename:path}", "POST /login",
    "POST /auth/jwt", "POST /auth/header", "GET /auth/oauth/{provider_id}", "GET /auth/oauth/{provider_id}/callback",
    "POST /auth/oauth/azure-ad-hybrid/callback", "GET /project/share/{thread_id}", "PUT /project/element",
    "DELETE /project/element", "PUT /project/thread/share", "DELETE /mcp", "GET /project/file/{file_id}",
    "GET /project/thread/{thread_id}/element/{element_id}",
}  # fmt: skip
"""Of Chainlit's addresses, those that nobody may use."""
ANSWERED_HERE = {
    "GET /public/{filename:path}", "GET /favicon", "GET /logo", "GET /avatars/{avatar_id:str}", "POST /logout",
    "GET /health", "POST /set-session-cookie", "PUT /feedback", "DELETE /feedback", "POST /project/action",
    "POST /project/file", "POST /mcp",
}  # fmt: skip
"""Those that are closed too, and behind ours of the same name."""
RANKS = {"anonymous": -1, "suspended": -1, "asker": 0, "manager of one context": 1, "manager": 1, "admin": 2}
SCRIPT = """
import asyncio, json, sys
from pathlib import Path
import httpx
from argot.service.knowledge_base import KnowledgeBase
from argot.settings import Settings
from argot.ui.server import build_app

async def main(home):
    async with KnowledgeBase.open(home, Settings(home=home)) as kb:
        people, tokens = kb.people, {"anonymous": ""}
        for name in ("asker", "manager of one context", "manager", "admin", "suspended"):
            people.add(name)
        people.set_role("manager of one context", "manager", ["NAND"])
        people.set_role("manager", "manager")
        people.set_role("admin", "admin")
        people.set_password("asker", "tilted copper llama 9")
        people.suspend("suspended")
        tokens |= {user.name: people.sessions.begin(user.name) for user in people.users()}
        guard = build_app(kb, "127.0.0.1", 8000)
        real, passed = guard.app, []
        async def stub(scope, receive, send):
            passed.append(scope["argot.entry"].name)
            await send({"type": "http.response.start", "status": 299, "headers": []})
            await send({"type": "http.response.body", "body": b""})
        transport = httpx.ASGITransport(guard, raise_app_exceptions=False)
        found = {"entries": [[e.name, e.access, e.own] for e in guard.addresses.entries], "pairs": {}, "real": {}}
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost:8000") as client:
            for entry in guard.addresses.entries:
                if entry.method == "WEBSOCKET":
                    continue
                head, brace, rest = entry.path.partition("{")
                path = head + ("x" + rest.partition("}")[2] if brace else "")
                for name, token in tokens.items():
                    headers = {"Origin": "http://localhost:8000", "Cookie": f"{guard.authenticator.cookie}={token}"}
                    guard.app = stub
                    answer = await client.request(entry.method, path, headers=headers)
                    where = passed.pop() if answer.status_code == 299 else answer.status_code
                    found["pairs"][f"{entry.name} by {name}"] = where
                    if name == "anonymous" or not token:
                        continue
                    guard.app = real
                    answer = await client.request(entry.method, path, headers=headers, json={})
                    found["real"][f"{entry.name} by {name}"] = answer.status_code
                    if entry.path in ("/sign-out", "/logout", "/account/sign-out-everywhere"):
                        tokens[name] = people.sessions.begin(name) if name != "suspended" else token
    print(json.dumps(found))

asyncio.run(main(Path(sys.argv[1])))
"""


@pytest.fixture(scope="module")
def walked(tiny_home: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("routes")
    home = shutil.copytree(tiny_home, folder / "kb")
    command = [sys.executable, "-c", SCRIPT, str(home)]
    done = subprocess.run(command, check=False, capture_output=True, text=True, cwd=folder)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def test_every_address_of_argot_declares_its_role(walked: dict[str, Any]) -> None:
    assert [name for name, access, own in walked["entries"] if own and access is None] == []
    assert {name for name, access, own in walked["entries"] if own and access == "anonymous"} == OPEN


def test_every_address_of_chainlit_is_declared_or_known_to_be_closed(walked: dict[str, Any]) -> None:
    """Check that a new Chainlit release with another route is noticed."""
    theirs = {name: access for name, access, own in walked["entries"] if not own}
    assert {name for name, access in theirs.items() if access is None} == CLOSED | ANSWERED_HERE
    assert {name for name, _, own in walked["entries"] if own} >= ANSWERED_HERE
    assert {name for name, access in theirs.items() if access == "anonymous"} == OF_THE_WINDOW
    assert theirs["WEBSOCKET /ws/socket.io/{rest:path}"] == "asker"
    assert {name for name in ROUTES if not name.startswith("WEBSOCKET")} <= theirs.keys()


def test_only_declared_roles_reach_an_address(walked: dict[str, Any]) -> None:
    first: dict[str, bool] = {}
    wrong = {}
    for name, access, own in walked["entries"]:
        if name.startswith("WEBSOCKET"):
            continue
        behind = not own and first.get(name, False)
        first[name] = first.get(name, False) or own
        for who, rank in RANKS.items():
            got = walked["pairs"][f"{name} by {who}"]
            needed = {"anonymous": -1, "asker": 0, "manager": 1, "admin": 2, None: 9}[access]
            if not behind and (got == name) != (rank >= needed):
                wrong[f"{name} by {who}"] = got
    assert wrong == {}


def test_no_address_fails_for_any_role(walked: dict[str, Any]) -> None:
    assert {pair: status for pair, status in walked["real"].items() if status >= 500} == {}
    assert walked["real"]["GET /user by asker"] == 200
    assert walked["real"]["GET /account by admin"] == 200


# -- declaring roles -------------------------------------------------------------------------------------------------


def _application() -> FastAPI:
    app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None, dependencies=[Depends(refuse_forgery)])

    @app.get("/forgotten")
    async def forgotten() -> str:
        return "reached"

    @app.post("/terms")
    @needs("manager")
    async def save(request: Request) -> dict[str, str]:
        form = await request.form()
        return {"name": get_visitor(request).name, "term": str(form.get("term"))}

    return app


class _Let:
    """The application behind a guard that lets everybody in as this visitor."""

    def __init__(self, app: FastAPI, who: Visitor) -> None:
        self.app, self.who, self.addresses = app, who, Addresses.of(app)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            scope = {**scope, VISITOR_KEY: self.who, ENTRY_KEY: self.addresses.find(scope)}
        await self.app(scope, receive, send)


LEO = Visitor("leo", "Leo", Principal("leo", manages=frozenset({"Legal"})), "right", "password", "s1")


def test_an_address_without_a_declared_role_is_refused_to_everybody() -> None:
    addresses = Addresses.of(_application())
    entry = addresses.find({"type": "http", "method": "GET", "path": "/forgotten"})
    admin = Visitor("root", "Root", Principal("root", sees_all=True), "right", "password", "s2")
    assert check_access(entry, admin) == (404, "There is nothing here.")
    assert check_access(addresses.find({"type": "http", "method": "GET", "path": "/nothing"}), admin)
    terms = addresses.find({"type": "http", "method": "POST", "path": "/terms"})
    assert check_access(terms, LEO) is None
    refused = check_access(terms, Visitor("ann", "Ann", Principal("ann"), "right", "password", "s3"))
    assert refused and refused[0] == 403 and "manager" in refused[1]


@pytest.mark.parametrize("multipart", [False, True])
def test_a_form_is_accepted_from_argots_own_page_only(multipart: bool) -> None:
    client = TestClient(_Let(_application(), LEO))
    files = {"file": b"x"} if multipart else None
    right = client.post("/terms", data={"csrf": "right", "term": "PUC"}, files=files)
    assert (right.status_code, right.json()) == (200, {"name": "leo", "term": "PUC"})
    for wrong in ({}, {"csrf": "wrong"}, {"csrf": ""}, {"csrf": "right\u00e9"}):
        form = {"term": "PUC", **wrong}
        assert client.post("/terms", data=form, files=files).status_code == 403


def test_a_script_sends_the_csrf_token_in_a_header() -> None:
    client = TestClient(_Let(_application(), LEO))
    assert client.post("/terms", data={"term": "PUC"}, headers={CSRF_HEADER: "right"}).status_code == 200
    assert client.post("/terms", json={"csrf": "right"}).status_code == 403
    assert client.post("/terms", data={"csrf": "right"}, headers={CSRF_HEADER: "wrong"}).status_code == 403
