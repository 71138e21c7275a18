"""Tests of the chat window in a real browser, with a real server in its own process."""

import os
import re
import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect
from repository import ROOT
from serving import Served, argot
from window import (
    MESSAGE,
    PATIENCE,
    QUESTION,
    answer,
    ask,
    choices,
    come_back,
    conversation,
    idle,
    mark,
    open_window,
    page_picture,
    panel,
    panel_title,
    press,
    told,
    visitors,
    wait_until,
)

from argot.settings import Settings

CANARY = "<img src=x onerror=window.pwned=1>"
TRACKER = "http://tracker.example"
CANARY_TEXT = f"""# Songbirds {CANARY}<script>window.pwned=1</script>

The dwarf canary of the test hall sings at 4711 hertz. {CANARY} ![pixel]({TRACKER}/pixel.png)
The dwarf canary sleeps at noon, see [the plan](javascript:window.pwned=1) or {TRACKER}/plan or <{TRACKER}/auto>.
"""

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def served(chromium: Any, tiny_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("served")
    home = Path(shutil.copytree(tiny_home, folder / "kb"))
    # In a thread, because Playwright runs an event loop in this one.
    with ThreadPoolExecutor(1) as thread:
        thread.submit(_add_canary, home, folder).result()
    with Served(home) as server:
        yield server
    assert sorted(path.name for path in folder.iterdir()) == ["kb", "put"]  # nothing is written beside the home


@pytest.fixture
def page(chromium: Any, served: Served) -> Iterator[Any]:
    """Provide a page of a new visitor."""
    with visitors(chromium, served.url) as visit:
        yield visit()


def test_a_question_is_answered_with_a_citation_that_opens_the_passage(page: Any, served: Served) -> None:
    open_window(page, served.url)
    expect(page).to_have_title("Argot")
    ask(page, "What is the WL voltage during a read?")
    text = answer(page, "4.5 V")
    for said in ("WL: Word Line", "NAND", "nand-layout.md"):
        expect(text).to_contain_text(said, use_inner_text=True)
    expect(page.get_by_text(re.compile("How this was answered"))).to_have_count(1)
    mark(page, "[1]").first.click()
    expect(panel(page).get_by_text("4.5 V").first).to_be_visible()
    expect(panel_title(page)).to_contain_text("nand-layout.md")
    expect(panel(page).locator("del[role=mark]").first).to_contain_text("4.5 V")  # the cited sentence is marked


def test_an_ambiguous_term_is_asked_back_and_chosen_by_button(page: Any, served: Served) -> None:
    open_window(page, served.url)
    ask(page, "What is PUC?")
    answer(page, "PUC")
    expect(choices(page).nth(2)).to_be_visible()
    expect(choices(page, "Public Utilities Commission (Legal)").first).to_be_visible()
    press(page, choices(page, "Public Utilities Commission"))
    expect(answer(page, "Understood as")).to_contain_text("PUC: Public Utilities Commission", use_inner_text=True)
    expect(choices(page)).to_have_count(0)


def test_a_long_answer_is_read_from_its_question_on_also_when_it_is_opened_again(chromium: Any, served: Served) -> None:
    with visitors(chromium, served.url) as visit:
        page = visit(viewport={"width": 1000, "height": 420})
        open_window(page, served.url)
        for question, said in (
            ("What is the WL voltage during a read?", "4.5 V"),
            ("How long does trimming a drive take?", "40 seconds"),
            ("What is the WL voltage during a read?", "4.5 V"),
        ):
            ask(page, question)
            answer(page, said)
        at_top = f"""() => {{
            const top = document.querySelectorAll('{QUESTION}')[2]?.getBoundingClientRect().top;
            return top >= 0 && top < 120;
        }}"""
        wait_until(page, at_top)
        assert page.locator(MESSAGE).last.bounding_box()["height"] > 250  # it is longer than the window shows
        come_back(page)
        wait_until(page, at_top)


def test_what_surrounds_an_answer_and_how_it_came_about_are_folded_below_it(page: Any, served: Served) -> None:
    open_window(page, served.url)
    ask(page, "How long does trimming a drive take?")
    text = answer(page, "40 seconds")
    around, heading = text.locator("blockquote"), text.get_by_role("button", name=re.compile("In context"))
    expect(around).to_be_hidden()
    expect(heading).to_have_attribute("aria-expanded", "false")
    heading.click()
    expect(around).to_contain_text("40 seconds")
    expect(heading).to_have_attribute("aria-expanded", "true")
    path = page.get_by_text("How this was answered")
    assert path.bounding_box()["y"] > text.bounding_box()["y"]
    path.click()
    expect(page.get_by_text(re.compile("the answer quotes 1 of them"))).to_be_visible()


def test_a_choice_may_be_answered_in_words_or_ignored(page: Any, served: Served) -> None:
    open_window(page, served.url)
    ask(page, "What is PUC?")
    answer(page, "PUC")
    expect(choices(page).first).to_be_visible()
    ask(page, "How much does a late tariff filing cost?")
    answer(page, "500 dollars")
    ask(page, "What is PUC?")
    answer(page, "PUC")
    expect(choices(page).first).to_be_visible()
    ask(page, "the legal one")
    expect(answer(page, "Understood as")).to_contain_text("PUC: Public Utilities Commission", use_inner_text=True)


def test_the_list_of_documents_is_shown_again_after_a_reload(page: Any, served: Served) -> None:
    open_window(page, served.url)
    ask(page, "What documents do you have?")
    expect(answer(page, "I answer from").locator("li", has_text="nand-layout.md")).to_have_count(1)
    come_back(page)
    expect(answer(page, "I answer from").locator("li", has_text="nand-layout.md")).to_have_count(1)


def test_threads_survive_a_restart_with_their_open_choice(page: Any, served: Served) -> None:
    open_window(page, served.url)
    ask(page, "How long does trimming a drive take?")
    answer(page, "40 seconds")
    page.locator(".positive-feedback-off").first.click()
    page.locator("#submit-feedback").click()
    expect(page.locator(".positive-feedback-on")).to_be_visible()
    ask(page, "What is PUC?")
    answer(page, "PUC")
    expect(choices(page).first).to_be_visible()

    assert served.stop() == 0
    served.start()
    open_window(page, served.url)
    conversation(page, "How long does trimming").first.click()
    expect(told(page, "40 seconds")).to_contain_text("drive-tool.md", use_inner_text=True)
    answer(page, "PUC")
    expect(page.locator(".positive-feedback-on")).to_have_count(1)
    press(page, choices(page, "Peripheral Under Cell"))
    expect(answer(page, "PUC: ")).to_contain_text("PUC: Peripheral Under Cell", use_inner_text=True)


def test_a_button_pressed_twice_counts_once_in_every_tab(page: Any, served: Served) -> None:
    open_window(page, served.url)
    ask(page, "What is PUC?")
    answer(page, "PUC")
    expect(choices(page).first).to_be_visible()
    thread = page.url
    expect(conversation(page, "What is PUC?").first).to_have_attribute("href", thread.removeprefix(served.url))
    other = page.context.new_page()
    open_window(other, thread)
    answer(other, "PUC")
    expect(choices(other).first).to_be_visible()
    choices(page, "Public Utilities Commission").dblclick()
    expect(answer(page, "Understood as")).to_contain_text("PUC: Public Utilities Commission", use_inner_text=True)
    expect(answer(other, "Understood as")).to_contain_text("PUC: Public Utilities Commission", use_inner_text=True)
    for window in (page, other):  # the other tab is updated and no longer offers the choice
        expect(choices(window)).to_have_count(0)
        expect(window.locator(MESSAGE, has_text="Understood as")).to_have_count(1)
        expect(window.locator(QUESTION).nth(2)).to_have_count(0)
    other.close()


def test_a_removed_document_disappears_from_its_answer(page: Any, served: Served, tmp_path: Path) -> None:
    (tmp_path / "numbat.md").write_text("# Numbat\n\nThe numbat of the depot leaves at midnight.\n")
    argot("add", tmp_path / "numbat.md", "--home", served.home)
    open_window(page, served.url)
    ask(page, "When does the numbat of the depot leave?")
    answer(page, "midnight")
    argot("remove", "numbat.md", "--home", served.home)
    mark(page, "[1]").first.click()
    expect(panel_title(page)).to_contain_text("No longer there")
    come_back(page)
    expect(answer(page, "not shown")).not_to_contain_text("midnight")


def test_texts_of_documents_names_and_glossary_are_inactive(page: Any, served: Served) -> None:
    open_window(page, served.url)
    ask(page, "At what frequency does the DWCN sing?")
    expect(answer(page, "4711 hertz")).to_contain_text(CANARY, use_inner_text=True)
    mark(page, "[1]").first.click()
    expect(panel(page).get_by_text("4711 hertz").first).to_be_visible()
    expect(panel_title(page)).to_contain_text(CANARY)
    assert page.evaluate("window.pwned") is None
    hrefs = page.eval_on_selector_all(".message-content a, #side-view-content a", "all => all.map(a => a.href)")
    ours = (f"{served.url}/argot/passages/", f"{served.url}/argot/terms/0?term=DWCN", f"{served.url}/library/d")
    assert [href for href in hrefs if not href.startswith(ours)] == []
    assert page.locator(".message-content img, #side-view-content img").count() == 0


def test_an_invalid_question_gets_a_clear_answer(page: Any, served: Served) -> None:
    open_window(page, served.url)
    for question, said in (("🎉", "word"), ("a" * 1_000_000, "1,000,000 characters")):
        ask(page, question)
        expect(told(page, said)).not_to_contain_text("Traceback")


def test_a_thread_is_renamed_and_deleted(page: Any, served: Served) -> None:
    open_window(page, served.url)
    ask(page, "How many seconds does trimming a drive take?")
    answer(page, "40 seconds")
    entry = conversation(page, "How many seconds")
    entry.hover()
    entry.locator("#thread-options").click()
    page.get_by_role("menuitem", name="Rename").click()
    page.locator("input#name").fill("Trim times")
    page.get_by_role("dialog").get_by_role("button", name="Confirm").click()
    renamed = conversation(page, "Trim times")
    expect(page.get_by_role("dialog")).to_have_count(0)
    renamed.hover()
    renamed.locator("#thread-options").click()
    page.get_by_role("menuitem", name="Delete").click()
    page.get_by_role("button", name="Confirm").click()
    expect(renamed).to_have_count(0)


@pytest.fixture
def scripted_model(shared_model: Any) -> Any:
    """Provide the language model of `modelled`, reset after the previous test."""
    return shared_model.reset()


@pytest.fixture(scope="module")
def modelled(
    chromium: Any, shared_model: Any, tiny_home: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Served]:
    """Provide a service with the scripted server as its language model and very long time limits."""
    home = Path(shutil.copytree(tiny_home, tmp_path_factory.mktemp("modelled") / "kb"))
    patient = {"ARGOT_MODEL_FIRST_TOKEN_SECONDS": "600", "ARGOT_MODEL_SECONDS": "3600"}
    with Served(home, ARGOT_MODEL_URL=shared_model.url, **patient) as server:
        yield server


@pytest.fixture
def tab(chromium: Any, modelled: Served) -> Iterator[Any]:
    """Provide a page of a new visitor of the service with a language model."""
    with visitors(chromium, modelled.url) as visit:
        yield visit()


def test_a_models_words_are_streamed_and_finally_checked(tab: Any, modelled: Served, scripted_model: Any) -> None:
    scripted_model.reply("cited_answer", f"The Word Line voltage during a read is 4.5 V [1].\n\n{CANARY} Pigs fly [9].")
    scripted_model.fault("pause", prompt="cited_answer", tokens=4)
    open_window(tab, modelled.url)
    ask(tab, "What is the Word Line voltage during a read?")
    expect(tab.locator(MESSAGE, has_text="The Word Line").last).to_be_visible()
    assert not scripted_model.asked("cited_answer")[0].done  # the model was still writing
    scripted_model.heal()
    text = answer(tab, "Written by the language model scripted")
    expect(text).to_contain_text("4.5 V. [1]", use_inner_text=True)
    expect(text).to_contain_text(CANARY, use_inner_text=True)
    expect(text).to_contain_text("no passage supports this", use_inner_text=True)
    tab.get_by_text("How this was answered").click()
    expect(tab.get_by_text(re.compile(r"the language model wrote the answer from 1 of them"))).to_be_visible()


def test_a_stream_that_breaks_off_is_replaced_with_a_notice(tab: Any, modelled: Served, scripted_model: Any) -> None:
    scripted_model.reply("cited_answer", "Something of the model's own that goes on.")
    scripted_model.fault("cut", tokens=5)
    open_window(tab, modelled.url)
    ask(tab, "What is the Word Line voltage during a read?")
    text = answer(tab, "quotes the documents instead")
    expect(text).to_contain_text("4.5 V", use_inner_text=True)
    expect(text).not_to_contain_text("Something")
    scripted_model.heal()
    scripted_model.reply("cited_answer", "Trimming a drive takes about 40 seconds [1].")
    ask(tab, "How long does trimming a drive take?")
    expect(answer(tab, "Written by the language model scripted")).to_contain_text("40 seconds", use_inner_text=True)


POISONED = (
    "The Word Line voltage during a read is 4.5 V [1]. See [the plan](http://tracker.example/plan) and "
    "![](http://tracker.example/pixel.png) and ![pixel][p] <img src=http://tracker.example/tag.png> [more][p] "
    "<http://tracker.example/auto> http://tracker.example/bare [mark](/argot/passages/p0/original) "
    "![dot](data:image/png;base64,iVBORw0KGgo=) [page](data:text/html,<script>window.pwned=1</script>) "
    "<a href=http://tracker.example/tag>tag</a> <svg><image href=http://tracker.example/svg.png></svg> "
    "[run](javascript:window.pwned=1) :link[x]{href=http://tracker.example/d}\n\n[p]: http://tracker.example/ref.png"
)
WATCH_LINKS = """() => {
    window.acting = new Set();
    const look = () => document.querySelectorAll('.message-content a, .message-content img')
        .forEach((one) => window.acting.add(one.href || one.src));
    new MutationObserver(look).observe(document.body, {childList: true, subtree: true, attributes: true});
}"""
"""Keeps where the links and images of the messages lead, also of those that stand there for a moment only."""


def test_links_and_images_written_by_a_model_are_inactive(tab: Any, modelled: Served, scripted_model: Any) -> None:
    """Check scorecard 5. The end of the fixture `tab` checks that no other server was contacted."""
    scripted_model.reply("cited_answer", POISONED)
    scripted_model.speed = 0.05
    open_window(tab, modelled.url)
    tab.evaluate(WATCH_LINKS)  # also while the answer is streamed
    ask(tab, "What is the Word Line voltage during a read?")
    text = answer(tab, "Written by the language model scripted")
    expect(text).to_contain_text("See the plan and", use_inner_text=True)  # no passage leads there
    expect(text).to_contain_text("http://tracker.example/bare", use_inner_text=True)  # shown as plain text
    seen = tab.evaluate("[...window.acting]")
    assert seen
    assert [one for one in seen if not one.startswith(f"{modelled.url}/argot/passages/")] == []
    assert not any(one.endswith("/p0/original") for one in seen)
    assert tab.evaluate("window.pwned") is None
    sources = re.search(r"img-src ([^;]*)", tab.goto(modelled.url).headers["content-security-policy"])
    assert sources and sources[1] == "'self'"


def test_the_stop_button_stops_the_model(tab: Any, modelled: Served, scripted_model: Any) -> None:
    scripted_model.reply("cited_answer", " ".join(f"word{number}" for number in range(400)))
    scripted_model.fault("pause", prompt="cited_answer", tokens=10)
    open_window(tab, modelled.url)
    ask(tab, "What is the Word Line voltage during a read?")
    expect(tab.locator(MESSAGE, has_text="word3").last).to_be_visible()
    tab.locator("#stop-button").click()
    assert scripted_model.wait_until(lambda: scripted_model.asked("cited_answer")[0].gone)

    # The conversation continues, also after a reload, and the stopped answer is not taken for an answer.
    idle(tab)
    scripted_model.heal()
    scripted_model.reply("cited_answer", "Trimming a drive takes about 40 seconds [1].")
    ask(tab, "How long does trimming a drive take?")
    answer(tab, "40 seconds")
    come_back(tab)
    answer(tab, "40 seconds")
    expect(told(tab, "This question was stopped")).not_to_contain_text("word3")
    expect(tab.get_by_role("button", name="Answer again")).to_be_visible()


@pytest.mark.skipif(not os.environ.get("ARGOT_SCREENSHOTS"), reason="writes docs/screenshots: ARGOT_SCREENSHOTS=1")
def test_screenshots_of_the_samples(chromium: Any, tmp_path: Path) -> None:
    server = Served(tmp_path / "kb", "--samples")
    shots = ROOT / "docs" / "screenshots"
    shots.mkdir(exist_ok=True)
    light = chromium.new_page(viewport={"width": 1180, "height": 760}, color_scheme="light")
    light.set_default_timeout(PATIENCE)
    open_window(light, server.url)
    light.locator("#starters").wait_for()
    light.wait_for_timeout(800)
    light.screenshot(path=shots / "welcome.png")
    light.locator("#starters button").first.click()
    answer(light, "3.4 micrometres")
    mark(light, "[1]").first.click()
    page_picture(light)
    light.wait_for_timeout(800)
    light.screenshot(path=shots / "answer.png")
    light.keyboard.press("Escape")
    light.get_by_text("Not what I meant").first.click()
    choices(light, "Public").wait_for()
    light.wait_for_timeout(800)
    light.screenshot(path=shots / "not-meant.png")
    small = chromium.new_page(viewport={"width": 390, "height": 780}, color_scheme="dark")
    small.set_default_timeout(PATIENCE)
    open_window(small, server.url)
    ask(small, "What's the PUC height limit on the x4 die?")
    answer(small, "3.4 micrometres")
    small.wait_for_timeout(800)
    small.screenshot(path=shots / "telephone.png")
    dark = chromium.new_page(viewport={"width": 1180, "height": 760}, color_scheme="dark")
    dark.set_default_timeout(PATIENCE)
    open_window(dark, server.url)
    ask(dark, "What is PLP?")
    choices(dark).first.wait_for()
    dark.wait_for_timeout(800)
    dark.screenshot(path=shots / "choice.png")
    server.stop()


def _add_canary(home: Path, folder: Path) -> None:
    from argot.service.transport.knowledge_base_client import connect
    from argot.service.usecases import catalogue

    put = folder / "put"
    put.mkdir()
    (put / f"birds {CANARY}.md").write_text(CANARY_TEXT, encoding="utf-8")
    with connect(home, Settings(home=home)) as client:
        client.call(catalogue.documents.add, paths=[str(put)])
        client.call(
            catalogue.senses.glossary_add,
            term="DWCN",
            context="Tools",
            expansion=f"dwarf canary {CANARY}",
            description=f"![d]({TRACKER}/d.png)",
        )


SIDES = ["What is the Word Line voltage during a read?", "What does a late tariff filing cost?"]


def test_a_thorough_answer_shows_its_plan_and_a_table(tab: Any, modelled: Served, scripted_model: Any) -> None:
    def settle(request: Any) -> dict[str, Any]:
        number = re.search(
            r'<passage n="(\d+)"[^>]*>\n[^<]*' + ("4.5 V" if SIDES[0] in now(request) else "500"), request.user
        )
        made = {"first": "tariff filing penalties", "second": "", "passages": [int(number[1])] if number else []}
        return {"calls": [{"tool": "answered" if number else "search", **made}]}

    def now(request: Any) -> str:
        return str(request.user.partition("<now>")[2])

    scripted_model.context = 16_384
    scripted_model.reply("plan_research", {"sub_questions": SIDES, "compared": ["Word Line", "tariff filing"]})
    scripted_model.reply("research", settle)
    rows = ["| | Word Line | tariff filing |", "|---|---|---|", "| Voltage during a read | 4.5 V [1] | - |"]
    table = "\n".join([*rows, "| Cost | - | 40 dollars [2] |"])
    scripted_model.reply("cited_answer", table)
    scripted_model.fault("pause", prompt="cited_answer", tokens=1)
    open_window(tab, modelled.url)
    tab.locator("#chat-settings-open-modal").click()
    tab.locator("#effort").click()
    tab.get_by_role("option", name=re.compile("Thorough")).click()
    tab.get_by_role("button", name="Confirm").click()
    ask(tab, "Compare the Word Line with a late tariff filing.")
    for number, side in enumerate(SIDES, 1):
        expect(tab.get_by_text(f"{number}. {side} · 1 passage")).to_be_visible()
    scripted_model.heal()
    text = answer(tab, "Written by the language model scripted")
    expect(text.locator("td", has_text="4.5 V")).to_contain_text("[1]", use_inner_text=True)
    expect(text.locator("td", has_text="40 dollars")).to_contain_text("no passage supports this", use_inner_text=True)
