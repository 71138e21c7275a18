"""Tests of the window as signed-in people use it: from the first question to its source, correcting a sense, a miss
that a manager defines, files, and two people who cannot see each other's conversations.
"""

import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from depot import DEPOT, NIGHT_TRAIN, pdf
from playwright.sync_api import expect
from serving import Served, argot
from window import (
    MESSAGE,
    QUESTION,
    answer,
    ask,
    choices,
    come_back,
    connected,
    conversation,
    mark,
    page_picture,
    panel,
    panel_title,
    press,
    sign_in,
    told,
    visitors,
    wait_until,
)

pytestmark = pytest.mark.browser

GOOD = "tilted copper llama 9"
LEAVES = "The numbat train of the depot leaves at midnight from track 4."


@pytest.fixture(scope="module")
def served(chromium: Any, tiny_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Provide a service: ann and bob ask, mia manages. A timetable as PDF is among the documents."""
    folder = tmp_path_factory.mktemp("walk")
    home = Path(shutil.copytree(tiny_home, folder / "kb"))
    (folder / "timetable.pdf").write_bytes(pdf("Timetable of the depot", f"Night trains\n{LEAVES}"))
    asking = DEPOT.replace("## Bicycle carriage", "## How to take a bicycle on a night train")
    (folder / "depot.md").write_text(asking, encoding="utf-8")
    argot("add", folder / "timetable.pdf", folder / "depot.md", "--tag", "trains", "--home", home)
    for name, *more in (("ann",), ("bob",), ("mia", "--role", "manager")):
        argot("user", "add", name, "--password", *more, "--home", home, typed=f"{GOOD}\n")
    with Served(home, ARGOT_QUESTIONS_PER_MINUTE="1000") as server:
        yield server


Visit = Callable[..., Any]


@pytest.fixture
def visit(chromium: Any, served: Served) -> Iterator[Visit]:
    """Provide a function that opens the window for a person who signs in."""
    with visitors(chromium, served.url) as opened:

        def come(name: str, **options: Any) -> Any:
            page = opened(**options)
            page.goto(served.url)
            sign_in(page, name, GOOD)
            connected(page)
            return page

        yield come


def test_a_question_leads_to_the_page_with_the_place_marked(visit: Visit, served: Served) -> None:
    page = visit("ann")
    ask(page, "When does the numbat train of the depot leave?")
    answer(page, "midnight")
    mark(page, "[1]").first.focus()
    page.keyboard.press("Enter")  # by keyboard only
    expect(page_picture(page)).to_have_attribute("src", re.compile(r"/page\.png\?span="))
    expect(panel_title(page)).to_contain_text("timetable.pdf, page 2", use_inner_text=True)
    expect(panel(page).locator("del[role=mark]").first).to_contain_text("midnight", use_inner_text=True)
    page.get_by_text("Open the document at page 2").click()
    expect(panel(page).locator("canvas").first).to_be_visible()


def test_a_misread_term_can_be_corrected_even_after_a_reload(visit: Visit) -> None:
    page = visit("ann")
    ask(page, "Which clean room does the PUC bonding step need?")
    expect(answer(page, "class 10")).to_contain_text("PUC: Peripheral Under Cell", use_inner_text=True)
    come_back(page)
    answer(page, "class 10")
    mark(page, "Not what I meant").first.click()
    expect(told(page, "What did you mean?")).to_contain_text("was read as Peripheral Under Cell (NAND)")
    press(page, choices(page, "Public Utilities Commission (Legal)"))
    answer(page, "PUC: Public Utilities Commission")
    mark(page, "Not what I meant").last.click()
    choices(page, "Something else: tell").click()
    told(page, "can now read your question")


def test_a_manager_defines_a_missed_term_and_the_asker_is_told(visit: Visit, served: Served) -> None:
    page, manager = visit("ann"), visit("mia")
    ask(page, "How long is a ZQXV?")
    answer(page, "not in the glossary")
    manager.goto(f"{served.url}/glossary/queue")
    expect(manager.get_by_role("link", name="ZQXV")).to_be_visible()
    assert "How long is a ZQXV?" not in manager.content()  # the asker's words stay private until she shares them
    share = page.get_by_role("button", name="Let the glossary's managers read this question")
    come_back(page)
    answer(page, "not in the glossary")
    share.click()  # the button is still there
    told(page, "can now read your question")
    come_back(page)
    answer(page, "not in the glossary")  # waits for the answer with all its buttons
    expect(share).to_have_count(0)

    manager.get_by_role("link", name="ZQXV").click()
    expect(manager.get_by_text("How long is a ZQXV?").first).to_be_visible()
    manager.get_by_role("link", name="Write its meaning").click()
    expect(manager.get_by_label("Term", exact=True)).to_have_value("ZQXV")
    manager.get_by_label("Context").select_option("Tools")
    manager.get_by_label("Stands for").fill("Zigzag Quartz Valve")
    manager.get_by_role("button", name="Save as draft").click()
    manager.get_by_role("button", name="Approve").click()
    expect(manager.get_by_text("Answers use it from now on")).to_be_visible()

    expect(page.locator(MESSAGE, has_text="It has a meaning now")).to_be_visible()
    press(page, page.get_by_role("button", name="Ask again"))
    answer(page, "ZQXV: Zigzag Quartz Valve")


def test_an_answer_is_rated_repeated_copied_and_downloaded(visit: Visit, served: Served) -> None:
    page = visit("ann", permissions=["clipboard-read", "clipboard-write"], accept_downloads=True)
    ask(page, "How much does a late tariff filing cost?")
    answer(page, "500 dollars")
    page.locator(".negative-feedback-off").last.click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("can read your question, this answer and your words")
    dialog.locator("textarea").fill("per day or once?")
    page.locator("#submit-feedback").click()
    expect(page.locator(".negative-feedback-on")).to_be_visible()
    (judged,) = argot("threads", "feedback", "--jsonl", "--as", "mia", "--home", served.home).splitlines()
    assert "per day or once?" in judged and "late tariff" in judged and "ann" not in judged

    page.get_by_role("button", name="Copy with sources").last.click()
    wait_until(page, "async () => (await navigator.clipboard.readText()) !== ''")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert "500 dollars a day. [1]" in copied and "[1] tariff-filing.md" in copied
    assert "/argot/" not in copied and "\\" not in copied and "**" not in copied

    page.get_by_role("button", name="Answer again").click()
    expect(page.locator(".negative-feedback-on")).to_have_count(0)  # the rating disappears with the rated answer
    answer(page, "500 dollars")
    expect(page.locator(QUESTION)).to_have_count(1)
    expect(page.locator(".ai-message .message-content", has_text="500 dollars")).to_have_count(1)

    page.get_by_role("button", name="Save this conversation").click()
    with page.expect_download() as kept:
        page.get_by_role("link", name="Markdown with sources").click()
    assert kept.value.suggested_filename == "how-much-does-a-late-tariff-filing-cost.md"
    assert "tariff-filing.md" in Path(kept.value.path()).read_text(encoding="utf-8")


def test_a_suggested_follow_up_question_is_asked_by_one_press(visit: Visit) -> None:
    page = visit("ann")
    ask(page, NIGHT_TRAIN)
    answer(page, "23:40")
    following = page.locator("button[id^=next-]").first
    expect(following).to_be_visible()
    question = following.inner_text()
    press(page, following)
    expect(page.locator(QUESTION).last).to_contain_text(question)
    answer(page, "[1]")


def test_settings_apply_to_the_conversation(visit: Visit) -> None:
    page = visit("bob")
    page.get_by_role("button", name="How to answer").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_text("None in particular").click()
    page.get_by_role("option", name="Legal").click()
    expect(dialog).to_contain_text("Legal")
    dialog.get_by_role("button", name="Confirm").click()
    expect(dialog).to_have_count(0)
    ask(page, "What is PUC?")  # without the setting it would be asked back
    expect(answer(page, "Understood as")).to_contain_text("PUC: Public Utilities Commission", use_inner_text=True)
    come_back(page)
    answer(page, "Understood as")
    page.get_by_role("button", name="How to answer").click()
    expect(page.get_by_role("dialog")).to_contain_text("Legal", use_inner_text=True)


def test_an_attached_file_is_used_in_one_conversation(visit: Visit, served: Served, tmp_path: Path) -> None:
    page = visit("ann")
    note = tmp_path / "tender <img src=x>.md"
    note.write_text("# Tender\n\nThe aardwolf tender closes on 17 March at noon.\n", encoding="utf-8")
    page.locator("#upload-button-input").set_input_files(note)
    expect(page.locator("#attachments", has_text="tender")).to_be_visible()
    ask(page, "When does the aardwolf tender close?")
    answer(page, "17 March")
    expect(told(page, "can now be asked about")).to_contain_text("by you only", use_inner_text=True)
    ask(page, "What is the file about?")
    expect(answer(page, "17 March")).to_contain_text("This is not a summary", use_inner_text=True)
    come_back(page)
    answer(page, "17 March")
    told(page, "Files of this conversation")
    page.locator("#new-chat-button").first.click()
    expect(page).to_have_url(f"{served.url}/")
    expect(page.locator(QUESTION)).to_have_count(0)
    connected(page)
    ask(page, "When does the aardwolf tender close?")
    expect(answer(page, "")).not_to_contain_text("17 March")


def test_two_people_cannot_see_each_others_conversations(visit: Visit, served: Served) -> None:
    ann, bob = visit("ann"), visit("bob")
    ask(bob, "How long does trimming a drive take?")
    answer(bob, "40 seconds")
    ask(ann, "What is the FTLX module for?")
    answer(ann, "remaps")
    thread = ann.url.rsplit("/", 1)[-1]
    come_back(bob)
    answer(bob, "40 seconds")
    expect(conversation(bob, "How long does trimming").first).to_be_visible()  # the list has loaded
    expect(conversation(bob, "FTLX")).to_have_count(0)
    bob.goto(ann.url)
    expect(bob).to_have_url(f"{served.url}/")  # redirected to the start
    expect(bob.get_by_text("remaps")).to_have_count(0)
    for method, path, body in (
        ("GET", f"/project/thread/{thread}", None),
        ("GET", f"/argot/threads/{thread}/export.md", None),
        ("PUT", "/project/thread", {"threadId": thread, "name": "mine"}),
        ("DELETE", "/project/thread", {"threadId": thread}),
        ("PUT", "/feedback", {"feedback": {"forId": f"{thread}.0", "value": 0}, "sessionId": "x"}),
    ):
        status, text = bob.evaluate(
            """async ([method, path, body]) => {
                const headers = {'content-type': 'application/json'};
                const answer = await fetch(path, {method, headers, body: body && JSON.stringify(body)});
                return [answer.status, await answer.text()];
            }""",
            [method, path, body],
        )
        assert status >= 400 and "remaps" not in text, path
    expect(bob.get_by_text("remaps")).to_have_count(0)
    come_back(ann)
    answer(ann, "remaps")
    expect(ann.locator(".negative-feedback-off")).to_have_count(1)
    expect(ann.locator(".negative-feedback-on")).to_have_count(0)


def test_a_phone_shows_everything_and_every_control_has_a_name(visit: Visit) -> None:
    page = visit("ann", viewport={"width": 390, "height": 780}, color_scheme="dark")
    ask(page, "When does the numbat train of the depot leave?")
    answer(page, "midnight")
    wait_until(page, "() => document.documentElement.scrollWidth <= innerWidth")
    expect(page.locator(".argot-voice[aria-live=polite]")).to_contain_text("midnight")  # for screen readers
    page.mouse.move(190, 300)
    page.mouse.wheel(0, -600)  # the button to scroll down has a name, too
    for _ in range(300):  # names are set shortly after their elements appear
        if not page.evaluate(NAMELESS):
            break
        page.wait_for_timeout(200)
    assert page.evaluate(NAMELESS) == []
    mark(page, "[1]").first.click()
    picture = page_picture(page)
    wait_until(  # wait for the animation
        page,
        """() => {
            const at = document.querySelector('#side-view-content img').getBoundingClientRect();
            return at.width > 250 && at.right <= innerWidth;
        }""",
    )
    page.keyboard.press("Escape")
    expect(picture).to_have_count(0)


def test_a_phone_returns_to_each_of_its_conversations(visit: Visit, served: Served) -> None:
    page = visit("ann", viewport={"width": 390, "height": 780})
    ask(page, "When does the numbat train of the depot leave?")
    answer(page, "midnight")
    come_back(page)
    answer(page, "midnight")
    ask(page, "How much does a late tariff filing cost?")  # the conversation continues
    answer(page, "500 dollars")
    expect(page.locator(QUESTION)).to_have_count(2)
    first = page.url
    page.locator("#new-chat-button").first.click()
    expect(page).to_have_url(f"{served.url}/")
    expect(page.locator(QUESTION)).to_have_count(0)
    ask(page, "How long does trimming a drive take?")
    answer(page, "40 seconds")
    come_back(page)
    answer(page, "40 seconds")
    expect(page.locator(QUESTION)).to_have_count(1)
    assert page.url != first
    page.goto(first)
    answer(page, "500 dollars")


NAMELESS = """() => [...document.querySelectorAll('button, a, input, textarea, [role=button]')]
    .filter((one) => one.offsetParent && !one.closest('[aria-hidden=true]'))
    .filter((one) => !(one.ariaLabel || one.innerText.trim() || one.title || one.placeholder))
    .filter((one) => !one.querySelector('[alt]') && !one.labels?.length)
    .map((one) => one.outerHTML.slice(0, 200))"""
