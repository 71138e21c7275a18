"""Tests of news in a real browser: an open conversation shows it at once, another one when it is opened; once."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect
from serving import Served, argot
from window import MESSAGE, QUESTION, answer, ask, come_back, conversation, open_window, press, visitors

from argot.service.usecases.glossary.impact import TermNews
from argot.types import Sense
from argot.ui.chat import news as chat_news
from argot.ui.chat.news import News, format_news

MEANING = "Zigzag Quartz Valve"


def test_news_is_shown_as_plain_text() -> None:
    sense = Sense(1, "Z`Q", "*NAND*", "<img src=x> [a](http://b)")
    told = format_news(TermNews("Z`Q", "", (sense,)))
    assert "<img" not in told.replace("\\<", "")
    assert "](" not in told
    assert "\\*NAND\\*" in told


async def test_no_news_is_fetched_for_a_closed_window(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    taken: list[str] = []

    class Window:
        thread_id = "t"

    async def take(self: News, thread: str) -> list[dict[str, Any]]:
        taken.append(thread)
        return []

    news, window = News(None), Window()  # type: ignore[arg-type]
    monkeypatch.setattr(News, "_take_news", take)
    monkeypatch.setattr(chat_news, "is_connected", lambda session: False)
    await news.tell(window)
    assert (taken, len(news._watchers)) == ([], 0)

    monkeypatch.setattr(chat_news, "is_connected", lambda session: True)
    await news.tell(window)
    assert (taken, len(news._watchers)) == (["t"], 1)
    news.leave(window)


@pytest.fixture(scope="module")
def served(chromium: Any, tiny_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with Served(Path(shutil.copytree(tiny_home, tmp_path_factory.mktemp("news") / "kb"))) as server:
        yield server


@pytest.fixture
def page(chromium: Any, served: Served) -> Iterator[Any]:
    with visitors(chromium, served.url) as visit:
        yield visit()


def news(page: Any) -> Any:
    return page.locator(MESSAGE, has_text="It has a meaning now")


@pytest.mark.browser
def test_an_open_window_shows_news_at_once_with_a_button_to_ask_again(page: Any, served: Served) -> None:
    open_window(page, served.url)
    ask(page, "How long is a ZQXV?")
    answer(page, "ZQXV")
    argot("glossary", "add", "ZQXV", "NAND", MEANING, "--home", served.home)

    expect(news(page)).to_be_visible()
    press(page, page.locator("button", has_text="Ask again"))
    expect(answer(page, "")).to_contain_text(re.compile(f"ZQXV: {MEANING}|Understood as"), use_inner_text=True)
    expect(news(page)).to_have_count(1)


@pytest.mark.browser
def test_a_returning_asker_is_told_the_news_once(page: Any, served: Served) -> None:
    open_window(page, served.url)
    ask(page, "How long is a KJQW?")
    answer(page, "KJQW")
    page.goto("about:blank")
    argot("glossary", "add", "KJQW", "NAND", MEANING, "--home", served.home)
    open_window(page, served.url)
    conversation(page, "How long is a KJQW?").first.click()
    expect(news(page)).to_be_visible()

    come_back(page)
    expect(page.locator(QUESTION)).to_have_count(1)
    answer(page, "KJQW")
    expect(news(page)).to_have_count(0)
