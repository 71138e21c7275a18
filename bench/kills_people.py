"""The work of people while processes are killed, a record of what was acknowledged to them, and its check at the end.

Used by kills.py, which kills.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import subprocess
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import httpx
from load_applications import ARGOT

ASKERS = 3
ANSWER_SECONDS = 90.0
WORDS = 60
"""Words of each of the model's answers, which take a second: long enough to be interrupted."""


class Place(Protocol):
    """A running service."""

    home: Path
    settings: dict[str, str]

    @property
    def url(self) -> str: ...


# -- what people do meanwhile -----------------------------------------------------------------------------------------


@dataclass
class AcknowledgedWork:
    """The acknowledged work, and the answers that were shown as complete."""

    documents: dict[str, str] = field(default_factory=dict)
    terms: list[str] = field(default_factory=list)
    turns: list[tuple[str, str, int, str]] = field(default_factory=list)
    """The asker's key, thread, turn and text."""
    judged: list[tuple[str, str, int]] = field(default_factory=list)
    failed: Counter[str] = field(default_factory=Counter)
    written: list[tuple[str, int]] = field(default_factory=list)
    """The question, and the number of words that a model wrote."""


class People:
    """Threads that ask, upload, write and judge until they are stopped."""

    def __init__(self, services: Sequence[Place], keys: list[str], questions: list[str], seed: int) -> None:
        self.services, self.keys, self.questions, self.seed = services, keys, questions, seed
        self.kept = AcknowledgedWork()
        self.stop = threading.Event()
        self.threads = [threading.Thread(target=self._repeat, args=(self._ask, n)) for n in range(ASKERS)]
        self.threads += [threading.Thread(target=self._repeat, args=(work, 0)) for work in (self._upload, self._write)]

    @contextlib.contextmanager
    def run_while(self) -> Iterator[None]:
        for thread in self.threads:
            thread.start()
        try:
            yield
        finally:
            self.stop.set()
            for thread in self.threads:
                thread.join()

    def _repeat(self, work: Callable[[httpx.Client, int, random.Random], None], number: int) -> None:
        chosen = random.Random(f"{self.seed} {work.__name__} {number}")
        turn = 0
        with httpx.Client(timeout=ANSWER_SECONDS) as client:
            while not self.stop.is_set():
                turn += 1
                try:
                    work(client, number * 1_000_000 + turn, chosen)
                # Kills break connections; work that was not acknowledged may be lost.
                except (httpx.HTTPError, Unanswered) as error:
                    self.kept.failed[f"{work.__name__[1:]}: {type(error).__name__}"] += 1
                    self.stop.wait(0.3)

    def _ask(self, client: httpx.Client, number: int, chosen: random.Random) -> None:
        question, key = chosen.choice(self.questions), chosen.choice(self.keys)
        result = ask(client, chosen.choice(self.services).url, key, question)
        text, thread, turn = read_text(result), str(result["thread"]), int(result["turn"])
        if result["status"] == "answered" and result["answered_by"] == "model":
            self.kept.written.append((question, len(text.split())))
        self.kept.turns.append((key, thread, turn, text))
        if number % 3 == 0:
            self._judge(client, chosen, key, thread, turn)

    def _judge(self, client: httpx.Client, chosen: random.Random, key: str, thread: str, turn: int) -> None:
        body = {"turn": turn, "value": 1}
        url = f"{chosen.choice(self.services).url}/api/threads/{thread}/feedback"
        client.post(url, json=body, headers=_make_header(key)).raise_for_status()
        self.kept.judged.append((key, thread, turn))

    def _upload(self, client: httpx.Client, number: int, chosen: random.Random) -> None:
        name, word = f"killed-{number}.md", f"zq{self.seed}x{number}x"
        text = f"# Note {number}\n\nThe code of note {number} is {word}. It was written while things were killed.\n"
        url = f"{chosen.choice(self.services).url}/api/documents"
        client.post(url, files={"file": (name, text.encode())}, headers=_make_header(self.keys[0])).raise_for_status()
        self.kept.documents[name] = word

    def _write(self, client: httpx.Client, number: int, chosen: random.Random) -> None:
        term = f"KQ{self.seed}N{number}"
        body = {"term": term, "context": "Killing", "expansion": f"killed quietly {number}", "description": "A test."}
        url = f"{chosen.choice(self.services).url}/api/glossary/senses"
        client.post(url, json=body, headers=_make_header(self.keys[0])).raise_for_status()
        self.kept.terms.append(term)
        self.stop.wait(0.2)


