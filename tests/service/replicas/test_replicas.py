"""Tests of two services on one PostgreSQL and one Chroma server, which act as one service."""

import asyncio
import json
import re
import socket
import threading
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from chroma_server import ChromaRun
from postgresql_server import PostgresqlServer, end_connections
from reverse_proxies import INSTALLED, NAME, ORIGIN, front
from serving import PATIENCE, Served
from tiny_base import TINY_DOCUMENTS, TINY_SECRET
from websockets.sync.client import connect

from argot.service.identity.people import make_local_principal
from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases import catalogue
from argot.settings import Settings

LOCAL = make_local_principal()
PASSWORD = "tilted copper llama 9"
TARIFF = "What does a late tariff filing cost?"
VAULT = "How often is the vault combination rotated?"


@dataclass
class Pair:
    """The two services, and the key of each person."""

    one: Served
    other: Served
    keys: dict[str, str]
    settings: Settings
    model: Any

    def client(self, server: Served, person: str = "ann") -> httpx.Client:
        headers = {"Authorization": f"Bearer {self.keys[person]}"}
        return httpx.Client(base_url=server.url, headers=headers, timeout=PATIENCE)

    def command(self, name: str, /, **parameters: Any) -> Any:
        """Return the result of a use case in a third process on the same stores, as a command runs it."""

        async def done() -> Any:
            async with KnowledgeBase.open(self.settings.home, self.settings) as kb:
                return await catalogue.get_result(kb, LOCAL, name, **parameters)

        return asyncio.run(done())

    def ask(self, server: Served, question: str, person: str = "ann", **more: Any) -> httpx.Response:
        with self.client(server, person) as client:
            return client.post("/api/ask", json={"question": question, **more})


async def made(settings: Settings, folder: Path) -> dict[str, str]:
    """Create a knowledge base with documents, people and a glossary, and return the keys by name."""
    keys: dict[str, str] = {}
    async with KnowledgeBase.open(settings.home, settings, create=True) as kb:

        async def do(name: str, /, **parameters: Any) -> Any:
            return await catalogue.get_result(kb, LOCAL, name, **parameters)

        for name, text in TINY_DOCUMENTS.items():
            (folder / name).write_text(text)
        (folder / "vault.md").write_text(TINY_SECRET)
        await do("add", paths=[str(folder / name) for name in TINY_DOCUMENTS])
        await do("add", paths=[str(folder / "vault.md")], audience=["vault"])
        await do("context_add", name="Legal", description="Tariffs and filings")
        for name, groups, role in (
            ("root", [], "admin"),
            ("mia", [], "manager"),
            ("ann", [], None),
            ("bob", ["vault"], None),
        ):
            await do("user_add", name=name, groups=groups, role=role, password=PASSWORD)
            keys[name] = (await do("key_add", user=name, name="tests"))["key"]
    return keys


@pytest.fixture(scope="module")
def pair(
    postgresql_server: PostgresqlServer, shared_model: Any, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Pair]:
    folder = tmp_path_factory.mktemp("pair")
    with postgresql_server.database() as url, ChromaRun(folder) as chroma:
        given = {"store": url, "chroma_url": chroma.url}
        own = Settings(home=folder / "made", store=url, chroma_url=chroma.url)
        keys = asyncio.run(made(own, folder))
        settings = {f"ARGOT_{name.upper()}": value for name, value in given.items()}
        settings |= {"ARGOT_MODEL_URL": shared_model.url, "ARGOT_WORKERS": "0", "ARGOT_QUESTIONS_AT_ONCE": "2"}
        settings |= {"ARGOT_PUBLIC_URL": ORIGIN, "ARGOT_TRUSTED_PROXIES": "127.0.0.1"}
        served: dict[str, Served] = {}

        def start(name: str) -> None:
            # With a public address the service does not print its port.
            port = _free_port()
            served[name] = Served(folder / name, "--port", str(port), **settings)
            served[name].port = port

        starting = [threading.Thread(target=start, args=(name,)) for name in ("one", "other")]
        for thread in starting:
            thread.start()
        for thread in starting:
            thread.join()
        try:
            yield Pair(served["one"], served["other"], keys, own, shared_model)
        finally:
            for server in served.values():
                server.stop()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture(autouse=True)
def fresh(pair: Pair) -> Iterator[None]:
    pair.model.reset()
    pair.model.reply("cited_answer", "A late tariff filing costs 500 dollars a day [1].")
    yield
    pair.model.heal()


def test_a_session_begun_at_one_replica_is_valid_at_the_other(pair: Pair) -> None:
    with httpx.Client(base_url=pair.one.url, headers={"Origin": pair.one.url}, timeout=PATIENCE) as client:
        answer = client.post("/sign-in", data={"name": "ann", "password": PASSWORD})
        assert answer.status_code == 303
        cookie = answer.headers["set-cookie"].partition(";")[0]
    signed_in = {"Cookie": cookie, "Accept": "text/html"}
    account = httpx.get(f"{pair.other.url}/account", headers=signed_in, timeout=PATIENCE)
    assert account.status_code == 200 and "ann" in account.text
    # Its forms may be sent to either service, because both sign with one secret.
    there = httpx.get(f"{pair.one.url}/account", headers=signed_in, timeout=PATIENCE)
    assert _form_tokens(there.text) == _form_tokens(account.text)


