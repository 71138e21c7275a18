"""The real application and its guard in the test's own process, without the chat window, and programs that call it."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from argot.results import AskEvent
from argot.service.identity.people import People
from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases.questions.conversations import converse
from argot.service.usecases.questions.questions import ask
from argot.sqlite_database import SqliteStores
from argot.ui.server import build_application
from argot.ui.web.authentication import Authenticator
from argot.ui.web.authorization import Addresses
from argot.ui.web.host_names import HostNames
from argot.ui.web.page_templates import show_refusal
from argot.ui.web.security import Guard

PORT = 8123
URL = f"http://localhost:{PORT}"
VAULT = "How often is the vault combination rotated?"


def with_readers(tiny_home: Path, folder: Path) -> Path:
    """Copy the small knowledge base, in which ann asks questions and vera may also read the vault handbook."""
    home = Path(shutil.copytree(tiny_home, folder / "kb"))
    people = People(SqliteStores(home))
    people.add("ann")
    people.add("vera", ("vault",))
    people.close()
    return home


def answer_with(monkeypatch: pytest.MonkeyPatch, answering: Callable[..., AsyncIterator[AskEvent]]) -> None:
    """Let this function answer all questions of the API, after the checks of its use cases."""
    for case in (ask, converse):
        monkeypatch.setattr(case, "function", answering)


class Site:
    """A served knowledge base. Keys are created on request."""

    def __init__(self, kb: KnowledgeBase) -> None:
        self.kb = kb
        self.authenticator = Authenticator(
            kb,
            port=PORT,
            secluded=True,
            key=b"key",
            ticket=lambda: "signed",
            read_ticket=lambda token: "local" if token == "signed" else None,
        )
        app = build_application(kb, self.authenticator)
        self.guard = Guard(
            app,
            names=HostNames("127.0.0.1", PORT),
            page="",
            authenticator=self.authenticator,
            addresses=Addresses.of(app),
            inner=lambda who: who.name,
            refused=show_refusal,
        )

    def key(self, user: str = "ann") -> str:
        return self.kb.people.keys.make(user, "test")[1]

    @asynccontextmanager
    async def program(self, user: str | None = "ann", **headers: str) -> AsyncIterator[httpx.AsyncClient]:
        """Return a client with a key of this user; None: without a key."""
        given = {"Authorization": f"Bearer {self.key(user)}"} if user else {}
        transport = httpx.ASGITransport(self.guard, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url=URL, headers={**given, **headers}) as client:
            yield client


class Gone(Exception):
    """The program closed the connection."""


async def hang_up(site: Site, method: str, path: str, headers: dict[str, str], pieces: list[bytes]) -> list[Any]:
    """Send these pieces of a body, close the connection before it is complete, and return any answer."""
    waiting: Iterator[bytes] = iter(pieces)
    sent: list[Any] = []

    async def receive() -> Any:
        piece = next(waiting, None)
        if piece is None:
            return {"type": "http.disconnect"}
        return {"type": "http.request", "body": piece, "more_body": True}

    async def send(message: Any) -> None:
        sent.append(message)

    raw = [(b"host", f"localhost:{PORT}".encode()), *((k.lower().encode(), v.encode()) for k, v in headers.items())]
    scope = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": method, "path": path,
        "raw_path": path.encode(), "query_string": b"", "headers": raw, "client": ("127.0.0.1", 1), "scheme": "http",
        "server": ("localhost", PORT), "root_path": "",
    }  # fmt: skip
    await site.guard(scope, receive, send)
    return sent
