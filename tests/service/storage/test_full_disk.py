"""Tests of a service on a full disk: reading works, writing is refused with the reason, and no restart is needed."""

import resource
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from serving import Served
from small_disk import small_disk

from argot.service.knowledge_base import KnowledgeBase
from argot.service.transport.knowledge_base_client import LocalClient
from argot.service.usecases.people.api_keys import key_add
from argot.service.usecases.people.users import user_add
from argot.settings import Settings

READ = (
    "/api/me",
    "/api/documents",
    "/api/threads",
    "/api/contexts",
    "/api/glossary/senses",
    "/api/glossary/term?term=PUC",
    "/api/glossary/conflicts",
    "/v1/models",
)
SEEN = ("/account", "/glossary", "/glossary/queue")
NOT_NOTED = "a use of a key or session could not be recorded"


@dataclass
class Full:
    served: Served
    keys: list[str]
    cookies: dict[str, str]

    def client(self, key: str) -> httpx.Client:
        return httpx.Client(base_url=self.served.url, headers={"Authorization": f"Bearer {key}"}, timeout=120)

    def room(self, number: int) -> None:
        """Provide the maximum size of a file of the service."""
        resource.prlimit(self.served.process.pid, resource.RLIMIT_FSIZE, (number, resource.RLIM_INFINITY))


@pytest.fixture
def full(tiny_home: Path, tmp_path: Path) -> Iterator[Full]:
    home = shutil.copytree(tiny_home, tmp_path / "kb")
    with LocalClient(KnowledgeBase.open(home, Settings(home=home))) as client:
        client.call(user_add, name="root", role="admin", password="tilted copper llama 9")
        keys = [client.call(key_add, name=f"{n}", user="root").key for n in range(3)]
    with Served(home) as served:
        found = Full(served, keys, {})
        with found.client(keys[0]) as reader, httpx.Client(base_url=served.url, timeout=120) as browser:
            for path in READ:  # the first use of a store writes
                assert reader.get(path).status_code == 200
            said = {"name": "root", "password": "tilted copper llama 9"}
            browser.post("/sign-in", data=said, headers={"Origin": served.url})
            found.cookies = dict(browser.cookies)
        with closing(sqlite3.connect(home / "people.db")) as connection, connection:
            connection.execute("UPDATE sessions SET seen_at = seen_at - 600")  # so that its next use is recorded
        found.room(1)
        yield found
        found.room(resource.RLIM_INFINITY)


def test_reading_works_on_a_full_disk_and_the_fault_is_logged_once(full: Full) -> None:
    with full.client(full.keys[1]) as reader:
        assert {path: reader.get(path).status_code for path in READ} == dict.fromkeys(READ, 200)
    with httpx.Client(base_url=full.served.url, cookies=full.cookies, timeout=120) as browser:
        headers = {"Accept": "text/html"}
        assert {path: browser.get(path, headers=headers).status_code for path in SEEN} == dict.fromkeys(SEEN, 200)
    (line,) = full.served.wait_for_lines(NOT_NOTED)
    assert "Free some space" in line


def test_writing_on_a_full_disk_is_refused_and_works_again_with_room(full: Full) -> None:
    question = {"question": "What does a late tariff filing cost?"}
    with full.client(full.keys[2]) as asker:
        refused = asker.post("/api/ask", json=question)
        assert refused.status_code == 503 and "Free some space" in refused.text
        full.room(resource.RLIM_INFINITY)
        assert asker.post("/api/ask", json=question).json()["status"] == "answered"
    with closing(sqlite3.connect(full.served.home / "people.db")) as connection:
        assert connection.execute("SELECT used_at FROM keys WHERE name = '2'").fetchone()[0]


def test_every_change_on_a_full_disk_is_refused_and_changes_nothing(tiny_home: Path, tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk") as disk:
        home = shutil.copytree(tiny_home, disk.folder / "kb")
        with LocalClient(KnowledgeBase.open(home, Settings(home=home))) as client:
            client.call(user_add, name="root", role="admin", password="tilted copper llama 9")
            key = client.call(key_add, name="k", user="root").key
        with (
            Served(home) as served,
            httpx.Client(base_url=served.url, headers={"Authorization": f"Bearer {key}"}, timeout=120) as root,
        ):
            ids = {one["name"]: one["id"] for one in root.get("/api/documents").json()}
            assert root.delete(f"/api/documents/{ids['vault-handbook.md']}").status_code == 200
            before = state_of(root)
            disk.fill()
            answers = {name: attempt(root, ids) for name, attempt in CHANGES.items()}
            assert {name: answer.status_code for name, answer in answers.items()} == dict.fromkeys(CHANGES, 503)
            assert {name for name, answer in answers.items() if "Free some space" not in answer.text} == set()
            disk.make_room()
            assert state_of(root) == before
            assert {name: attempt(root, ids).status_code for name, attempt in CHANGES.items() if name != "erase"} == {
                name: 201 if name == "upload" else 200 for name in CHANGES if name != "erase"
            }
        said = "".join(served.said)
        assert "Traceback" not in said and "damaged" not in said
        disk.make_room()


FILE = ("hatch.md", b"# Hatch\n\nThe hatch opens at 4 bar.", "text/markdown")
SENSE = {"term": "ABC", "expansion": "Alpha Beta Ceta", "context": "NAND"}
CHANGES: dict[str, Callable[[httpx.Client, dict[str, str]], httpx.Response]] = {
    "upload": lambda root, ids: root.post("/api/documents", files={"file": FILE}),
    "label": lambda root, ids: root.patch(f"/api/documents/{ids['drive-tool.md']}", json={"tags": ["tool"]}),
    "read again": lambda root, ids: root.post(f"/api/documents/{ids['drive-tool.md']}/reread", json={}),
    "erase": lambda root, ids: root.delete(f"/api/dustbin/{ids['vault-handbook.md']}"),
    "restore": lambda root, ids: root.post(f"/api/dustbin/{ids['vault-handbook.md']}/restore", json={}),
    "remove": lambda root, ids: root.delete(f"/api/documents/{ids['nand-layout.md']}"),
    "sense": lambda root, ids: root.post("/api/glossary/senses", json=SENSE),
    "context": lambda root, ids: root.post("/api/contexts", json={"name": "Valves", "description": "of plants"}),
    "profile": lambda root, ids: root.post("/api/profiles", json={"name": "mine", "switches": {"rerank": "off"}}),
    "question": lambda root, ids: root.post("/api/ask", json={"question": "What does a late tariff filing cost?"}),
}
"""What writes, by name. The ids are those of documents by their names."""


def state_of(client: httpx.Client) -> list[object]:
    paths = ("/api/documents", "/api/dustbin", "/api/glossary/senses", "/api/contexts", "/api/profiles")
    return [client.get(path).json() for path in paths]
