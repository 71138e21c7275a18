"""Tests of a window during an answer: it is reloaded, disconnected, opened twice, waiting, or stopped."""

import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from depot import pdf
from playwright.sync_api import expect
from serving import Served, argot
from window import MESSAGE, QUESTION, answer, ask, choices, conversation, sign_in, told, visitors, wait_until

pytestmark = pytest.mark.browser

GOOD = "tilted copper llama 9"
ASKED = "What is the Word Line voltage during a read?"
WRITTEN = "The Word Line voltage during a read is 4.5 V [1]."
OTHER = "How long does trimming a drive take?"
CUT = """
const Socket = window.WebSocket, sockets = [];
window.cut = false;
window.WebSocket = class extends Socket {
    constructor(url, protocols) {
        if (window.cut) throw new Error('no network');
        super(url, protocols);
        sockets.push(this);
    }
};
window.cutOff = () => { window.cut = true; sockets.forEach((one) => one.close()); };
"""
"""Takes the network away from the page's connection until `window.cut` is false again."""


@pytest.fixture(scope="module")
def served(
    chromium: Any, tiny_home: Path, shared_model: Any, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Served]:
    """Provide a service: ann and bob ask, and one question at a time is answered."""
    home = Path(shutil.copytree(tiny_home, tmp_path_factory.mktemp("more") / "kb"))
    for name in ("ann", "bob"):
        argot("user", "add", name, "--password", "--home", home, typed=f"{GOOD}\n")
    limits = {"ARGOT_RUNNING_QUESTIONS": "1", "ARGOT_QUESTIONS_PER_MINUTE": "1000"}
    patient = {"ARGOT_MODEL_FIRST_TOKEN_SECONDS": "600", "ARGOT_MODEL_SECONDS": "3600"}
    foreign = {"PROJECT": "of somebody else", "RUN": "1"}  # Chainlit reads these as settings of its own
    with Served(home, ARGOT_MODEL_URL=shared_model.url, **limits, **patient, **foreign) as server:
        yield server


@pytest.fixture
def model(shared_model: Any) -> Any:
    """Provide a model that stops after a few words until `heal()` is called."""
    model = shared_model.reset()
    model.reply("cited_answer", WRITTEN)
    model.fault("pause", prompt="cited_answer", tokens=4)
    return model


Visit = Callable[..., Any]


@pytest.fixture
def visit(chromium: Any, served: Served) -> Iterator[Visit]:
    with visitors(chromium, served.url) as come:

        def enter(name: str, script: str = "") -> Any:
            page = come()
            page.add_init_script(script)
            page.goto(served.url)
            sign_in(page, name, GOOD)
            expect(page.locator("#chat-settings-open-modal")).to_be_visible()
            return page

        yield enter


def half_written(page: Any) -> None:
    expect(page.locator(MESSAGE, has_text="The Word Line").last).to_be_visible()


def test_a_window_reloaded_during_an_answer_shows_it_when_complete(visit: Visit, model: Any) -> None:
    page = visit("ann")
    ask(page, ASKED)
    half_written(page)
    expect(page).to_have_url(re.compile("/thread/"))
    page.reload()
    expect(page.locator(QUESTION, has_text=ASKED)).to_have_count(1)
    half_written(page)
    expect(page.locator("#stop-button")).to_be_visible()
    model.heal()
    expect(answer(page, "4.5 V")).to_contain_text("Sources", use_inner_text=True)
    expect(page.locator(QUESTION)).to_have_count(1)


def test_a_reconnected_window_shows_the_whole_answer(visit: Visit, model: Any) -> None:
    page = visit("ann", CUT)
    ask(page, ASKED)
    half_written(page)
    page.evaluate("window.cutOff()")
    expect(page.get_by_text("Could not reach the server")).to_be_visible()
    model.heal()
    other = visit("ann")
    conversation(other, ASKED).first.click()
    answer(other, "4.5 V")
    page.evaluate("window.cut = false")
    expect(answer(page, "4.5 V")).to_contain_text("Written by the language model", use_inner_text=True)
    expect(page.get_by_text("Could not reach the server")).to_have_count(0)


