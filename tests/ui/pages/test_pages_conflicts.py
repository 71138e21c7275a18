"""Tests of the page of conflicts without a browser: an accepted conflict leaves it, is found again, and is reopened."""

import re
import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from desk import CSRF, at_desk

from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases import catalogue
from argot.settings import Settings
from argot.types import Principal
from argot.ui.pages.page_routes import build_pages

ADMIN = Principal("ada", sees_all=True)
NINA = Principal("nina", manages=frozenset({"Lab"}))
TERM = "Q<b>Z"
PATH = "/glossary/conflicts"


@pytest.fixture
async def kb(tiny_home: Path, tmp_path: Path) -> AsyncIterator[KnowledgeBase]:
    home = shutil.copytree(tiny_home, tmp_path / "kb")
    async with KnowledgeBase.open(home, Settings(home=home)) as opened:
        for expansion in ("quiet zone", "quick zip"):
            opened.glossary.senses.add(TERM, "Lab", expansion)
        yield opened


def form_in(html: str) -> dict[str, Any]:
    """Return the fields that the first form of the page would send."""
    found = re.search(r'<form method="post" action="/glossary/conflicts/accept">.*?</form>', html, re.DOTALL)
    assert found
    fields: dict[str, Any] = {"sense": re.findall(r'name="sense" value="([^"]+)"', found[0])}
    fields |= {name: re.findall(rf'name="{name}" value="([^"]+)"', found[0])[0] for name in ("csrf", "kind")}
    return fields


async def test_accepted_conflicts_leave_the_page_and_are_found_with_who_and_why(kb: KnowledgeBase) -> None:
    async with at_desk(build_pages(kb), NINA) as nina:
        shown = (await nina.get(PATH)).text
        assert "1 item to review" in shown
        done = await nina.post(f"{PATH}/accept", data={**form_in(shown), "why": "two <i>labs</i>"})
        assert done.headers["location"] == f"{PATH}?done=conflict-accepted"
        shown = (await nina.get(PATH)).text
        assert "quick zip" not in shown
        assert "Accepted: 1" in shown
        accepted = (await nina.get(PATH, params={"status": "accepted"})).text
        assert "two &lt;i&gt;labs&lt;/i&gt;" in accepted
        assert "<bdi>nina</bdi>" in accepted
        change = re.search(r'href="(/glossary/history/\d+)"', accepted)
        assert change
        assert "Conflict accepted: <bdi>Two meanings in one context</bdi>" in (await nina.get(change[1])).text
        assert "Two meanings in one context" in (await nina.get("/glossary/history")).text
        await nina.post(f"{change[1]}/roll-back", data={"csrf": CSRF})
        assert "1 item to review" in (await nina.get(PATH)).text


async def test_a_conflict_changed_meanwhile_is_not_accepted(kb: KnowledgeBase) -> None:
    async with at_desk(build_pages(kb), NINA) as nina:
        given = form_in((await nina.get(PATH)).text)
        sense = kb.glossary.lookup.senses(ADMIN, [TERM])[TERM][0]
        kb.glossary.senses.save(ADMIN, sense.id, version=sense.version, description="new")
        refused = await nina.post(f"{PATH}/accept", data=given)
        assert refused.status_code == 409
        assert "saved by somebody else" in refused.text
        assert "1 item to review" in refused.text
        for odd in ({"sense": "x"}, {"kind": "nonsense"}, {"kind": "review_due"}, {"sense": ["1:1"] * 20}):
            assert (await nina.post(f"{PATH}/accept", data={**given, **odd})).status_code == 400
    assert kb.glossary.conflicts.list_accepted(ADMIN) == []


async def test_only_those_who_may_change_all_its_senses_can_accept_a_conflict(kb: KnowledgeBase) -> None:
    kb.glossary.senses.add(TERM, "Elsewhere", "quick zip")
    async with at_desk(build_pages(kb), NINA) as nina:
        shown = (await nina.get(PATH)).text
        assert "2 items to review" in shown
        assert shown.count("Accept this conflict") == 1
    async with at_desk(build_pages(kb), ADMIN) as ada:
        assert (await ada.get(PATH)).text.count("Accept this conflict") >= 2


async def test_a_concurrent_save_names_its_author_despite_an_accepted_conflict(kb: KnowledgeBase) -> None:
    """Check it because accepting a conflict adds to the history of a sense without saving a version."""
    first, second = kb.glossary.lookup.senses(ADMIN, [TERM])[TERM]
    saved = kb.glossary.senses.save(NINA, first.id, version=first.version, description="new", why="mine")
    kb.glossary.conflicts.accept(
        ADMIN, "conflicting_expansion", [(saved.id, saved.version), (second.id, second.version)], "both are right"
    )
    found = await catalogue.get_result(kb, NINA, "glossary_since", sense_id=first.id, version=first.version)
    assert (found["who"], found["why"], found["base"]["description"]) == ("nina", "mine", "")


async def test_an_accepted_conflict_is_reopened_by_a_button(kb: KnowledgeBase) -> None:
    async with at_desk(build_pages(kb), NINA) as nina:
        await nina.post(f"{PATH}/accept", data=form_in((await nina.get(PATH)).text))
        accepted = (await nina.get(PATH, params={"status": "accepted"})).text
        change = re.search(r'name="change" value="(\d+)"', accepted)
        assert change
        done = await nina.post(f"{PATH}/reopen", data={"csrf": CSRF, "change": change[1]})
        assert done.headers["location"] == f"{PATH}?done=conflict-reopened"
        assert "1 item to review" in (await nina.get(PATH)).text
        for odd in (change[1], "x", "", "-1", "9" * 15):
            refused = await nina.post(f"{PATH}/reopen", data={"csrf": CSRF, "change": odd})
            assert refused.status_code == 400


async def test_reopening_a_conflict_does_not_silently_undo_an_approval(kb: KnowledgeBase) -> None:
    draft = kb.glossary.senses.draft(NINA, "NEW", "Lab", "new one")
    kb.glossary.senses.approve(NINA, draft.id, draft.version)
    other = kb.glossary.senses.draft(NINA, "NEW", "Lab", "another")
    kb.glossary.senses.approve(NINA, other.id, other.version, "both are used")
    (one,) = kb.glossary.conflicts.list_accepted(NINA)
    async with at_desk(build_pages(kb), NINA) as nina:
        accepted = (await nina.get(PATH, params={"status": "accepted"})).text
        assert ">Reopen<" not in accepted
        refused = await nina.post(f"{PATH}/reopen", data={"csrf": CSRF, "change": str(one.change)})
        assert refused.status_code == 400
        assert "also changed a meaning" in refused.text
    assert kb.glossary.senses.get(NINA, other.id).status == "approved"


async def test_conflicts_can_be_listed_by_their_senses(kb: KnowledgeBase) -> None:
    first, second = (one.id for one in kb.glossary.lookup.senses(ADMIN, [TERM])[TERM])
    kb.glossary.senses.add(TERM, "Elsewhere", "quick zip")
    every = await catalogue.get_result(kb, ADMIN, "glossary_conflicts")
    found = await catalogue.get_result(kb, ADMIN, "glossary_conflicts", about=[first, second])
    assert (every["total"], found["total"], found["open"]) == (2, 1, 2)
    assert (await catalogue.get_result(kb, ADMIN, "glossary_conflicts", about=[999]))["conflicts"] == []
