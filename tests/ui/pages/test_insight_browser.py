"""Tests of the insight page in a real browser: dozens of questions, periods, links, a phone, and no script."""

import asyncio
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect
from repository import ROOT
from serving import Served
from window import PATIENCE, visitors

from argot.clock import utc_now
from argot.service.knowledge_base import KnowledgeBase
from argot.service.observability.instrumentation import surface
from argot.service.usecases.glossary.impact import thread_share
from argot.service.usecases.questions.questions import ask
from argot.service.usecases.questions.threads import feedback
from argot.service.usecases.usecase_registry import get_answer
from argot.settings import Settings
from argot.sqlite import open_connection
from argot.types import Principal

SHOTS = ROOT / "docs" / "screenshots"
PEOPLE = ("ann", "ben", "cem", "dia", "eva")
SURFACES = ("chat", "chat", "chat", "slack", "api")
HOSTILE = "Who won the <img src=x onerror=window.pwned=1><script>window.pwned=1</script> world cup of football?"
GOOD = (
    "How much does a late tariff filing cost?", "What is the Word Line voltage during a read?",
    "How long does trimming a drive take?", "What saves 25 percent of the die area?", "hello",
)  # fmt: skip
OPEN = (
    "Who won the football world cup?", "Which country won the world cup of football?", HOSTILE,
    "Where can I park my bicycle?", "Is there a bicycle shed?", "Can I leave my bicycle in the garage?",
    "How much does a late QTFX cost?", "When is a QTFX due?", "What is a ZRKB?",
)  # fmt: skip

pytestmark = pytest.mark.browser


async def _asked(home: Path, questions: Sequence[str]) -> None:
    """Record these questions, by several people in several ways over the last four weeks; some are shared."""
    # This happens before the service starts, which then owns the base.
    async with KnowledgeBase.open(home, Settings(home=home)) as kb:
        for place, question in enumerate(questions):
            who = Principal(PEOPLE[place % len(PEOPLE)])
            surface.set(SURFACES[place % len(SURFACES)])
            result = await get_answer(ask(kb, who, question=question))
            if place % 3 == 0:
                value, why = (1, "just what I needed") if result.status == "answered" else (-1, "we do have one")
                await feedback(
                    kb, who, thread=result.thread, turn=0, value=value, comment=why if place % 2 else "", share=True
                )
            await kb.chores.finish()
            if result.misses:
                await thread_share(kb, who, thread=result.thread)
    today = utc_now().date()
    # A connection that is left open would keep the service from removing the log when it stops.
    with closing(open_connection(home / "threads.db")) as connection:
        for (id_,) in connection.execute("SELECT id FROM asked").fetchall():
            day = (today - timedelta(days=min(id_ * 11 % 27, id_ * 7 % 31))).isoformat()
            connection.execute("UPDATE asked SET day = ?, first_word = seconds * 0.6 WHERE id = ?", (day, id_))


def prepare(home: Path, questions: Sequence[str]) -> None:
    with ThreadPoolExecutor(1) as thread:  # in a thread, because Playwright runs an event loop in this one
        thread.submit(lambda: asyncio.run(_asked(home, questions))).result()


@pytest.fixture(scope="module")
def served(chromium: Any, tiny_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    home = Path(shutil.copytree(tiny_home, tmp_path_factory.mktemp("insight") / "kb"))
    prepare(home, [*GOOD, *OPEN, *GOOD, *GOOD, *OPEN[:6]])
    with Served(home) as server:
        yield server


@pytest.fixture
def open_page(chromium: Any, served: Served) -> Iterator[Callable[..., Any]]:
    with visitors(chromium, served.url) as visit:
        yield visit


def test_the_insight_page_is_reached_and_leads_to_sources_and_terms(
    open_page: Callable[..., Any], served: Served
) -> None:
    tab = open_page()
    tab.goto(f"{served.url}/glossary")
    tab.get_by_role("link", name="Insight").click()
    expect(tab.get_by_role("heading", name="Questions, and how they went")).to_be_visible()
    expect(tab.locator(".tiles")).to_contain_text("30 questions")
    expect(tab.locator(".days g")).to_have_count(30)
    unanswered = tab.locator("section", has=tab.get_by_role("heading", name="Questions without an answer"))
    expect(unanswered).to_contain_text("bicycle")
    assert tab.evaluate("window.pwned") is None
    assert tab.locator("img[src=x], main script").count() == 0

    tab.get_by_role("link", name="7 days").click()
    expect(tab.locator(".days g")).to_have_count(7)
    tab.get_by_label("From").fill("2020-01-01")
    tab.get_by_label("to", exact=True).fill("2020-01-31")
    tab.get_by_role("button", name="Show").click()
    expect(tab.get_by_text("Nothing was asked in this period")).to_be_visible()
    tab.get_by_role("link", name="30 days").click()

    tab.get_by_role("link", name="tariff-filing.md").first.click()
    expect(tab.get_by_role("heading", name="Tariff filing handbook").first).to_be_visible()
    tab.go_back()
    tab.locator("a.term", has_text="QTFX").click()
    expect(tab.get_by_role("heading", name="QTFX").first).to_be_visible()


def test_the_insight_page_works_on_a_phone_and_without_script(open_page: Callable[..., Any], served: Served) -> None:
    tab = open_page(java_script_enabled=False, viewport={"width": 390, "height": 800}, color_scheme="dark")
    for query in ("", "?days=365", "?since=2020-01-01&until=2020-01-02"):
        tab.goto(f"{served.url}/insight{query}")
        assert tab.locator("html").bounding_box()["width"] <= 390, query
        assert tab.locator("main").bounding_box()["width"] <= 390, query
        assert all(one.bounding_box()["width"] <= 390 for one in tab.locator("table, .days").all()), query


@pytest.mark.skipif(not os.environ.get("ARGOT_SCREENSHOTS"), reason="writes docs/screenshots: ARGOT_SCREENSHOTS=1")
def test_screenshots_of_the_insight_page(chromium: Any, tmp_path: Path) -> None:
    import json

    home = tmp_path / "kb"
    Served(home, "--samples").stop()
    asked = [json.loads(text)["question"] for text in (ROOT / "samples" / "questions.jsonl").read_text().splitlines()]
    prepare(home, [one for place, one in enumerate(asked * 2) if place % 3] + [*OPEN[3:6], OPEN[0], *OPEN[3:]])
    with Served(home) as server:
        tab = chromium.new_page(viewport={"width": 1180, "height": 820}, color_scheme="light")
        tab.set_default_timeout(PATIENCE)
        tab.goto(f"{server.url}/insight")
        tab.wait_for_load_state("networkidle")
        tab.screenshot(path=SHOTS / "insight.png")
        if folder := os.environ.get("TMPDIR"):  # for inspection of the whole page
            tab.screenshot(path=Path(folder) / "insight-whole.png", full_page=True)
            phone = chromium.new_page(viewport={"width": 390, "height": 780}, color_scheme="dark")
            phone.goto(f"{server.url}/insight")
            phone.screenshot(path=Path(folder) / "insight-phone.png", full_page=True)
