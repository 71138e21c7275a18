"""The chat window in a real browser, against a real server in a process of its own."""

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from argot.settings import Settings

ROOT = Path(__file__).parent.parent
CHROMIUM = next((path for path in map(shutil.which, ("chromium", "chromium-browser", "google-chrome")) if path), None)
CANARY = "<img src=x onerror=window.pwned=1>"
TRACKER = "http://tracker.example"
CANARY_TEXT = f"""# Songbirds {CANARY}<script>window.pwned=1</script>

The dwarf canary of the test hall sings at 4711 hertz. {CANARY} ![pixel]({TRACKER}/pixel.png)
The dwarf canary sleeps at noon, see [the plan](javascript:window.pwned=1) or {TRACKER}/plan or <{TRACKER}/auto>.
"""

pytestmark = pytest.mark.browser


@dataclass
class Served:
    """A server in a process of its own, which can be stopped and started again."""

    home: Path
    port: int
    process: subprocess.Popen[str] | None = None
    said: list[str] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://localhost:{self.port}"

    def start(self, *options: str) -> None:
        command = "from argot.ui.cli import main; main()"
        arguments = ["serve", "--home", str(self.home), "--port", str(self.port), *options]
        environment = {name: value for name, value in os.environ.items() if name != "ARGOT_SCREENSHOTS"}
        self.process = subprocess.Popen(
            [sys.executable, "-c", command, *arguments],
            stderr=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            text=True,
            cwd=self.home.parent,
            env=environment,
        )
        assert self.process.stderr
        for line in self.process.stderr:
            self.said.append(line)
            if "open at" in line:
                return
        pytest.fail("the server did not start:\n" + "".join(self.said))

    def stop(self) -> int:
        assert self.process and self.process.stderr
        self.process.send_signal(signal.SIGINT)
        code = self.process.wait(timeout=20)
        self.process.stderr.close()
        self.process = None
        return code


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    if CHROMIUM is None:
        message = "no chromium found: apt-get install chromium"
        pytest.fail(message) if os.environ.get("CI") == "true" else pytest.skip(message)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield chromium
        chromium.close()


