"""Tests of a rating study in real browsers: three people rate at once, each in their own order."""

import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect
from repository import ROOT
from serving import Served, argot
from window import sign_in, visitors

SHOTS = Path(os.environ.get("SHOTS_TO_LOOK_AT", ROOT / "docs" / "screenshots"))
PASSWORD = "tilted copper llama 9"
RATERS = ("ann", "ben", "eve")
SYSTEMS = {
    "Zebra-7B": "A late filing costs **500 dollars** for each day.",
    "Yak-70B": "A late filing costs money:\n\n- a fee for each day\n- interest on what is owed",
    "Xerus": "That depends.",
}
"""The first is the best, the last the worst: everybody in the test thinks so, whatever the letters."""
PASSAGES = ("A late filing costs 500 dollars for each day.", "Trimming a drive takes 40 seconds.")
QUESTIONS = ("What does a late filing cost?", "Who has to be told of it?", "How is the fee paid?", "Until when?")
ASPECTS = ("Correctness", "Helpfulness", "Informativeness")
CHOOSE_ALL = """(scores) => [...'ABC'].forEach((letter, n) => {
    document.querySelectorAll(`input[name^="points-${letter}-"][value="${scores[n]}"]`).forEach((one) => one.click());
    document.querySelector(`#rank-${letter}`).value = 6 - scores[n];
})"""
"""Gives each answer its score for every aspect, and its rank."""

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def served(chromium: Any, tiny_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("ratings")
    home = Path(shutil.copytree(tiny_home, folder / "kb"))
    for name in ("ada", *RATERS):
        role = ("--role", "admin") if name == "ada" else ()
        argot("user", "add", name, *role, "--password", "--home", home, typed=f"{PASSWORD}\n")
    rows = [{"question": one, "reference": "500 dollars for each day.", "answers": SYSTEMS} for one in QUESTIONS]
    (folder / "answers.jsonl").write_text("\n".join(map(json.dumps, rows)))
    with Served(home) as server:
        yield server


@pytest.fixture
def come(chromium: Any, served: Served) -> Iterator[Callable[..., Any]]:
    """Provide a function that opens a browser for a signed-in person at an address."""
    with visitors(chromium, served.url) as visit:

        def come(name: str, address: str, **options: Any) -> Any:
            tab = visit(**options)
            tab.goto(f"{served.url}{address}")
            sign_in(tab, name, PASSWORD)
            tab.goto(f"{served.url}{address}")
            return tab

        yield come


def test_three_raters_work_at_once_in_their_browsers(come: Callable[..., Any], served: Served, tmp_path: Path) -> None:
    ada = come("ada", "/ratings/manage")
    made(ada, served, "Late filings")
    tabs = {
        "ann": come("ann", "/ratings", viewport={"width": 1280, "height": 900}),
        "ben": come("ben", "/ratings", viewport={"width": 390, "height": 800}, color_scheme="dark"),
        "eve": come("eve", "/ratings", java_script_enabled=False),
    }
    seen = dict.fromkeys(tabs, "")
    orders: dict[str, list[list[str]]] = {name: [] for name in tabs}
    for tab in tabs.values():
        tab.on("response", lambda response: seen.update(all=seen.get("all", "") + text_of(response)))
        tab.get_by_role("link", name="Begin Late filings").click()
    for number in range(1, len(QUESTIONS) + 1):
        for name, tab in tabs.items():  # all three have the question open before the first of them saves it
            expect(tab.get_by_role("heading", name=f"Question {number} of 4")).to_be_visible()
            orders[name].append(order_of(tab))
            if number == 1:
                rate(tab, by_keyboard=name == "ann")
            else:
                rate_by_script(tab)
            assert tab.locator("html").evaluate("one => one.scrollWidth <= one.clientWidth")
            if number == 2:
                look(tab, "ratings" if name == "ann" else f"ratings-{name}")
        for tab in tabs.values():
            tab.get_by_role("button", name="Save and go on").click()
    for tab in tabs.values():
        expect(tab.get_by_text("You have rated every question of this study")).to_be_visible()
    assert len({json.dumps(one) for one in orders.values()}) == 3
    assert seen["all"] and not any(system in seen["all"] for system in SYSTEMS)

    ada.reload()
    for name in RATERS:
        expect(ada.locator(".row", has_text=name)).to_contain_text("4 of 4 questions")
    expect(ada.locator(".alpha")).to_have_text(["α 1.000"] * 4)
    expect(ada.locator(".measured", has_text="Correctness").locator("tbody tr").first).to_contain_text("Zebra-7B")
    look(ada, "ratings-results", full_page=True)
    ada.set_viewport_size({"width": 390, "height": 800})
    assert ada.locator("html").evaluate("one => one.scrollWidth <= one.clientWidth")
    look(ada, "ratings-results-phone", full_page=True)
    with ada.expect_download() as download:
        ada.get_by_role("link", name="Export as CSV").click()
    assert len(Path(download.value.path()).read_text("utf-8").splitlines()) == 1 + 3 * 4 * 3


def test_closing_the_browser_loses_no_rating(come: Callable[..., Any], served: Served) -> None:
    made(come("ada", "/ratings/manage"), served, "Closing")
    first = come("ann", "/ratings/study/Closing")
    with first.expect_response(lambda response: response.url.endswith("/draft")) as kept:
        points(first, "B", "Helpfulness", 4)
    assert kept.value.status == 204
    with first.expect_response(lambda response: response.url.endswith("/draft")):
        first.get_by_label("Comment").fill("to be gone on with")
    first.context.close()
    second, third = come("ann", "/ratings/study/Closing"), come("ann", "/ratings/study/Closing")
    for tab in (second, third):
        expect(tab.get_by_label("Comment")).to_have_value("to be gone on with")
        expect(choice(tab, "B", "Helpfulness", 4)).to_be_checked()
    rate(second)
    second.get_by_label("Rank of answer A").select_option("1")
    second.get_by_label("Rank of answer B").select_option("1")
    second.get_by_label("Rank of answer C").select_option("3")
    second.get_by_role("button", name="Save and go on").click()
    expect(second.get_by_role("alert")).to_contain_text("A and B have the same rank, 1")
    look(second, "ratings-error")
    for tab in (second, third):  # two tabs of one person give one rating
        rate(tab)
        tab.get_by_role("button", name="Save and go on").click()
        expect(tab.get_by_role("heading", name="Question 2 of 4")).to_be_visible()
        expect(tab.get_by_text("1 of 4 rated").first).to_be_visible()
    second.get_by_role("link", name="Previous").click()
    expect(second.get_by_text("this one is saved")).to_be_visible()


def test_passages_are_judged_and_references_annotated(come: Callable[..., Any], served: Served) -> None:
    ada = come("ada", "/ratings/manage")
    for kind, told in (("passages", "Whether passages are relevant"), ("references", "Which passages bear out")):
        answer = {"answer": " ".join(PASSAGES)} if kind == "references" else {}
        row = {"question": QUESTIONS[0], "passages": [{"text": one, "heading": "Fees"} for one in PASSAGES], **answer}
        (served.home.parent / f"{kind}.jsonl").write_text(json.dumps(row))
        ada.goto(f"{served.url}/ratings/manage")
        ada.get_by_label(told).check()
        made(ada, served, kind.title(), f"{kind}.jsonl")

    wide = come("ann", "/ratings/study/Passages", viewport={"width": 1280, "height": 900})
    relevant = wide.locator(".card", has_text=PASSAGES[0]).get_by_role("radio", name="Relevant", exact=True)
    relevant.focus()
    wide.keyboard.press("Space")
    for letter in "AB":
        group = wide.get_by_role("group", name=f"Passage {letter}")
        if not group.get_by_role("radio", name="Relevant", exact=True).is_checked():
            group.get_by_role("radio", name="Not relevant").focus()
            wide.keyboard.press("Space")
    look(wide, "ratings-passages")
    fits(wide, 360)
    look(wide, "ratings-passages-phone")
    wide.keyboard.press("Enter")  # Enter in a field of the form works as its button
    expect(wide.get_by_text("You have rated every question of this study")).to_be_visible()

    tab = come("ben", "/ratings/study/References", viewport={"width": 1280, "height": 900})
    letters = ["A", "B"] if PASSAGES[0] in tab.locator("#passage-A").inner_text() else ["B", "A"]
    mark = tab.get_by_label(f"{letters[0]} bears out sentence 1")
    with tab.expect_response(lambda response: response.url.endswith("/draft")):
        mark.focus()
        tab.keyboard.press("Space")
    tab.reload()
    expect(mark).to_be_checked()
    tab.get_by_label("Sentences without a mark rest on none").check()
    look(tab, "ratings-references")
    fits(tab, 360)
    look(tab, "ratings-references-phone", full_page=True)
    tab.get_by_role("button", name="Save and go on").click()
    expect(tab.get_by_text("You have rated every question of this study")).to_be_visible()
    ada.goto(f"{served.url}/ratings/manage/References")
    with ada.expect_download() as download:
        ada.get_by_role("link", name="Export annotated answers").click()
    row = json.loads(Path(download.value.path()).read_text("utf-8"))
    assert [one["passages"] for one in row["sentences"]] == [[1], []]


def fits(tab: Any, width: int) -> None:
    """Check that nothing is cut off in a narrow window."""
    tab.set_viewport_size({"width": width, "height": 800})
    assert tab.locator("html").evaluate("one => one.scrollWidth <= one.clientWidth")


def made(ada: Any, served: Served, name: str, file: str = "answers.jsonl") -> None:
    """Create a study on the page and invite everybody."""
    ada.locator("#name").fill(name)
    ada.locator("#file").set_input_files(served.home.parent / file)
    ada.get_by_label("All whom I invite may read everything").check()
    ada.get_by_role("button", name="Make the study").click()
    ada.locator("#people").fill(", ".join(RATERS))
    ada.get_by_role("button", name="Invite").click()
    expect(ada.get_by_text("They find the study under /ratings")).to_be_visible()


def order_of(tab: Any) -> list[str]:
    """Return the systems in this rater's order, recognised by their answers."""
    told = tab.locator(".answer-text").all_inner_texts()
    marks = {"500 dollars": "Zebra-7B", "interest": "Yak-70B", "depends": "Xerus"}
    return [next(system for mark, system in marks.items() if mark in text) for text in told]


def rate(tab: Any, *, by_keyboard: bool = False) -> None:
    for letter, system in zip("ABC", order_of(tab), strict=True):
        place = list(SYSTEMS).index(system)
        for aspect in ASPECTS:
            if by_keyboard:
                choice(tab, letter, aspect, 1).focus()
                tab.keyboard.press("Space")
                for _ in range(4 - place):
                    tab.keyboard.press("ArrowRight")
            else:
                points(tab, letter, aspect, 5 - place)
        tab.get_by_label(f"Rank of answer {letter}").select_option(str(place + 1))


def rate_by_script(tab: Any) -> None:
    """Choose the same as `rate`, at once: a step of Playwright's for each choice takes most of the test's time."""
    scores = [5 - list(SYSTEMS).index(system) for system in order_of(tab)]
    tab.evaluate(CHOOSE_ALL, scores)
    expect(tab.locator("input[type=radio]:checked")).to_have_count(len(SYSTEMS) * len(ASPECTS))


def points(tab: Any, letter: str, aspect: str, value: int) -> None:
    choice(tab, letter, aspect, value).check()


def choice(tab: Any, letter: str, aspect: str, value: int) -> Any:
    group = tab.get_by_role("group", name=f"{aspect} of answer {letter}")
    return group.get_by_role("radio", name=str(value), exact=True)


def text_of(response: Any) -> str:
    html = response.headers.get("content-type", "").startswith("text/html") and response.status == 200
    return str(response.text()) if html else ""


def look(tab: Any, name: str, *, full_page: bool = False) -> None:
    if os.environ.get("ARGOT_SCREENSHOTS"):
        tab.screenshot(path=SHOTS / f"{name}.png", full_page=full_page)