def _form_tokens(page: str) -> set[str]:
    found = set(re.findall(r"[0-9a-f]{64}", page))
    assert found
    return found


@pytest.mark.parametrize("program", INSTALLED or [pytest.param("", marks=pytest.mark.skip("no proxy installed"))])
def test_a_proxy_sends_a_window_and_its_requests_to_one_replica(pair: Pair, program: str, tmp_path: Path) -> None:
    with front(program, tmp_path, pair.one.port, pair.other.port) as opened:
        for person in ("root", "ann", "bob"):
            with opened.client() as client:
                entered = client.post("/sign-in", data={"name": person, "password": PASSWORD})
                cookies = _cookies(entered)
                window, session = opened.connect(), str(uuid.uuid4())
                with window, connect(
                    f"ws://{NAME}/ws/socket.io/?EIO=4&transport=websocket", sock=window, open_timeout=PATIENCE,
                    origin=ORIGIN, additional_headers={"Cookie": cookies},  # type: ignore[arg-type]
                ) as opened_window:  # fmt: skip
                    assert str(opened_window.recv()).startswith("0") and opened_window.response
                    begun = {"sessionId": session, "threadId": None, "clientType": "webapp"}
                    opened_window.send("40" + json.dumps(begun))
                    assert str(opened_window.recv()).startswith("40")
                    cookies = "; ".join(
                        [
                            cookies,
                            *(one.partition(";")[0] for one in opened_window.response.headers.get_all("Set-Cookie")),
                        ]
                    )
                    for _ in range(3):
                        sent = client.post(
                            "/project/file", params={"session_id": session}, headers={"Cookie": cookies},
                            files={"file": ("notes.txt", b"Some notes.")},
                        )  # fmt: skip
                        assert sent.status_code == 200, sent.text


def _cookies(answer: httpx.Response) -> str:
    assert answer.status_code == 303, answer.text
    return "; ".join(one.partition(";")[0] for one in answer.headers.get_list("set-cookie"))


def test_a_conversation_continues_at_the_other_replica(pair: Pair) -> None:
    first = pair.ask(pair.one, TARIFF).json()
    assert "500 dollars" in first["answer"] and first["turn"] == 0
    again = pair.ask(pair.other, "Who approves a tariff?", thread=first["thread"]).json()
    assert again["turn"] == 1
    with pair.client(pair.one) as client:
        read = client.get(f"/api/threads/{first['thread']}").json()
    assert [turn["turn"] for turn in read["turns"]] == [0, 1]


def test_shares_and_feedback_given_at_one_replica_are_read_at_the_other(pair: Pair) -> None:
    question = "How much does a late QTFX cost?"
    asked = pair.ask(pair.one, question).json()
    with pair.client(pair.one, "mia") as client:
        assert question not in client.get("/api/glossary/misses").text
    with pair.client(pair.other) as client:
        of_thread = f"/api/threads/{asked['thread']}"
        assert client.post(f"{of_thread}/share", json={"share": True}).json()["questions"] == 1
        said = {"turn": 0, "value": -1, "comment": "too dear", "share": True}
        assert client.post(f"{of_thread}/feedback", json=said).is_success
    with pair.client(pair.one, "mia") as client:
        assert question in client.get("/api/glossary/misses").text
    assert "too dear" in str(pair.command("feedback_list", value=-1))


def test_an_unknown_thread_is_not_found(pair: Pair) -> None:
    for thread in ("x" * 100_000, "x"):
        assert pair.ask(pair.one, TARIFF, thread=thread).status_code == 404
    assert "Traceback" not in "".join(pair.one.said)


def test_a_document_added_at_one_replica_is_found_at_the_other(pair: Pair, tmp_path: Path) -> None:
    # Both answer first, so that their caches are filled.
    for server in (pair.one, pair.other):
        assert pair.ask(server, TARIFF).status_code == 200
    text = b"# Canteen\n\nThe canteen of building seven opens at 11:45 on Tuesdays.\n"
    with pair.client(pair.one, "root") as client:
        sent = client.post("/api/documents", files={"file": ("canteen.md", text)})
        assert sent.status_code == 201, sent.text
        sense = {"term": "QZX", "expansion": "late tariff filing", "context": "Legal"}
        assert (added := client.post("/api/glossary/senses", json=sense)).is_success, added.text
    found = pair.ask(pair.other, "When does the canteen of building seven open?").json()
    assert any("canteen" in passage["text"].casefold() for passage in found["passages"]), found
    understood = pair.ask(pair.other, "What does a QZX cost?").json()
    assert [one["term"] for one in understood["jargon"]] == ["QZX"]


def test_leaving_a_group_ends_access_to_its_documents_on_all_replicas(pair: Pair) -> None:
    for server in (pair.one, pair.other):
        assert _reads_vault(pair, server)
    pair.command("user_roles", name="bob", leave=["vault"])
    for server in (pair.one, pair.other):
        assert not _reads_vault(pair, server)


