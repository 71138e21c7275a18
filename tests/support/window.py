"""The chat window in a browser, as the tests drive it: every step waits for what the page shows to say that it is done.

The page is fed over a websocket and drawn later, so nothing is read right after a wait for something else: what must
come is waited for by `expect`, and what must not come is looked for only when all that comes before it is there.
"""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import serving
from playwright.sync_api import expect

PATIENCE = 1000 * serving.PATIENCE
"""Milliseconds; no measure of anything: when a test gives up, on however busy a machine."""

QUESTION = "[data-step-type=user_message]"
MESSAGE = "[data-step-type=assistant_message]"
FINISHED = f"{MESSAGE}:has(button[id^=tool-])"
"""An answer that can be given again or saved: those buttons come after its last words and go with the next question."""

expect.set_options(timeout=PATIENCE)


@contextmanager
def visitors(chromium: Any, url: str) -> Iterator[Callable[..., Any]]:
    """Opens tabs, each of a visitor of its own. In the end nothing may have been asked of any other server, no script
    may have failed, and no policy been broken.
    """
    contexts: list[Any] = []
    asked: list[str] = []
    errors: list[str] = []

    def come(**options: Any) -> Any:
        context = chromium.new_context(**{"viewport": {"width": 1280, "height": 800}, **options})
        contexts.append(context)
        context.set_default_timeout(PATIENCE)
        context.on("request", lambda request: asked.append(request.url))
        tab = context.new_page()
        tab.on("websocket", lambda socket: asked.append(socket.url.replace("ws:", "http:")))
        tab.on("pageerror", lambda error: errors.append(str(error)))
        tab.on("console", lambda line: errors.append(line.text) if "Content Security Policy" in line.text else None)
        return tab

    yield come
    for context in contexts:
        context.close()
    assert [one for one in asked if not one.startswith((url, "data:", "blob:"))] == []
    assert errors == []


# -- coming ----------------------------------------------------------------------------------------------------------


def open_window(page: Any, url: str) -> None:
    page.goto(url)
    connected(page)


def sign_in(page: Any, name: str, password: str) -> None:
    page.locator("#name").fill(name)
    page.locator("#password").fill(password)
    page.get_by_role("button", name="Sign in").click()


def connected(page: Any) -> None:
    """The window can be typed into before its connection stands. The settings come over it."""
    expect(page.locator("#chat-input")).to_be_visible()
    expect(page.locator("#chat-settings-open-modal")).to_be_visible()


def come_back(page: Any) -> None:
    """To the conversation that is open; its address comes only after its first question."""
    expect(page).to_have_url(re.compile("/thread/"))
    page.reload()
    connected(page)


def conversation(page: Any, called: str) -> Any:
    """In the list of past conversations."""
    return page.locator("a[href^='/thread/']", has_text=called)


# -- asking ----------------------------------------------------------------------------------------------------------


def ask(page: Any, question: str) -> None:
    """Type and send, by mouse and keyboard, and see it taken."""
    page.locator("#chat-input").click()
    page.keyboard.insert_text(question)
    send(page)


def send(page: Any) -> None:
    """What stands in the box. The button can be pressed only while a connection stands and nothing is being answered.

    The first question of a conversation gives the page another address, and with it an empty box: that is waited for.
    """
    with one_question_more(page):
        page.locator("#chat-submit:not([disabled])").click()
    expect(page).to_have_url(re.compile("/thread/"))


def press(page: Any, button: Any) -> None:
    """A button that says something for its asker."""
    with one_question_more(page):
        button.click()


@contextmanager
def one_question_more(page: Any) -> Iterator[None]:
    before = page.locator(QUESTION).count()
    yield
    expect(page.locator(QUESTION)).to_have_count(before + 1)


def answer(page: Any, holding: str) -> Any:
    """The text of the finished answer to the last question, which holds this: to `expect` more of it."""
    finished = page.locator(f"{QUESTION} ~ {FINISHED}:not(:has(~ {QUESTION}))")
    expect(finished).to_have_count(1)
    text = finished.locator(".message-content")
    expect(text).to_contain_text(holding, use_inner_text=True)
    idle(page)
    return text


def told(page: Any, holding: str) -> Any:
    """The text of the last message that holds this, which comes as a whole and not as an answer."""
    text = page.locator(f"{MESSAGE} .message-content", has_text=holding).last
    expect(text).to_be_visible()
    idle(page)
    return text


def idle(page: Any) -> None:
    """Nothing is being answered any more. No proof of an answer: so it is before the first word too."""
    expect(page.locator("#stop-button")).to_have_count(0)


def choices(page: Any, holding: str = "") -> Any:
    return page.locator("button[id^=choice-]", has_text=holding)


# -- sources ---------------------------------------------------------------------------------------------------------


def mark(page: Any, text: str) -> Any:
    """A link in an answer: the number of a passage, or what is said of a term."""
    return page.locator(".message-content a", has_text=text)


def panel(page: Any) -> Any:
    return page.locator("#side-view-content")


def panel_title(page: Any) -> Any:
    return page.locator("#side-view-title")


def page_picture(page: Any) -> Any:
    """The picture of a page, once it is drawn."""
    picture = panel(page).locator("img")
    expect(picture).to_be_visible()
    page.wait_for_function("() => document.querySelector('#side-view-content img')?.naturalWidth > 0")
    return picture
