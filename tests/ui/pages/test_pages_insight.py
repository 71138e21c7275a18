"""Tests of the insight page without a browser: what it shows to whom, escaped, for any period."""

import re
import shutil
from collections.abc import AsyncIterator
from html import unescape
from pathlib import Path

import httpx
import pytest
from desk import at_desk
from markupsafe import Markup

from argot.service.insight.insight_results import DayCount
from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases.questions.questions import ask
from argot.service.usecases.questions.threads import feedback
from argot.service.usecases.usecase_registry import get_answer
from argot.settings import Settings
from argot.types import Principal
from argot.ui.pages.page_routes import build_pages
from argot.ui.rendering.insight_charts import TITLES, draw_questions, draw_share

ADA = Principal("ada", sees_all=True)
NINA = Principal("nina", manages=frozenset({"NAND"}))
HOSTILE = 'Who won <img src=x onerror=alert(1)>"><script>alert(1)</script> the cup?'


@pytest.fixture
async def kb(tiny_home: Path, tmp_path: Path) -> AsyncIterator[KnowledgeBase]:
    home = shutil.copytree(tiny_home, tmp_path / "kb")
    async with KnowledgeBase.open(home, Settings(home=home)) as opened:
        yield opened


@pytest.fixture
async def ada(kb: KnowledgeBase) -> AsyncIterator[httpx.AsyncClient]:
    async with at_desk(build_pages(kb), ADA) as client:
        yield client


async def shown(client: httpx.AsyncClient, query: str = "", code: int = 200) -> str:
    answer = await client.get(f"/insight{query}")
    assert answer.status_code == code, answer.text[-500:]
    assert (
        re.findall(
            r"<style|\sstyle=|<script>|\son\w+=|hx-on|\bjs:|https?://",
            answer.text.replace(str(Markup.escape(HOSTILE)), ""),
        )
        == []
    )
    return answer.text


async def test_an_empty_base_shows_what_the_page_will_hold(ada: httpx.AsyncClient) -> None:
    html = await shown(ada)
    assert "No question has been counted yet" in html and "how long people wait" in html
    assert "nand-layout.md" in html  # no answer has cited it


async def test_questions_are_shown_escaped_with_links_to_act_on_them(kb: KnowledgeBase, ada: httpx.AsyncClient) -> None:
    result = await get_answer(ask(kb, ADA, question=HOSTILE))
    await feedback(kb, ADA, thread=result.thread, turn=0, value=-1, comment="<b>nothing</b>", share=True)
    await get_answer(ask(kb, ADA, question="How much does a late QTFX cost?"))
    await get_answer(ask(kb, ADA, question="How much does a late tariff filing cost?"))
    await kb.chores.finish()
    html = await shown(ada)
    assert "<img src=x" not in html and "<b>nothing" not in html
    assert "Who won <img" in unescape(html) and "<b>nothing</b>" in unescape(html)
    assert '<a class="term" dir="auto" href="/glossary/queue/term?t=QTFX">' in html
    cited = re.search(r'<a dir="auto" href="/documents/(d\w+)">tariff-filing.md</a></td><td class="num">1</td>', html)
    assert cited
    never = html[html.index('id="never"') :]
    assert "nand-layout.md" in never and "tariff-filing.md" not in never
    assert html.count("<title>") > 30  # a bar with its number for each day
    assert "Command line" in html


async def test_a_manager_of_some_contexts_is_not_shown_comments(kb: KnowledgeBase) -> None:
    result = await get_answer(ask(kb, ADA, question="Who won the football world cup?"))
    await feedback(kb, ADA, thread=result.thread, turn=0, value=-1, comment="no football", share=True)
    await kb.chores.finish()
    async with at_desk(build_pages(kb), NINA) as nina:
        html = await shown(nina)
        assert "football" not in html and "managers of all contexts" in html and "1 down" in html
    async with at_desk(build_pages(kb), Principal("ann")) as ann:
        assert (await ann.get("/insight")).status_code == 403


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("?days=7", 200), ("?days=365", 200), ("?days=8", 200), ("?days=x&start=-3", 200), ("?start=9999", 200),
        ("?since=2026-01-01&until=2027-01-01", 200), ("?since=2020-01-01&until=2020-01-01", 200),
        ("?since=no&until=", 400), ("?until=9999-12-31", 400), ("?until=0001-01-02", 400),
        ("?since=1970-01-01&until=2199-12-31", 200), ("?until=1970-01-01", 200),
        ("?since=2027-02-02&until=2027-01-01", 400), ("?since=%3Cscript%3E", 400),
    ],
)  # fmt: skip
async def test_any_period_can_be_requested(kb: KnowledgeBase, ada: httpx.AsyncClient, query: str, code: int) -> None:
    await get_answer(ask(kb, ADA, question="hello"))
    await kb.chores.finish()
    assert "Questions, and how they went" in await shown(ada, query, code)


def test_long_periods_are_drawn_by_week_or_month() -> None:
    days = [DayCount("2026-01-05", 3, 1, {}), DayCount("2026-01-07", 4, 0, {})]
    by_day = draw_questions(days, "2026-01-01", "2026-01-31")
    by_week = draw_questions(days, "2026-01-01", "2026-12-31")
    by_month = draw_questions(days, "2024-01-01", "2026-12-31")
    assert [one.title for one in (by_day, by_week, by_month)] == [*TITLES.values()]
    highest = [one.highest for one in (by_day, by_week, by_month)]
    assert highest == ["at most 4 a day", "at most 7 a week", "at most 7 a month"]
    assert str(by_day.drawing).count("<g>") == 31 and str(by_month.drawing).count("<g>") == 36
    assert "2026-01-05: 7, 1 without an answer" in by_week.drawing
    assert draw_questions([], "2026-01-01", "2026-01-01").highest == "at most 0 a day"
    assert 'width="100.0%"' in draw_share(1.7)