def _reads_vault(pair: Pair, server: Served) -> bool:
    found = pair.ask(server, VAULT, "bob").json()
    return any("vault" in passage["text"].casefold() for passage in found["passages"])


def test_limits_and_revoked_keys_apply_across_replicas(pair: Pair) -> None:
    pair.model.fault("pause", prompt="cited_answer", tokens=3)
    asking = {"Accept": "text/event-stream"}
    with (
        pair.client(pair.one) as client,
        pair.client(pair.other) as second,
        client.stream("POST", "/api/ask", json={"question": TARIFF}, headers=asking) as answer,
        second.stream("POST", "/api/ask", json={"question": TARIFF}, headers=asking) as beside,
    ):
        lines, others = answer.iter_lines(), beside.iter_lines()
        for streamed in (lines, others):
            next(line for line in streamed if line.startswith("event: token"))
        refused = pair.ask(pair.other, TARIFF)
        assert refused.status_code == 429 and "2 of your questions" in refused.text
        assert pair.ask(pair.other, "Hello!", "bob").status_code == 200
        for key in pair.command("key_list", user="ann"):
            pair.command("key_revoke", key=key["id"])
        rest = "\n".join(lines)
        assert "revoked" in rest and "event: result" not in rest
    assert pair.ask(pair.one, TARIFF).status_code == 401


def test_a_window_at_the_other_replica_shows_and_stops_a_running_answer(pair: Pair) -> None:
    pair.model.fault("pause", prompt="cited_answer", tokens=3)
    with httpx.Client(base_url=pair.other.url, headers={"Origin": pair.other.url}, timeout=PATIENCE) as browser:
        cookie = _cookies(browser.post("/sign-in", data={"name": "root", "password": PASSWORD}))
    with (
        pair.client(pair.one, "root") as client,
        client.stream("POST", "/api/ask", json={"question": TARIFF}, headers={"Accept": "text/event-stream"}) as answer,
    ):
        lines = answer.iter_lines()
        next(line for line in lines if line.startswith("event: token"))
        with pair.client(pair.other, "root") as reading:
            thread = reading.get("/api/threads").json()[0]["id"]
        with connect(
            f"ws://localhost:{pair.other.port}/ws/socket.io/?EIO=4&transport=websocket",
            origin=pair.other.url, additional_headers={"Cookie": cookie}, open_timeout=PATIENCE,  # type: ignore[arg-type]
        ) as window:  # fmt: skip
            window.recv()
            window.send("40" + json.dumps({"sessionId": str(uuid.uuid4()), "threadId": thread}))
            window.send('42["connection_successful"]')
            said = ""
            while "still being answered" not in said or "task_start" not in said:
                said += str(window.recv(PATIENCE))
            window.send('42["stop"]')
            rest = "\n".join(lines)
            assert "stopped in another window" in rest and "event: result" not in rest
            while "task_end" not in said:
                said += str(window.recv(PATIENCE))


def test_the_other_replica_completes_the_answer_of_a_killed_one(pair: Pair) -> None:
    pair.model.fault("pause", prompt="cited_answer", tokens=3)
    asking = {"Accept": "text/event-stream"}
    with (
        pytest.raises(httpx.TransportError),
        pair.client(pair.one, "root") as client,
        client.stream("POST", "/api/ask", json={"question": TARIFF}, headers=asking) as answer,
    ):
        for line in answer.iter_lines():
            if line.startswith("event: token"):
                pair.one.process.kill()
    pair.one.process.wait()
    pair.model.heal()
    with pair.client(pair.other, "root") as client:
        thread = client.get("/api/threads").json()[0]["id"]
    calls = len(pair.model.requests)
    found = pair.ask(pair.other, TARIFF, "root", thread=thread)
    assert found.status_code == 200 and found.json()["turn"] == 0 and "500 dollars" in found.json()["answer"]
    # Earlier steps are not repeated: only the answer is written.
    assert [one.prompt for one in pair.model.requests[calls:] if one.prompt] == ["cited_answer"]
    pair.one.start()
    assert pair.ask(pair.one, "Who approves a tariff?", "root", thread=thread).json()["turn"] == 1


def test_replicas_wait_for_a_restarted_postgresql(pair: Pair, postgresql_server: PostgresqlServer) -> None:
    end_connections(pair.settings.storage.database)
    for server in (pair.one, pair.other):
        assert pair.ask(server, "Hello!", "root").status_code == 200
    postgresql_server.stop()
    try:
        gone = pair.ask(pair.other, "Hello!", "root")
        assert gone.status_code == 503 and "store" in json.dumps(gone.json())
        assert httpx.get(f"{pair.other.url}/health", timeout=PATIENCE).status_code == 200
    finally:
        postgresql_server.start()
    for server in (pair.one, pair.other):
        # This takes some seconds, because lost connections are retried with pauses.
        while (back := pair.ask(server, "Hello!", "root")).status_code == 503:
            time.sleep(0.2)
        assert back.status_code == 200