def test_two_windows_of_one_conversation_show_the_same(visit: Visit, model: Any) -> None:
    page, beside = visit("ann"), visit("ann")
    model.heal()
    ask(page, ASKED)
    answer(page, "4.5 V")
    beside.goto(page.url)
    answer(beside, "4.5 V")
    model.fault("pause", prompt="cited_answer", tokens=4)
    ask(page, OTHER)
    expect(beside.locator(QUESTION, has_text=OTHER)).to_be_visible()
    half_written(page)
    beside.locator("#stop-button").click()  # it stops the answer in both windows
    for window in (page, beside):
        told(window, "This question was stopped")
        expect(window.locator(QUESTION)).to_have_count(2)


def test_a_stopped_question_says_so_and_can_be_asked_again(visit: Visit, model: Any) -> None:
    page = visit("ann")
    ask(page, ASKED)
    half_written(page)
    page.locator("#stop-button").click()
    told(page, "This question was stopped")
    expect(page.locator(MESSAGE, has_text="The Word Line")).to_have_count(0)
    model.heal()
    page.get_by_role("button", name="Answer again").click()
    answer(page, "4.5 V")
    expect(page.get_by_text("This question was stopped")).to_have_count(0)


def test_a_waiting_question_says_that_it_waits(visit: Visit, model: Any) -> None:
    page, waiting = visit("ann"), visit("bob")
    ask(page, ASKED)
    half_written(page)
    ask(waiting, ASKED)
    expect(waiting.get_by_text("Waiting for its turn")).to_be_visible()
    model.heal()
    answer(page, "4.5 V")
    answer(waiting, "4.5 V")
    expect(waiting.get_by_text("Waiting for its turn")).to_have_count(0)
    expect(waiting.get_by_text(re.compile("How this was answered"))).to_be_visible()


def test_a_refused_question_leaves_the_last_answer_unchanged(visit: Visit, model: Any) -> None:
    page = visit("ann")
    ask(page, "What is PUC?")
    expect(choices(page, "Public Utilities Commission (Legal)")).to_be_visible()
    ask(page, "???")
    told(page, "holds no words")
    expect(choices(page, "Public Utilities Commission (Legal)")).to_be_visible()
    expect(page.get_by_role("button", name="Save this conversation")).to_be_visible()


def test_the_images_of_the_window_are_served_by_argot(visit: Visit, model: Any) -> None:
    """Check the stop button's icon and the one of an image to be sent: neither is a data: or blob: address, which the
    policy would refuse (`visitors`).
    """
    page = visit("ann")
    drawn = "() => getComputedStyle(document.querySelector('.stop-icon')).maskImage"
    ask(page, ASKED)
    half_written(page)
    assert "url(" not in page.evaluate(drawn)
    model.heal()
    answer(page, "4.5 V")
    picture = {"name": "holiday.png", "mimeType": "image/png", "buffer": b"\x89PNG\r\n\x1a\n"}
    page.locator("#upload-button-input").set_input_files([picture])
    sign = page.locator("img[src='/public/picture.svg']")
    expect(sign).to_be_visible()
    wait_until(page, "(one) => one.naturalWidth > 0", sign.element_handle())


def test_an_attached_file_is_shown_by_name_and_names_its_conversation(visit: Visit, model: Any) -> None:
    page = visit("ann")
    refused: list[str] = []
    page.on("response", lambda one: refused.append(one.url) if one.status >= 400 else None)
    files = page.locator("#upload-button-input")
    files.set_input_files([{"name": "nothing.txt", "mimeType": "text/plain", "buffer": b""}])
    expect(page.get_by_text("This file is empty")).to_be_visible()
    assert len(refused) == 1
    plan = pdf("Plan of the annex", "The annex has four doors.")
    files.set_input_files([{"name": "annex.pdf", "mimeType": "application/pdf", "buffer": plan}])
    expect(page.locator("#chat-submit:not([disabled])")).to_be_visible()
    page.locator("#chat-submit").click()
    told(page, "can now be asked about")
    expect(conversation(page, "annex.pdf")).to_be_visible()
    expect(page.locator(QUESTION).get_by_text("annex.pdf")).to_be_visible()
    page.locator(QUESTION).get_by_text("annex.pdf").click()  # the name is not a link
    expect(page.get_by_text("Failed to load")).to_have_count(0)
    assert len(page.context.pages) == 1
    assert len(refused) == 1
