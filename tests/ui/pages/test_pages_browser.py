"""Tests of the glossary pages in a real browser: the whole way from a missed question to its answer."""

import os
import re
import shutil
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect
from repository import ROOT
from serving import Served, argot
from window import PATIENCE, answer, ask, connected, open_window, send, sign_in, visitors

SHOTS = ROOT / "docs" / "screenshots"

pytestmark = pytest.mark.browser


HOSTILE = "<img src=x onerror=window.pwned=1><script>window.pwned=1<\u2215script>"
"""A file may be called so: a slash, which no name can hold, is written otherwise."""
SCRIPT = "<img src=x onerror=window.pwned=1><script>window.pwned=1</script><svg onload=window.pwned=1>"


@pytest.fixture(scope="module")
def served(chromium: Any, tiny_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Provide one service for all tests; each test has its own terms."""
    folder = tmp_path_factory.mktemp("pages")
    home = Path(shutil.copytree(tiny_home, folder / "kb"))
    text = f"# {SCRIPT}\n\nThe gyro canary unit (GCU) {SCRIPT} is kept at 21 degrees. {SCRIPT}\n"
    (folder / f"{HOSTILE}.md").write_text(text)
    argot("add", str(folder / f"{HOSTILE}.md"), "--home", str(home))
    with Served(home) as server:
        yield server


@pytest.fixture
def open_page(chromium: Any, served: Served) -> Iterator[Callable[..., Any]]:
    """Provide a function that opens a page of a new visitor."""
    with visitors(chromium, served.url) as visit:
        yield visit


def scripted(tab: Any) -> None:
    """Wait until the page's script runs and handles all input from now on."""
    tab.wait_for_load_state("load")


def test_a_missed_question_leads_to_a_definition_and_an_answer(open_page: Callable[..., Any], served: Served) -> None:
    tab = open_page()
    open_window(tab, served.url)
    ask(tab, "How much does a late QTFX cost?")
    answer(tab, "QTFX")
    tab.get_by_role("link", name="Glossary").click()

    tab.get_by_role("link", name="missed term").click()
    tab.get_by_role("link", name="QTFX").click()
    expect(tab.get_by_text("How much does a late QTFX cost?").first).to_be_visible()
    expect(tab.get_by_text("No term or other name in the glossary")).to_be_visible()
    tab.get_by_role("link", name="Write its meaning").click()

    expect(tab.get_by_label("Term", exact=True)).to_have_value("QTFX")
    scripted(tab)
    tab.get_by_label("Context").select_option("Legal")
    tab.get_by_label("Stands for").fill("tariff filling")
    expect(tab.get_by_text("No document spells out")).to_be_visible()  # while typing
    tab.get_by_label("Stands for").fill("tariff filing")
    expect(tab.get_by_text("No document spells out")).to_have_count(0)
    tab.get_by_role("button", name="Save as draft").click()

    expect(tab.get_by_text("Once approved").first).to_be_visible()
    effect = tab.locator(".effect", has_text="How much does a late QTFX cost?")
    expect(effect.locator(".side").nth(0)).to_contain_text("unknown", use_inner_text=True)
    expect(effect.locator(".side").nth(1)).to_contain_text("tariff filing", use_inner_text=True)
    tab.get_by_role("button", name="Approve").click()
    expect(tab.get_by_text("Answers use it from now on")).to_be_visible()

    tab.get_by_role("link", name="How much does a late QTFX cost?").click()  # the question is already filled in
    connected(tab)
    expect(tab.locator("#chat-input")).to_have_value("How much does a late QTFX cost?")
    send(tab)
    expect(answer(tab, "500 dollars")).to_contain_text("QTFX: tariff filing", use_inner_text=True)


def test_the_search_works_while_typing_and_by_keyboard_only(open_page: Callable[..., Any], served: Served) -> None:
    tab = open_page()
    tab.goto(f"{served.url}/glossary")
    rows = tab.locator("#results .row")
    expect(rows.filter(has_text="Word Line")).to_have_count(1)
    expect(tab.locator("#q")).to_be_focused()
    tab.keyboard.type("periph")  # the search box has the focus
    expect(tab).to_have_url(re.compile(r"/glossary\?q=periph$"))
    expect(rows.filter(has_text="Word Line")).to_have_count(0)
    expect(rows).to_have_count(1)
    for _ in range(3):
        tab.keyboard.press("Tab")
        if "PUC" in tab.evaluate("document.activeElement.innerText"):
            break
    tab.keyboard.press("Enter")
    expect(tab.get_by_role("heading", name="Peripheral Under Cell")).to_be_visible()
    tab.go_back()
    expect(tab.locator("#q")).to_have_value("periph")
    expect(rows).to_have_count(1)


def test_two_managers_save_at_once_and_the_second_loses_nothing(open_page: Callable[..., Any], served: Served) -> None:
    first, second = open_page(), open_page()
    for tab in (first, second):
        tab.goto(f"{served.url}/glossary/term?t=WL")
        tab.get_by_role("link", name="Edit").click()
        expect(tab.locator("#description")).to_be_visible()
    first.locator("#description").fill("The first wrote this.")
    first.get_by_role("button", name="Save").click()
    expect(first.get_by_text("Saved.")).to_be_visible()
    second.locator("#description").fill("The second wrote that.")
    second.get_by_label("Other names").fill("word-line")
    second.get_by_role("button", name="Save").click()
    expect(second.get_by_text("saved this too")).to_be_visible()
    expect(second.locator(".changes")).to_contain_text("The first wrote this.", use_inner_text=True)
    expect(second.locator("#description")).to_have_value("The second wrote that.")
    expect(second.get_by_label("Other names")).to_have_value("word-line")
    second.get_by_role("button", name="Save").click()
    expect(second.get_by_text("Saved.")).to_be_visible()
    expect(second.get_by_text("The second wrote that.").first).to_be_visible()


def test_the_pages_work_without_script_on_a_narrow_screen(open_page: Callable[..., Any], served: Served) -> None:
    tab = open_page(java_script_enabled=False, viewport={"width": 390, "height": 800}, color_scheme="dark")
    tab.goto(f"{served.url}/glossary/new")
    tab.get_by_label("Term", exact=True).fill("CLR")
    tab.get_by_label("Context").select_option("NAND")
    tab.get_by_label("Stands for").fill("clean room")
    tab.get_by_role("button", name="Save as draft").click()
    tab.get_by_role("button", name="Approve").click()
    expect(tab.get_by_text("Answers use it from now on")).to_be_visible()
    for path in ("", "/term?t=PUC", "/queue", "/use", "/history", "/files", "/contexts", "/conflicts", "/sense/1/edit"):
        tab.goto(f"{served.url}/glossary{path}")
        assert tab.locator("html").bounding_box()["width"] <= 390, path
        assert tab.locator("main").bounding_box()["width"] <= 390, path


def test_the_links_to_the_pages_are_one_row_and_on_a_phone_a_menu_without_script(
    open_page: Callable[..., Any], served: Served
) -> None:
    for language in ("en", "de", "fr", "es"):
        tab = open_page(locale=language)
        tab.goto(f"{served.url}/glossary")
        assert tab.locator(".top").bounding_box()["height"] < 60, language
    tab = open_page(java_script_enabled=False, viewport={"width": 390, "height": 800})
    tab.goto(f"{served.url}/glossary/history")
    assert tab.locator("header").bounding_box()["height"] < 120
    people = tab.get_by_role("link", name="People")
    expect(people).to_be_hidden()
    tab.get_by_role("button", name="Menu").press("Enter")
    expect(people).to_be_visible()
    tab.keyboard.press("Escape")
    expect(people).to_be_hidden()
    tab.get_by_role("button", name="Menu").press("Enter")
    people.click()
    expect(tab).to_have_url(f"{served.url}/people")


def test_no_text_of_people_or_documents_is_active(open_page: Callable[..., Any], served: Served) -> None:
    """Check scorecard 17: script in a file name, a citation, a glossary entry and the pages of managers and admins."""
    tab = open_page()
    dialogs: list[str] = []
    tab.on("dialog", lambda one: (dialogs.append(one.message), one.dismiss()))

    def unharmed() -> None:
        tab.wait_for_load_state("networkidle")  # later requests of the page are complete as well
        assert tab.evaluate("window.pwned") is None, tab.url
        assert tab.locator("img[src=x], main script, svg[onload], [onerror]").count() == 0, tab.url

    tab.goto(f"{served.url}/glossary/new")
    tab.get_by_label("Term", exact=True).fill("CNRY")
    tab.get_by_label("Context").select_option("NAND")
    for label in ("Stands for", "Description", "Other names"):
        tab.get_by_label(label).fill(SCRIPT)
    tab.get_by_role("button", name="Save as draft").click()
    expect(tab.get_by_text("Once approved").or_(tab.get_by_text("Try it")).first).to_be_visible()
    unharmed()
    tab.get_by_role("button", name="Approve").click()
    expect(tab.get_by_text("Answers use it from now on")).to_be_visible()
    open_window(tab, served.url)
    ask(tab, "At how many degrees is the gyro canary unit kept, and what is CNRY?")
    answer(tab, "21 degrees")
    unharmed()
    tab.goto(f"{served.url}/glossary/proposals")
    tab.get_by_role("button", name="Look for terms").click()
    expect(tab.get_by_role("link", name="GCU")).to_be_visible()
    unharmed()
    tab.get_by_role("link", name=HOSTILE).first.click()
    expect(tab).to_have_url(re.compile("/glossary/passage/"))
    expect(tab.get_by_text("21 degrees").first).to_be_visible()
    unharmed()
    tab.goto(f"{served.url}/people")
    tab.get_by_label("Name to sign in").fill("mallory")
    tab.get_by_label("Name that is shown").fill(SCRIPT)
    tab.get_by_label("None").check()
    tab.get_by_role("button", name="Add").click()
    expect(tab.get_by_role("heading", name="mallory")).to_be_visible()
    for path in ("/people", "/people/mallory", "/glossary/term?t=CNRY", "/glossary?q=CNRY", "/glossary/history"):
        tab.goto(f"{served.url}{path}")
        unharmed()
    tab.goto(f"{served.url}/glossary")
    tab.locator("#q").press_sequentially("CNRY")
    expect(tab).to_have_url(re.compile(r"/glossary\?q=CNRY$"))
    expect(tab.locator("#results .row", has_text="<img src=x").first).to_be_visible()
    unharmed()
    assert dialogs == []


def test_the_effects_of_an_edit_are_shown_before_it_is_saved(open_page: Callable[..., Any], served: Served) -> None:
    tab = open_page()
    tab.goto(f"{served.url}/glossary/term?t=MPL")
    tab.get_by_role("link", name="Edit").click()
    tab.get_by_label("Stands for").fill("clean room")
    tab.get_by_label("Stands for").press("Enter")  # Enter shows the effects without saving
    expect(tab.get_by_role("heading", name="What it would change")).to_be_visible()
    tab.get_by_label("Try a question").fill("Where is the MPL?")
    tab.get_by_role("button", name="Try it").click()
    effect = tab.locator(".effect", has_text="Where is the MPL?")
    expect(effect.locator(".side").nth(0)).to_contain_text("Media panel", use_inner_text=True)
    expect(effect.locator(".side").nth(1)).to_contain_text("clean room", use_inner_text=True)
    expect(tab.get_by_label("Stands for")).to_have_value("clean room")
    tab.get_by_role("link", name="Do not save").click()
    expect(tab.get_by_role("heading", name="Media panel")).to_be_visible()


def test_the_first_hundred_terms_come_from_the_documents(chromium: Any, tmp_path: Path) -> None:
    """Check an empty glossary: mine, leave, come back, tick proposals, approve them, and roll everything back."""
    for number in range(30):
        name = chr(ord("A") + number % 26) + chr(ord("A") + number // 26)
        text = f"# Part {number}\n\nThe quick {name[0]}ox {name[1]}alve (Q{name}) turns. See {number}.\n"
        (tmp_path / f"part-{number}.md").write_text(text)
    home = tmp_path / "kb"
    argot("init", "--home", str(home))
    argot("add", *map(str, sorted(tmp_path.glob("*.md"))), "--home", str(home))
    with Served(home) as server, visitors(chromium, server.url) as visit:
        tab = visit()
        tab.goto(f"{server.url}/glossary")
        tab.get_by_role("link", name="Take what your documents define").click()
        with tab.expect_response(lambda one: one.request.method == "POST"):  # leaving earlier would cancel the request
            tab.get_by_role("button", name="Look for terms in 30 documents").click()
        tab.goto(f"{server.url}/glossary")
        tab.goto(f"{server.url}/glossary/proposals")
        expect(tab.get_by_text("Your documents were read")).to_be_visible()
        tab.get_by_role("link", name="Tick all on this page").click()
        ticks = tab.locator(".tick")
        expect(ticks.nth(2).locator("input")).to_be_checked()
        scripted(tab)
        ticks.first.locator("input").uncheck()
        ticks.nth(1).get_by_role("button", name="Dismiss").click()
        tab.get_by_label("Approve them as well").check()
        expect(tab.get_by_text("Dismissed:")).to_be_visible()  # in place of the row, and all other ticks stay
        tab.get_by_role("button", name="Accept the ticked proposals").click()
        expect(tab.get_by_role("heading", name="28 meanings approved")).to_be_visible()
        tab.get_by_role("link", name="roll it back").click()
        tab.get_by_text("Roll back", exact=True).click()
        tab.get_by_role("button", name="Roll this change back").click()
        expect(tab.get_by_text("Rolled back").first).to_be_visible()
        tab.goto(f"{server.url}/glossary/proposals")
        expect(ticks).to_have_count(29)


def test_an_administrator_adds_and_suspends_people(chromium: Any, tiny_home: Path, tmp_path: Path) -> None:
    home = Path(shutil.copytree(tiny_home, tmp_path / "kb"))
    with Served(home) as server, visitors(chromium, server.url) as visit:
        tab, other = visit(), visit()
        tab.goto(f"{server.url}/people")
        passwords = {}
        for name, role in (("ada", "Admin"), ("mia", "Manager")):
            tab.get_by_label("Name to sign in").fill(name)
            tab.get_by_role("radio", name=role).check()
            if role == "Manager":
                tab.get_by_role("checkbox", name="NAND").check()
                tab.get_by_label("Your own password").fill(passwords["ada"])
            tab.get_by_role("button", name="Add").click()
            passwords[name] = tab.locator(".secret").inner_text().strip()
            tab.goto(f"{server.url}/people")  # setting the first password ended local access without one
            if name == "ada":
                sign_in(tab, "ada", passwords["ada"])
        other.goto(f"{server.url}/glossary")
        sign_in(other, "mia", passwords["mia"])
        expect(other.get_by_role("heading", name="Glossary")).to_be_visible()
        expect(other.get_by_role("link", name="People")).to_have_count(0)
        other.goto(f"{server.url}/people")
        expect(other.get_by_text("This page is for an administrator")).to_be_visible()
        tab.get_by_role("link", name="mia").click()
        expect(tab.get_by_text("Sign out everywhere")).to_be_visible()
        tab.get_by_role("button", name="Suspend mia").click()
        expect(tab.get_by_text("they are signed out everywhere")).to_be_visible()
        other.goto(f"{server.url}/glossary")
        expect(other.get_by_role("button", name="Sign in")).to_be_visible()


@pytest.mark.skipif(not os.environ.get("ARGOT_SCREENSHOTS"), reason="writes docs/screenshots: ARGOT_SCREENSHOTS=1")
def test_screenshots_of_the_pages(chromium: Any, tmp_path: Path) -> None:
    home = tmp_path / "kb"
    Served(home, "--samples").stop()
    with ThreadPoolExecutor(1) as thread:  # in a thread, because Playwright runs an event loop in this one
        thread.submit(_prepare, home).result()
    server = Served(home)
    tab = chromium.new_page(viewport={"width": 1180, "height": 820}, color_scheme="light")
    tab.set_default_timeout(PATIENCE)

    def shot(name: str, *, full_page: bool = False) -> None:
        tab.wait_for_load_state("networkidle")
        tab.screenshot(path=SHOTS / f"glossary-{name}.png", full_page=full_page)

    tab.goto(f"{server.url}/glossary")
    tab.locator("#q").press_sequentially("peri")
    tab.wait_for_url("**q=peri")
    shot("terms")
    for name in ("queue", "use"):
        tab.goto(f"{server.url}/glossary/{name}")
        shot(name)
    tab.goto(f"{server.url}/glossary/queue/term?t=TI")
    shot("missed")
    tab.get_by_role("button", name="Accept").click()
    tab.locator(".effect").first.wait_for()
    shot("approve", full_page=True)
    tab.goto(f"{server.url}/glossary/proposals")
    tab.get_by_role("button", name="Look for terms").click()
    tab.get_by_text("Your documents were read").wait_for()
    shot("proposals")
    phone = chromium.new_page(viewport={"width": 390, "height": 780}, color_scheme="dark")
    phone.goto(f"{server.url}/glossary/term?t=PUC")
    phone.wait_for_load_state("networkidle")
    phone.screenshot(path=SHOTS / "glossary-phone.png")
    for name, role, group in (("ada", "Admin", "it"), ("leo", "Manager", "legal"), ("ann", "Asker", "hr, legal")):
        tab.goto(f"{server.url}/people")
        tab.get_by_label("Name to sign in").fill(name)
        tab.get_by_label("Groups").fill(group)
        tab.get_by_role("radio", name=role).check()
        if role == "Manager":
            tab.get_by_role("checkbox", name="Legal and compliance").check()
        tab.get_by_label("None").check()
        tab.get_by_role("button", name="Add").click()
        tab.get_by_role("heading", name=name).wait_for()
    tab.goto(f"{server.url}/people")
    tab.screenshot(path=SHOTS / "people.png", full_page=True)
    server.stop()


def _prepare(home: Path) -> None:
    """Prepare weeks of use, some misses, and documents that explain one, for the screenshots."""
    from datetime import UTC, datetime, timedelta

    from argot.corpus.store.document_store import CorpusStore
    from argot.jargon_db import Glossary
    from argot.types import Principal

    nina, now = Principal("nina", sees_all=True), datetime.now(UTC)
    glossary, store = Glossary.open(home / "glossary.db"), CorpusStore.open(home / "corpus.db")
    for place, sense in enumerate(glossary.senses.find(nina)[::11]):
        for week in range(12):
            glossary.usage.record([sense.id] * ((place * 7 + week * (place % 5 + 1)) % 11), now - timedelta(weeks=week))
    asked = {
        "TI": ("What do I do when a TI has turned red?", "Who prints our TI labels?", "Is a TI on every pallet?"),
        "DMTF": ("Where do we file the DMTF forms?",),
        "bathtub": ("Is the bathtub curve ours?",),
    }
    for term, questions in asked.items():
        for number, question in enumerate(questions):
            glossary.misses.record(term, "ann", question, f"{term}-{number}", shared=True)
    ids = store.find_phrase(nina, "tilt indicator", 2)
    quotes = [
        line for one in ids for line in store.passages(nina, [one])[one][0].text.splitlines() if "ilt ind" in line
    ]
    evidence = list(zip(ids, quotes, strict=True))
    glossary.proposals.add("mined", "TI", "tilt indicator", context="Manufacturing and packaging", evidence=evidence)
    glossary.close()
    store.close()
