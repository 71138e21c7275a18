"""Tests of a running service: metrics for permitted readers, headers on every page, hostile questions, a stop that lets
answers finish, and a start that continues after a kill.
"""

import base64
import hashlib
import json
import re
import shutil
import signal
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest
from pydantic import SecretStr
from scripted_server import ScriptedServer
from serving import Served, argot

from argot.service.knowledge_base import KnowledgeBase
from argot.service.transport.knowledge_base_client import LocalClient
from argot.service.usecases.people.api_keys import key_add
from argot.service.usecases.people.users import user_add
from argot.settings import Settings

QUESTION = "What does a late tariff filing cost?"
CANARY = "zweiundvierzigfach"
PAGES = ("/", "/sign-in", "/account", "/glossary", "/glossary/queue", "/people", "/health", "/ready", "/metrics",
         "/nothing", "/api/openapi.json", "/account/data", "/public/argot.css", "/public/argot.js",
         "/project/translations")  # fmt: skip


@dataclass
class Running:
    served: Served
    model: ScriptedServer
    keys: dict[str, str]
    cookies: dict[str, str] = field(default_factory=dict)

    def client(self, name: str | None = None, **options: Any) -> httpx.Client:
        headers = {"Authorization": f"Bearer {self.keys[name]}"} if name else {}
        return httpx.Client(base_url=self.served.url, headers=headers, timeout=120, **options)

    def signed_in(self) -> httpx.Client:
        """Provide a browser in which root has signed in with a password."""
        if not self.cookies:
            with self.client() as client:
                said = {"name": "root", "password": "tilted copper llama 9"}
                client.post("/sign-in", data=said, headers={"Origin": self.served.url})
                self.cookies = dict(client.cookies)
        return self.client(cookies=self.cookies)

    def ask(self, question: str, name: str = "ann") -> httpx.Response:
        with self.client(name) as client:
            return client.post("/api/ask", json={"question": question})


