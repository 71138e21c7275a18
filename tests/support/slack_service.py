"""Argot with a fake Slack in front, in this process: the routes behind the guard, and the workers behind them."""

import asyncio
import shutil
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import httpx
import pytest
from fake_slack import FakeSlack
from scripted_server import ScriptedServer

from argot.service.knowledge_base import KnowledgeBase
from argot.settings import Settings
from argot.slack.app import stream as stream_module
from argot.slack.app.lifecycle import Slack, slack
from argot.slack.store.slack_store import SlackStore
from argot.ui.server import build_application
from argot.ui.web.authentication import Authenticator
from argot.ui.web.authorization import Addresses
from argot.ui.web.host_names import HostNames
from argot.ui.web.security import Guard

WEB = "https://argot.example.com"
VOLTAGE = "What is the Word Line voltage during a read?"
ANSWER = "The Word Line voltage during a read is 4.5 V [1]."


class Service:
    """The service under test. `client` sends requests as Slack (or anybody) does."""

    def __init__(self, kb: KnowledgeBase, fake: FakeSlack, running: Slack, client: httpx.AsyncClient) -> None:
        self.kb, self.fake, self.running, self.client = kb, fake, running, client
        self._count = 0

    @property
    def store(self) -> Any:
        return SlackStore(self.kb.people.database)

    def channel(self, kind: str = "C") -> str:
        """Return a channel for one test."""
        self._count += 1
        return f"{kind}0TEST{self._count}"

    async def send(self, body: dict[str, Any], **more: Any) -> None:
        answer = await self.fake.send(self.client, body, **more)
        assert answer.status_code == 200, answer.text

    async def quiet(self) -> None:
        """Wait until everything received is processed."""
        async with asyncio.timeout(120):
            while self.running.inbox._running or self.running.listeners.tasks or await self.running.inbox.open():  # noqa: ASYNC110
                await asyncio.sleep(0.01)

    def rows(self, sql: str, *parameters: object) -> list[tuple[Any, ...]]:
        """Return rows of people.db."""
        with closing(sqlite3.connect(self.kb.home / "people.db")) as connection:
            return connection.execute(sql, parameters).fetchall()

    async def asked(self, text: str, **more: Any) -> list[dict[str, Any]]:
        """Send a message and return the answer: the new messages of its channel."""
        channel = more.setdefault("channel", self.channel())
        before = len(self.fake.said(channel))
        await self.send(self.fake.message(text, **more))
        await self.quiet()
        return self.fake.said(channel)[before:]

    async def act(self, body: dict[str, Any]) -> None:
        await self.send(body)
        await self.quiet()


@asynccontextmanager
async def served(home: Path, fake: FakeSlack, **settings: Any) -> AsyncIterator[Service]:
    """Serve Argot; answers are posted whole, however slow the machine is, unless a test streams them."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(stream_module, "FIRST_SECONDS", 600.0)
        async with _served(home, fake, **settings) as service:
            yield service


@asynccontextmanager
async def _served(home: Path, fake: FakeSlack, **settings: Any) -> AsyncIterator[Service]:
    made: Settings = fake.settings(home, public_url=WEB, **settings)
    async with KnowledgeBase.open(home, made) as kb, slack(kb) as running:
        assert running is not None
        authenticator = Authenticator(
            kb, port=8000, secluded=False, key=b"k" * 32, ticket=lambda: "", read_ticket=lambda _: None
        )
        app = build_application(kb, authenticator)
        guard = Guard(
            app,
            names=HostNames("127.0.0.1", 8000, secluded=False, public_url=WEB),
            page="",
            authenticator=authenticator,
            addresses=Addresses.of(app),
            inner=lambda who: "",
            refused=lambda status, reason, who: httpx.Response(status),  # type: ignore[arg-type, return-value]
        )
        transport = httpx.ASGITransport(guard, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url=WEB) as client:
            yield Service(kb, fake, running, client)
    assert fake.faults == [], "Slack would have refused this"


@asynccontextmanager
async def workspace(tiny_home: Path, folder: Path, **settings: Any) -> AsyncIterator[Service]:
    """Start a service on a copy of the small knowledge base, with a Slack of its own."""
    fake = await FakeSlack().start()
    try:
        async with served(copied(tiny_home, folder), fake, **settings) as service:
            yield service
    finally:
        await fake.close()


def answering(model: ScriptedServer) -> ScriptedServer:
    """Return a language model that answers `VOLTAGE` at once, unless a test changes that."""
    model.reset().reply("cited_answer", ANSWER)
    return model


def copied(tiny_home: Path, folder: Path) -> Path:
    return shutil.copytree(tiny_home, folder / "kb")


def words(message: dict[str, Any]) -> str:
    """Return all text in the blocks of a message."""
    texts = [block.get("text") for block in message["blocks"]]
    texts += [one for block in message["blocks"] for one in block.get("elements", ())]
    return "\n".join(one["text"] for one in texts if isinstance(one, dict) and isinstance(one.get("text"), str))


def labels(message: dict[str, Any]) -> list[str]:
    """Return the labels of a message's buttons."""
    found = [one for block in message["blocks"] for one in block.get("elements", ()) if one.get("type") == "button"]
    return [one["text"]["text"] for one in found]