class Unanswered(Exception):
    """The stream ended without a result."""


def ask(client: httpx.Client, url: str, key: str, question: str) -> dict[str, Any]:
    """Ask a question, and return the complete answer.

    Raises:
        httpx.HTTPError, Unanswered: no complete answer was shown.
    """
    headers = {**_make_header(key), "Accept": "text/event-stream"}
    with client.stream("POST", f"{url}/api/ask", json={"question": question}, headers=headers) as answer:
        if answer.status_code != httpx.codes.OK:
            answer.read()
            answer.raise_for_status()
        kind = ""
        for line in answer.iter_lines():
            if line.startswith("event: "):
                kind = line[7:]
            elif line.startswith("data: ") and kind in {"result", "error"}:
                if kind == "error":
                    raise Unanswered(line)
                found: dict[str, Any] = json.loads(line[6:])
                return found
    raise Unanswered("the stream ended without a result")


def read_text(result: dict[str, Any]) -> str:
    return " ".join(str(one["text"]).strip() for one in result["sentences"])


def _make_header(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


# -- what is there at the end -----------------------------------------------------------------------------------------


def find_faults(kept: AcknowledgedWork, service: Place, keys: list[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {"lost": [], "twice": [], "half": [], "wrong": []}
    with httpx.Client(timeout=ANSWER_SECONDS, base_url=service.url) as client:
        _look_at_documents(client, kept, keys[0], found)
        _look_at_terms(client, kept, keys[0], found)
        _look_at_turns(client, kept, found)
    # A model's answer has as many words as the model wrote; quotations vary with the availability of the vectors.
    found["half"] = [f"{words} words: {question}" for question, words in kept.written if words < WORDS]
    found["wrong"] = _list_findings(service)
    return found


def _look_at_documents(client: httpx.Client, kept: AcknowledgedWork, key: str, found: dict[str, list[str]]) -> None:
    there: Counter[str] = Counter()
    start = 0
    while rows := _list_items(client, key, start):
        there.update(str(one["name"]) for one in rows)
        start += len(rows)
    for name, word in kept.documents.items():
        hits = client.post(
            "/api/search", json={"query": f"the code {word}", "limit": 5}, headers=_make_header(key)
        ).json()
        if there[name] == 0 or word not in json.dumps(hits):
            found["lost"].append(f"document {name} ({there[name]} listed)")
        if there[name] > 1:
            found["twice"].append(f"document {name}: {there[name]} times")


def _list_items(client: httpx.Client, key: str, start: int) -> list[dict[str, Any]]:
    answer = client.get("/api/library", params={"limit": 200, "start": start}, headers=_make_header(key))
    answer.raise_for_status()
    rows: list[dict[str, Any]] = answer.json()["documents"]
    return rows


def _look_at_terms(client: httpx.Client, kept: AcknowledgedWork, key: str, found: dict[str, list[str]]) -> None:
    rows = client.get("/api/glossary/senses", params={"context": "Killing"}, headers=_make_header(key)).json()
    there = Counter(str(one["term"]) for one in rows)
    found["lost"] += [f"term {term}" for term in kept.terms if not there[term]]
    found["twice"] += [f"term {term}: {count} times" for term, count in there.items() if count > 1]


def _look_at_turns(client: httpx.Client, kept: AcknowledgedWork, found: dict[str, list[str]]) -> None:
    judged = set(kept.judged)
    for key, thread, turn, text in kept.turns:
        answer = client.get(f"/api/threads/{thread}", headers=_make_header(key))
        read = answer.json() if answer.is_success else {"turns": [], "feedback": []}
        if turn >= len(read["turns"]) or read_text(read["turns"][turn]) != text:
            found["lost"].append(f"turn {turn} of thread {thread}")
        if (key, thread, turn) in judged and not any(one["turn"] == turn for one in read["feedback"]):
            found["lost"].append(f"judgement of turn {turn} of thread {thread}")


def _list_findings(service: Place) -> list[str]:
    command = [*ARGOT, "doctor", "--home", str(service.home)]
    done = subprocess.run(command, check=False, capture_output=True, text=True, env={**os.environ, **service.settings})
    said = [line for line in (done.stdout + done.stderr).splitlines() if not line.startswith("ok")]
    return [] if done.returncode == 0 else said
