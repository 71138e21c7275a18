"""Tests of the page on which everybody suggests a meaning, and of what managers see of it."""

import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import quote

import httpx
import pytest
from desk import CSRF, at_desk

from argot.service.knowledge_base import KnowledgeBase
from argot.settings import Settings
from argot.types import Principal
from argot.ui.pages.page_routes import build_pages

ADMIN = Principal("ada", sees_all=True)
ANNA, BEN = Principal("anna"), Principal("ben")
HANS = Principal("hans", frozenset({"hr"}))
MARKUP = '<img src=x onerror=alert(1)>"><script>alert(1)</script> {{ 7 * 7 }} [a](javascript:alert(1))'


class People:
    """Clients of one knowledge base's pages, by person."""

    def __init__(self, kb: KnowledgeBase) -> None:
        self.kb = kb
        self._router = build_pages(kb)

    async def get(self, who: Principal, path: str) -> httpx.Response:
        async with at_desk(self._router, who) as client:
            return await client.get(path)

    async def post(self, who: Principal, path: str, csrf: str = CSRF, **form: str) -> httpx.Response:
        async with at_desk(self._router, who) as client:
            return await client.post(path, data={"csrf": csrf, **form})


@pytest.fixture
async def people(tiny_home: Path, tmp_path: Path) -> AsyncIterator[People]:
    home = shutil.copytree(tiny_home, tmp_path / "kb")
    async with KnowledgeBase.open(home, Settings(home=home)) as kb:
        kb.glossary.contexts.add("Staff", "", "staff@example.org", frozenset({"hr"}), by=ADMIN)
        yield People(kb)


async def test_an_asker_suggests_a_colleague_confirms_and_the_manager_sees_both(people: People) -> None:
    empty = (await people.get(ANNA, "/terms/suggest?term=QRL")).text
    assert 'value="QRL"' in empty
    assert "Staff" not in empty
    sent = await people.post(ANNA, "/terms/suggest", term="QRL", expansion="quarterly rebate list")
    assert (sent.status_code, sent.headers["location"]) == (303, "/terms/suggest?term=QRL&done=suggested")
    mine = (await people.get(ANNA, "/terms/suggest?term=QRL")).text
    assert "You suggested this." in mine
    assert "That is what it means" not in mine
    theirs = (await people.get(BEN, "/terms/suggest?term=QRL")).text
    assert "That is what it means" in theirs
    assert "anna" not in theirs
    (proposal,) = people.kb.glossary.proposals.find(ADMIN, "open", "QRL")
    assert (await people.post(BEN, f"/terms/suggest/{proposal.id}/confirm")).status_code == 303
    managed = (await people.get(ADMIN, f"/glossary/proposals/{proposal.id}")).text
    assert "confirmed by 1" in managed
    assert "Suggested by <bdi>anna</bdi>" in managed
    await people.post(ADMIN, f"/glossary/proposals/{proposal.id}/dismiss", why="we say rebate sheet")
    assert "Rejected because: we say rebate sheet" in (await people.get(ANNA, "/terms/suggest")).text


async def test_markup_is_text_on_every_page(people: People) -> None:
    await people.post(ANNA, "/terms/suggest", term=MARKUP, expansion=MARKUP, description=MARKUP)
    (proposal,) = [one for one in people.kb.glossary.proposals.find(ADMIN) if one.origin == "person"]
    assert (proposal.term, proposal.expansion) == (MARKUP, MARKUP)
    await people.post(BEN, f"/terms/suggest/{proposal.id}/comment", words=MARKUP)
    pages = [(BEN, f"/terms/suggest?term={quote(MARKUP)}"), (ANNA, "/terms/suggest")]
    managed = ("/glossary/proposals", f"/glossary/proposals/{proposal.id}", f"/glossary/queue/term?t={quote(MARKUP)}")
    for who, path in [*pages, *((ADMIN, one) for one in managed)]:
        answer = await people.get(who, path)
        assert answer.status_code == 200
        assert "&lt;script&gt;" in answer.text
        assert "<script>alert" not in answer.text
        assert "<img src=x" not in answer.text


async def test_what_is_refused_says_why_and_keeps_what_was_typed(people: People) -> None:
    made = people.kb.glossary.suggestions.suggest(HANS, "QRL", "quiet redundancy ledger", context="Staff")
    assert "redundancy" not in (await people.get(ANNA, "/terms/suggest?term=QRL")).text
    assert (await people.post(ANNA, f"/terms/suggest/{made.id}/confirm")).status_code == 404
    assert (await people.post(ANNA, f"/terms/suggest/{made.id}/comment", words="hm")).status_code == 404
    hidden = await people.post(ANNA, "/terms/suggest", term="QRL", expansion="typed text", context="Staff")
    assert hidden.status_code == 400
    assert "There is no context" in hidden.text
    assert "typed text" in hidden.text
    assert (await people.post(ANNA, "/terms/suggest", term="QRL")).status_code == 400
    assert (await people.post(ANNA, "/terms/suggest", csrf="forged", term="A", expansion="b")).status_code == 403
    assert (await people.post(BEN, f"/glossary/proposals/{made.id}/reviewer", reviewer="ben")).status_code in (403, 404)
    sent = [
        (await people.post(BEN, "/terms/suggest", term=f"T{number}", expansion="x")).status_code for number in range(12)
    ]
    assert sent == [303] * 10 + [429] * 2