@pytest.fixture(scope="module")
def running(tiny_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    home = shutil.copytree(tiny_home, tmp_path_factory.mktemp("running") / "kb")
    keys = {}
    with LocalClient(KnowledgeBase.open(home, Settings(home=home))) as client:
        client.call(user_add, name="ann", groups=[])
        client.call(user_add, name="root", role="admin", password=SecretStr("tilted copper llama 9"))
        for name in ("ann", "root"):
            keys[name] = client.call(key_add, name="test", user=name).key
    model = ScriptedServer().start()
    model.reply("cited_answer", "A late tariff filing costs 500 dollars a day [1]. That is all there is to say [1].")
    settings = {"ARGOT_MODEL_URL": model.url, "ARGOT_METRICS_NETWORKS": "127.0.0.2", "ARGOT_KEEP_QUESTIONS_DAYS": "90"}
    with Served(home, **settings) as served:
        yield Running(served, model, keys)
    model.close()


# -- metrics ----------------------------------------------------------------------------------------------------------


def test_metrics_are_open_to_administrators_and_named_networks(running: Running) -> None:
    with running.client() as nobody, running.client("ann") as ann, running.client("root") as root:
        assert nobody.get("/metrics").status_code == 401
        assert ann.get("/metrics").status_code == 403
        assert root.get("/metrics").status_code == 200
    scraper = httpx.HTTPTransport(local_address="127.0.0.2")
    with running.client(transport=scraper) as near:
        told = near.get("/metrics")
        assert told.status_code == 200 and "argot_questions_total" in told.text
        assert told.headers["content-type"].startswith("text/plain; version=0.0.4")
        for headers in ({"X-Forwarded-For": "127.0.0.2"}, {"Origin": "http://evil.example"}, {"Via": "1.1 proxy"}):
            assert near.get("/metrics", headers=headers).status_code in (401, 403)
        assert near.get("/account").status_code == 401
    with running.client() as far:
        assert far.get("/metrics", headers={"X-Forwarded-For": "127.0.0.2"}).status_code == 401


def test_events_are_counted_without_names_or_words(running: Running) -> None:
    assert running.ask(QUESTION).json()["status"] == "answered"
    assert running.ask(f"What is a {CANARY}?").status_code == 200
    assert running.ask("").status_code in (400, 422)
    text = argot("metrics", "--home", running.served.home)
    for told in (
        r'argot_questions_total\{status="answered",surface="api"\} [1-9]',
        r'argot_first_token_seconds_count\{surface="api"\} [1-9]',
        r'argot_answer_seconds_count\{surface="api"\} [1-9]',
        r'argot_own_seconds_count\{surface="api"\} [1-9]',
        r'argot_stage_seconds_count\{stage="retrieve"\} [1-9]',
        r'argot_model_calls_total\{outcome="ok",prompt="cited_answer"\} [1-9]',
        r'argot_model_seconds_count\{prompt="cited_answer"\} [1-9]',
        r'argot_errors_total\{error="InvalidInput",surface="api"\} [1-9]',
        r'argot_http_requests_total\{status="2xx",surface="api"\} [1-9]',
        r"argot_open_conversations 0",
        r"process_resident_memory_bytes [1-9]",
        r"argot_loop_lag_seconds_count [1-9]",
    ):
        assert re.search(told, text), told
    for word in (CANARY, "tariff", "ann", "root", "Legal", "handbook"):
        assert not re.search(rf"\b{word}\b", text), word


def test_each_response_has_its_own_request_id(running: Running) -> None:
    with running.client("ann") as client:
        numbers = {client.get(path).headers["x-request-id"] for path in ("/health", "/nothing", "/api/me")}
    assert len(numbers) == 3


# -- headers for browsers ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", PAGES)
def test_every_page_has_a_content_policy_that_allows_own_assets_only(running: Running, path: str) -> None:
    with running.signed_in() as client:
        answer = client.get(path, headers={"Accept": "text/html"})
    policy = dict(one.strip().partition(" ")[::2] for one in answer.headers["content-security-policy"].split(";"))
    assert policy["default-src"] == "'none'"
    assert policy["frame-ancestors"] == "'none'" and policy["base-uri"] == "'none'"
    assert policy["form-action"] == "'self'"
    sources = " ".join(policy.values())
    assert "http:" not in sources and "https:" not in sources and "*" not in sources
    assert "unsafe" not in policy.get("script-src", "")
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["referrer-policy"] == "same-origin"
    assert answer.headers["x-frame-options"] == "DENY"
    if answer.headers.get("content-type", "").startswith("text/html"):
        assert_own_assets(answer.text, policy)


def assert_own_assets(html: str, policy: dict[str, str]) -> None:
    """Check that a page loads no asset of another server and no script but those whose hash the policy names."""
    assets = re.findall(r"""<(?:script|img|iframe|link|source|video|audio)\b[^>]*?(?:src|href)=["']([^"']*)""", html)
    for address in [*assets, *re.findall(r"url\(([^)]*)\)|@import\s+[\"']([^\"']+)", html)]:
        assert not re.match(r"(?:[a-z]+:)?//", "".join(address)), address
    for attributes, script in re.findall(r"<script\b([^>]*)>(.*?)</script>", html, re.DOTALL):
        if "src=" not in attributes and script.strip() and "application/json" not in attributes:
            digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
            assert f"'sha256-{digest}'" in policy["script-src"], script[:80]
    assert not re.search(r"<[a-z][^>]*\son[a-z]+=", html), "a handler in the page"


# -- a person's own data ----------------------------------------------------------------------------------------------


def test_a_person_downloads_their_own_data(running: Running) -> None:
    running.ask(QUESTION, "ann")
    with running.client() as nobody, running.signed_in() as client:
        assert nobody.get("/account/data").status_code == 401
        mine = client.get("/account/data")
        assert mine.headers["content-disposition"].startswith("attachment")
        assert mine.json()["name"] == "root" and "argon2" not in mine.text
        assert 'href="/account/data"' in client.get("/account", headers={"Accept": "text/html"}).text


# -- hostile questions (scorecard 25) ---------------------------------------------------------------------------------


def test_a_huge_question_is_refused_and_the_next_is_answered(running: Running) -> None:
    assert 400 <= running.ask("x " * 500_000).status_code < 500
    with running.client("ann") as client:
        body = json.dumps({"question": "y" * 30_000_000})
        assert 400 <= client.post("/api/ask", content=body).status_code < 500
    assert running.ask(QUESTION).json()["status"] == "answered"


def test_a_stopping_service_finishes_answers_and_begins_none(running: Running) -> None:
    """Restart the service at the end for the tests that follow."""
    running.model.fault("pause", prompt="cited_answer", tokens=3)
    began, told, events = threading.Event(), [], []

    def listen() -> None:
        headers = {"Accept": "text/event-stream"}
        asked = {"json": {"question": QUESTION}, "headers": headers}
        with running.client("ann") as client, client.stream("POST", "/api/ask", **asked) as answer:
            for line in answer.iter_lines():
                events.append(line)
                if line == "event: token":
                    began.set()
        told.append("done")

    asking = threading.Thread(target=listen)
    asking.start()
    assert began.wait(120)
    running.served.process.send_signal(signal.SIGTERM)
    with running.client("root") as client:
        ready = client.get("/ready")
        while ready.status_code == 200:
            ready = client.get("/ready")
        refused = client.post("/api/ask", json={"question": QUESTION})
    running.model.heal()
    asking.join(120)
    assert told == ["done"]
    assert "event: result" in events
    assert "500 dollars" in json.loads(events[events.index("event: result") + 1][6:])["answer"]
    assert (ready.status_code, refused.status_code) == (503, 503)
    assert "restarted" in refused.text and refused.headers["retry-after"] == "30"
    assert running.served.process.wait(120) == 0
    running.served.start()
    assert running.ask(QUESTION).json()["status"] == "answered"


def test_a_killed_service_continues_its_conversations(running: Running) -> None:
    running.model.fault("hang", prompt="cited_answer")
    told: list[Any] = []
    asking = threading.Thread(target=lambda: told.append(_outcome(running)))
    before = len(running.model.asked("cited_answer"))
    asking.start()
    assert running.model.wait_until(lambda: len(running.model.asked("cited_answer")) > before, 120)
    running.served.stop(signal.SIGKILL)
    asking.join(120)
    assert told == ["cut off"]
    running.model.heal()
    running.served.start()
    threads = json.loads(argot("threads", "list", "--json", "--as", "ann", "--home", running.served.home))
    cut = threads[0]["id"]
    with running.client("ann") as client:
        answer = client.post("/api/ask", json={"question": QUESTION, "thread": cut}).json()
    assert answer["status"] == "answered"
    turns = json.loads(argot("threads", "show", cut, "--json", "--as", "ann", "--home", running.served.home))["turns"]
    assert [turn["question"] for turn in turns] == [QUESTION]


def _outcome(running: Running) -> str:
    try:
        running.ask(QUESTION)
    except httpx.HTTPError:
        return "cut off"
    return "answered"