@pytest.fixture(scope="module")
def served(browser: Any, tiny_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("served")
    server = Served(Path(shutil.copytree(tiny_home, folder / "kb")), _free_port())
    # In a thread, for Playwright runs an event loop in this one.
    with ThreadPoolExecutor(1) as thread:
        thread.submit(_add_canary, server.home, folder).result()
    server.start()
    yield server
    if server.process:
        server.stop()
    assert sorted(path.name for path in folder.iterdir()) == ["kb", "put"]  # nothing is written beside it


@pytest.fixture
def page(browser: Any, served: Served) -> Iterator[Any]:
    """A fresh visitor. Nothing may be asked of any other server, and no script may fail."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    context.set_default_timeout(20_000)
    asked: list[str] = []
    errors: list[str] = []
    context.on("request", lambda request: asked.append(request.url))
    tab = context.new_page()
    tab.on("websocket", lambda socket: asked.append(socket.url.replace("ws:", "http:")))
    tab.on("pageerror", lambda error: errors.append(str(error)))
    tab.on("console", lambda line: errors.append(line.text) if "Content Security Policy" in line.text else None)
    yield tab
    context.close()
    assert [url for url in asked if not url.startswith((served.url, "data:", "blob:"))] == []
    assert errors == []


def test_a_question_is_answered_with_a_mark_that_opens_the_passage(page: Any, served: Served) -> None:
    _open(page, served.url)
    assert page.title() == "Argot"
    _ask(page, "What is the WL voltage during a read?")
    answer = _answer(page, "4.5 V")
    assert "WL: Word Line" in answer and "NAND" in answer and "nand-layout.md" in answer
    assert page.get_by_text(re.compile("How this was answered")).count() == 1
    page.locator(".message-content a", has_text="[1]").first.click()
    panel = page.locator("#side-view-content")
    panel.get_by_text("4.5 V").first.wait_for()
    assert "nand-layout.md" in page.locator("#side-view-title").inner_text()
    assert "4.5 V" in panel.locator("span.font-bold").all_inner_texts()[0]  # the cited sentence is marked


def test_an_ambiguous_term_is_asked_back_and_chosen_by_button(page: Any, served: Served) -> None:
    _open(page, served.url)
    _ask(page, "What is PUC?")
    buttons = page.locator("button[id^=choice-]")
    buttons.nth(2).wait_for()
    assert any("Public Utilities Commission (Legal)" in label for label in buttons.all_inner_texts())
    buttons.filter(has_text="Public Utilities Commission").click()
    assert "PUC: Public Utilities Commission" in _answer(page, "Understood as")
    assert buttons.count() == 0


def test_a_choice_may_be_answered_in_words_or_passed_over(page: Any, served: Served) -> None:
    _open(page, served.url)
    _ask(page, "What is PUC?")
    page.locator("button[id^=choice-]").first.wait_for()
    _ask(page, "How much does a late tariff filing cost?")
    _answer(page, "500 dollars")
    _ask(page, "What is PUC?")
    page.locator("button[id^=choice-]").first.wait_for()
    _ask(page, "the legal one")
    assert "PUC: Public Utilities Commission" in _answer(page, "Understood as")


def test_threads_survive_a_restart_with_their_open_choice(page: Any, served: Served) -> None:
    _open(page, served.url)
    _ask(page, "What is the WL voltage during a read?")
    _answer(page, "4.5 V")
    page.locator(".positive-feedback-off").first.click()
    page.locator("#submit-feedback").click()
    page.locator(".positive-feedback-on").wait_for()
    _ask(page, "What is PUC?")
    page.locator("button[id^=choice-]").first.wait_for()

    assert served.stop() == 0
    served.start()
    _open(page, served.url)
    page.locator("a[href^='/thread/']", has_text="What is the WL voltage").first.click()
    assert "nand-layout.md" in _answer(page, "4.5 V")
    assert page.locator(".positive-feedback-on").count() == 1
    page.locator("button[id^=choice-]", has_text="Peripheral Under Cell").click()
    assert "PUC: Peripheral Under Cell" in _answer(page, "PUC: ")


def test_a_button_pressed_twice_or_in_another_tab_is_taken_once(page: Any, served: Served) -> None:
    _open(page, served.url)
    _ask(page, "What is PUC?")
    page.locator("button[id^=choice-]").first.wait_for()
    page.locator("a[href^='/thread/']", has_text="What is PUC?").first.wait_for()
    other = page.context.new_page()
    other.goto(served.url + page.locator("a[href^='/thread/']").first.get_attribute("href"))
    other.locator("button[id^=choice-]").first.wait_for()
    page.locator("button[id^=choice-]", has_text="Public Utilities Commission").dblclick()
    assert "PUC: Public Utilities Commission" in _answer(page, "Understood as")
    other.locator("button[id^=choice-]", has_text="Peripheral Under Cell").click()
    other.locator(".ai-message", has_text="Nothing is waiting").wait_for()
    assert page.locator("[data-step-type=user_message]").count() == 2
    other.close()


def test_a_deleted_document_is_gone_from_the_answer_it_gave(page: Any, served: Served, tmp_path: Path) -> None:
    (tmp_path / "numbat.md").write_text("# Numbat\n\nThe numbat of the depot leaves at midnight.\n")
    _argot("add", tmp_path / "numbat.md", "--home", served.home)
    _open(page, served.url)
    _ask(page, "When does the numbat of the depot leave?")
    _answer(page, "midnight")
    _argot("remove", "numbat.md", "--home", served.home)
    page.locator(".message-content a", has_text="[1]").first.click()
    page.locator("#side-view-title", has_text="No longer there").wait_for()
    page.reload()
    page.locator("a[href^='/thread/']", has_text="When does the numbat").first.click()
    assert "midnight" not in _answer(page, "not shown")


def test_text_of_documents_names_and_glossary_never_acts(page: Any, served: Served) -> None:
    _open(page, served.url)
    _ask(page, "At what frequency does the DWCN sing?")
    assert CANARY in _answer(page, "4711 hertz")
    page.locator(".message-content a", has_text="[1]").first.click()
    page.locator("#side-view-content").get_by_text("4711 hertz").first.wait_for()
    assert CANARY in page.locator("#side-view-title").inner_text()
    assert page.evaluate("window.pwned") is None
    hrefs = page.eval_on_selector_all(".message-content a, #side-view-content a", "all => all.map(a => a.href)")
    assert [href for href in hrefs if not href.startswith(f"{served.url}/argot/passages/")] == []
    assert page.locator(".message-content img, #side-view-content img").count() == 0


@pytest.mark.parametrize(("question", "said"), [("🎉", "word"), ("a" * 1_000_000, "1,000,000 characters")])
def test_what_cannot_be_asked_gets_a_clear_answer(page: Any, served: Served, question: str, said: str) -> None:
    _open(page, served.url)
    _ask(page, question)
    error = page.locator(".ai-message", has_text=said)
    error.wait_for()
    assert "Traceback" not in error.inner_text()


def test_a_thread_is_renamed_and_deleted(page: Any, served: Served) -> None:
    _open(page, served.url)
    _ask(page, "How long does trimming a drive take?")
    _answer(page, "40 seconds")
    entry = page.locator("a[href^='/thread/']", has_text="How long does trimming")
    entry.hover()
    entry.locator("#thread-options").click()
    page.get_by_role("menuitem", name="Rename").click()
    page.locator("input#name").fill("Trim times")
    page.get_by_role("dialog").get_by_role("button", name="Confirm").click()
    renamed = page.locator("a[href^='/thread/']", has_text="Trim times")
    renamed.hover()
    renamed.locator("#thread-options").click()
    page.get_by_role("menuitem", name="Delete").click()
    page.get_by_role("button", name="Confirm").click()
    renamed.wait_for(state="detached")


@pytest.mark.skipif(not os.environ.get("ARGOT_SCREENSHOTS"), reason="writes docs/screenshots: ARGOT_SCREENSHOTS=1")
def test_screenshots_of_the_samples(browser: Any, tmp_path: Path) -> None:
    server = Served(tmp_path / "kb", _free_port())
    server.start("--samples")
    shots = ROOT / "docs" / "screenshots"
    shots.mkdir(exist_ok=True)
    light = browser.new_page(viewport={"width": 1180, "height": 760}, color_scheme="light")
    _open(light, server.url)
    light.locator("#starters").wait_for()
    light.wait_for_timeout(800)
    light.screenshot(path=shots / "welcome.png")
    light.locator("#starters button").first.click()
    _answer(light, "3.4 micrometres")
    light.locator(".message-content a", has_text="[1]").first.click()
    light.locator("#side-view-content").get_by_text("3.4 micrometres").first.wait_for()
    light.wait_for_timeout(800)
    light.screenshot(path=shots / "answer.png")
    dark = browser.new_page(viewport={"width": 1180, "height": 760}, color_scheme="dark")
    _open(dark, server.url)
    _ask(dark, "What is PLP?")
    dark.locator("button[id^=choice-]").first.wait_for()
    dark.wait_for_timeout(800)
    dark.screenshot(path=shots / "choice.png")
    server.stop()


def _open(page: Any, url: str) -> None:
    page.goto(url)
    page.locator("#chat-input").wait_for()
    # The window can be typed into before its connection stands; the send button waits for it.
    page.wait_for_load_state("networkidle")


def _ask(page: Any, question: str) -> None:
    page.locator("#chat-input").click()
    page.keyboard.insert_text(question)
    page.locator("#chat-submit:not([disabled])").click()


def _answer(page: Any, holding: str) -> str:
    """The text of the last finished answer once it holds this."""
    answer = page.locator(".ai-message", has_text=holding).last
    answer.wait_for()
    page.locator("#stop-button").wait_for(state="detached")
    text: str = page.locator(".ai-message .message-content", has_text=holding).last.inner_text()
    return text


def _add_canary(home: Path, folder: Path) -> None:
    from argot.service.client import connect

    put = folder / "put"
    put.mkdir()
    (put / f"birds {CANARY}.md").write_text(CANARY_TEXT, encoding="utf-8")
    with connect(home, Settings(home=home)) as client:
        client.call("add", paths=[str(put)])
        client.call(
            "glossary_add",
            term="DWCN",
            context="Tools",
            expansion=f"dwarf canary {CANARY}",
            description=f"![d]({TRACKER}/d.png)",
        )


def _argot(*arguments: object) -> None:
    command = [sys.executable, "-c", "from argot.ui.cli import main; main()", *map(str, arguments)]
    subprocess.run(command, check=True, capture_output=True)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
