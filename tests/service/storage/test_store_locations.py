"""Tests that the location of stores is told on the command line and in the log only, and never to clients."""

import logging
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from serving import Served, run

from argot.errors import DamagedStore, KnowledgeBaseBusy, MissingExtra, StoreUnavailable, asked_from_elsewhere
from argot.service.knowledge_base import KnowledgeBase
from argot.service.observability.logs import JsonLines, Lines
from argot.service.transport.knowledge_base_client import LocalClient
from argot.service.transport.wire_format import make_error_event
from argot.service.usecases.people.api_keys import key_add
from argot.service.usecases.people.users import user_add
from argot.settings import Settings
from argot.slack.app.mrkdwn import plain as slack_plain
from argot.ui.api.api_route import build_error_event
from argot.ui.rendering.safe_markdown import escape_markdown

PATH = "/srv/canary/kb/glossary.db"
ASKED = {"messages": [{"role": "user", "content": "What is a PUC?"}], "stream": True}


@contextmanager
def elsewhere() -> Iterator[None]:
    token = asked_from_elsewhere.set(True)
    try:
        yield
    finally:
        asked_from_elsewhere.reset(token)


@pytest.mark.parametrize("kind", [DamagedStore, StoreUnavailable, KnowledgeBaseBusy])
def test_errors_sent_to_clients_name_no_file_but_the_log_does(kind: type[Exception]) -> None:
    error = kind(f"{PATH} is damaged. Mend it with: argot restore --home /srv/canary/kb")
    assert PATH in str(error) and PATH in str(make_error_event(error))  # type: ignore[arg-type]
    with elsewhere():
        said = (str(error), f"{error}", escape_markdown(error), slack_plain(error), str(build_error_event(error)))
        for text in said:
            assert "canary" not in text
        for lines in (Lines(Settings()), JsonLines(Settings())):
            record = logging.LogRecord("x", logging.ERROR, "", 0, "failed: %s", (error,), (kind, error, None))
            assert lines.format(record).count(PATH) >= 2
        assert asked_from_elsewhere.get()


def test_the_error_for_a_missing_package_does_not_show_pythons_location() -> None:
    error = MissingExtra("PDF", "pdf")
    assert "pip install" in str(error)
    with elsewhere():
        assert "/" not in str(error) and "argot doctor" in str(error)


def test_responses_of_a_service_with_a_damaged_store_do_not_name_its_folder(tiny_home: Path, tmp_path: Path) -> None:
    home = shutil.copytree(tiny_home, tmp_path / "canary-home")
    with LocalClient(KnowledgeBase.open(home, Settings(home=home))) as client:
        client.call(user_add, name="root", role="admin", password="tilted copper llama 9")
        key = client.call(key_add, name="test", user="root").key
    with Served(home) as served:
        with httpx.Client(base_url=served.url, timeout=120) as browser:
            said = {"name": "root", "password": "tilted copper llama 9"}
            browser.post("/sign-in", data=said, headers={"Origin": served.url})
            for name in ("glossary.db", "glossary.db-wal"):
                if (home / name).exists():
                    (home / name).write_bytes(b"x" * (home / name).stat().st_size)
            headers = {"Authorization": f"Bearer {key}"}
            answers = [
                browser.get("/ready"),
                browser.get("/glossary", headers={"Accept": "text/html"}),
                browser.get("/api/glossary/term", params={"term": "PUC"}, headers=headers),
                browser.post("/api/ask", json={"question": "What is a PUC?"}, headers=headers),
                browser.post("/v1/chat/completions", json=ASKED, headers=headers),
            ]
        assert [one.status_code for one in (answers[0], answers[2])] == [503, 503]
        for one in answers:
            assert "canary" not in one.text and "argot restore" not in one.text
    assert "canary-home" in "".join(served.said)
    done = run("glossary", "list", "--home", home)
    assert done.returncode == 1 and "canary-home" in done.stderr
