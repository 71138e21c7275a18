"""Steps of tests in the chat window in a browser: each waits until the page shows that it is done.

The page gets its data over a websocket and is drawn later, so a test never reads it right after waiting for something
else: expected content is awaited with `expect`, and the absence of content is checked after all earlier content.
"""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import serving
from playwright.sync_api import expect

PATIENCE = 1000 * serving.PATIENCE
"""Milliseconds after which a test gives up, long enough for a busy machine; not a measurement."""

QUESTION = "[data-step-type=user_message]"
MESSAGE = "[data-step-type=assistant_message]"
FINISHED = f"{MESSAGE}:has(button[id^=tool-])"
"""A finished answer: its buttons appear after its last words and disappear with the next question."""

expect.set_options(timeout=PATIENCE)


@contextmanager
def visitors(chromium: Any, url: str) -> Iterator[Callable[..., Any]]:
    """Open tabs, each for a different visitor. At the end, check that no other server was requested, no script failed
    and no policy was violated.
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
    """Wait for the connection: the settings come over it, while text can be typed before."""
    expect(page.locator("#chat-input")).to_be_visible()
    expect(page.locator("#chat-settings-open-modal")).to_be_visible()


def wait_until(page: Any, holds: str, arg: Any = None) -> None:
    """Wait until a JavaScript function returns true in the page.

    `wait_for_function` works only if the function returns true at once: its next look is a call of `eval`, which the
    page's policy forbids.
    """
    for _ in range(PATIENCE // 100):
        if page.evaluate(holds, arg):
            return
        page.wait_for_timeout(100)
    raise AssertionError(f"it never holds in the page: {holds}")


def come_back(page: Any) -> None:
    """Reload the open conversation, which has its address only after its first question."""
    expect(page).to_have_url(re.compile("/thread/"))
    page.reload()
    connected(page)


def conversation(page: Any, called: str) -> Any:
    """Return the entry of a conversation in the list of past ones."""
    return page.locator("a[href^='/thread/']", has_text=called)


# -- asking ----------------------------------------------------------------------------------------------------------


def ask(page: Any, question: str) -> None:
    """Type and send a question by mouse and keyboard, and check that it is accepted."""
    page.locator("#chat-input").click()
    page.keyboard.insert_text(question)
    send(page)


def send(page: Any) -> None:
    """Send the text in the box. The button works only with a connection and while no answer is being written.

    The first question of a conversation changes the address of the page, which empties the box: wait for that.
    """
    with one_question_more(page):
        page.locator("#chat-submit:not([disabled])").click()
    expect(page).to_have_url(re.compile("/thread/"))


def press(page: Any, button: Any) -> None:
    """Press a button that sends a message for the asker."""
    with one_question_more(page):
        button.click()


@contextmanager
def one_question_more(page: Any) -> Iterator[None]:
    before = page.locator(QUESTION).count()
    yield
    expect(page.locator(QUESTION)).to_have_count(before + 1)


def answer(page: Any, holding: str) -> Any:
    """Return the finished answer to the last question, after checking that it contains `holding`."""
    finished = page.locator(f"{QUESTION} ~ {FINISHED}:not(:has(~ {QUESTION}))")
    expect(finished).to_have_count(1)
    text = finished.locator(".message-content")
    expect(text).to_contain_text(holding, use_inner_text=True)
    idle(page)
    return text


def told(page: Any, holding: str) -> Any:
    """Return the last message that contains `holding` and is sent whole, not as an answer."""
    text = page.locator(f"{MESSAGE} .message-content", has_text=holding).last
    expect(text).to_be_visible()
    idle(page)
    return text


def idle(page: Any) -> None:
    """Wait until no answer is being written; this does not prove an answer, as it also holds before the first word."""
    expect(page.locator("#stop-button")).to_have_count(0)


def choices(page: Any, holding: str = "") -> Any:
    return page.locator("button[id^=choice-]", has_text=holding)


# -- sources ---------------------------------------------------------------------------------------------------------


def mark(page: Any, text: str) -> Any:
    """Return a link in an answer: the number of a passage, or the explanation of a term."""
    return page.locator(".message-content a", has_text=text)


def panel(page: Any) -> Any:
    return page.locator("#side-view-content")


def panel_title(page: Any) -> Any:
    return page.locator("#side-view-title")


def page_picture(page: Any) -> Any:
    """Return the picture of a page once it is drawn."""
    picture = panel(page).locator("img")
    expect(picture).to_be_visible()
    wait_until(page, "() => document.querySelector('#side-view-content img')?.naturalWidth > 0")
    return picture
