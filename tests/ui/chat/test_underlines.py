"""Tests of underlined terms in Chromium: in an answer, in its source, on a page of a document, and by the extension."""

import json
import shutil
import threading
from collections.abc import Callable, Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect
from repository import ROOT
from serving import CHROMIUM, Served, argot
from tiny_base import close_base, open_base
from window import PATIENCE, answer, ask, mark, open_window, panel, visitors

pytestmark = pytest.mark.browser

HOSTILE = "<img src=x onerror=window.pwned=1>"
GUIDE = """# Gap guide

## PUC and `WL`

The WL of a PUC lies beside the [WL](https://example.com/) and the `WL` register. A WL again.

The WL pitch of the GAPX is 9 nm. The VLT is not for everybody.
"""
INTRANET = """<!doctype html><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'self'">
<title>Wiki</title><h1>WL team</h1><p>😀 The <b>WL</b> and the <a href="/">WL</a> of a PUC, <code>WL</code>. The WL.</p>
<p>The GAPX.</p><h2>Guests</h2><p>Ask the VLT about the WL.</p>"""


@pytest.fixture(scope="module")
def served(chromium: Any, tiny_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Provide one service for all tests, with a meaning that is markup and a document that uses its term."""
    home = Path(shutil.copytree(tiny_home, tmp_path_factory.mktemp("underlines") / "kb"))
    base = open_base(home)
    base.glossary.senses.add("GAPX", "Tools", HOSTILE, f"{HOSTILE} & more")
    base.add("gap-guide.md", GUIDE)
    close_base(base)
    with Served(home) as server:
        yield server


@pytest.fixture
def open_page(chromium: Any, served: Served) -> Iterator[Callable[..., Any]]:
    with visitors(chromium, served.url) as visit:
        yield visit


def box(page: Any) -> Any:
    return page.locator("#argot-box")


def test_terms_of_an_answer_and_its_source_show_their_meaning(open_page: Callable[..., Any], served: Served) -> None:
    page = open_page()
    open_window(page, served.url)
    ask(page, "What is the pitch of the GAPX?")
    answer(page, "9 nm")
    words = page.locator(".ai-message .message-content .argot-term", has_text="WL")
    expect(words.first).to_be_visible()
    assert page.locator(".message-content a .argot-term, .message-content code .argot-term").count() == 0
    words.first.hover()
    expect(box(page)).to_contain_text("Word Line · NAND")
    page.mouse.move(5, 300)
    expect(box(page)).to_have_count(0)
    words.first.focus()
    expect(box(page)).to_be_visible()
    expect(words.first).to_have_attribute("aria-describedby", "argot-box-meanings")
    page.keyboard.press("Enter")
    expect(box(page).get_by_role("link", name="In the glossary")).to_be_focused()
    page.keyboard.press("Escape")
    expect(box(page)).to_have_count(0)
    expect(words.first).to_be_focused()
    mark(page, "[1]").first.click()
    expect(panel(page).locator(".argot-term").first).to_be_visible()
    # The window draws its messages anew, and no word is lost or doubled.
    ask(page, "How long does trimming a drive take?")
    answer(page, "40 seconds")
    first = page.locator(".ai-message .message-content", has_text="9 nm").first
    expect(first).to_contain_text("The WL pitch of the GAPX is 9 nm.")


def test_a_term_of_a_document_is_underlined_once_and_a_wrong_meaning_is_reported(
    open_page: Callable[..., Any], served: Served
) -> None:
    page = open_page(viewport={"width": 390, "height": 700}, has_touch=True, color_scheme="dark")
    page.goto(f"{served.url}{_passage_of(served, 'gap-guide.md')}")
    words = page.locator(".argot-term")
    expect(words).to_have_text(["WL", "PUC", "GAPX", "VLT"])
    words.nth(2).tap()
    expect(box(page)).to_contain_text(f"{HOSTILE} & more")
    assert page.evaluate("window.pwned") is None and box(page).locator("img").count() == 0
    words.nth(1).tap()
    expect(box(page)).to_contain_text("Peripheral Under Cell · NAND")
    edges = box(page).bounding_box()
    assert edges and edges["x"] >= 0 and edges["x"] + edges["width"] <= 390
    box(page).get_by_role("button", name="Not what it means here").tap()
    box(page).get_by_label("What does it mean here?").fill("power up control")
    box(page).get_by_role("button", name="Send").tap()
    expect(box(page)).to_contain_text("Thank you.")
    page.goto(f"{served.url}/glossary/queue/term?t=PUC")
    expect(page.get_by_text("Not “Peripheral Under Cell” (NAND) in gap-guide.md: power up control")).to_be_visible()


def _passage_of(served: Served, name: str) -> str:
    shown = json.loads(argot("show", name, "--json", "--home", served.home))
    return f"/terms/passage/{shown['passages'][0]['id']}"


@pytest.fixture
def intranet(tmp_path: Path) -> Iterator[str]:
    """Provide the address of a site that is not Argot's."""
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "index.html").write_text(INTRANET, encoding="utf-8")

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=tmp_path / "site"))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}/"
    server.shutdown()
    server.server_close()


def test_the_extension_underlines_terms_on_a_page_of_the_intranet(
    served: Served, intranet: str, tmp_path: Path, chromium: Any
) -> None:
    argot("user", "add", "ann", "--home", served.home)
    key = argot("key", "add", "ann", "--home", served.home).strip()
    folder = Path(shutil.copytree(ROOT / "deploy" / "extension", tmp_path / "extension"))
    manifest = json.loads((folder / "manifest.json").read_text())
    # What the options page would ask for at the press of a button, which no test can grant.
    manifest["host_permissions"] = [f"{served.url}/*", f"{intranet}*"]
    (folder / "manifest.json").write_text(json.dumps(manifest))
    flags = ["--headless=new", "--no-sandbox", f"--disable-extensions-except={folder}", f"--load-extension={folder}"]
    context = chromium.browser_type.launch_persistent_context(
        str(tmp_path / "profile"), executable_path=CHROMIUM, headless=False, args=flags, timeout=PATIENCE
    )
    try:
        worker = context.service_workers[0] if context.service_workers else context.wait_for_event("serviceworker")
        given = {"address": served.url, "key": key, "context": "", "sites": [f"{intranet}*"]}
        worker.evaluate("given => chrome.storage.local.set(given).then(() => registerInTurn())", given)
        page = context.new_page()
        page.goto(intranet)
        words = page.locator(".argot-term")
        expect(words).to_have_text(["WL", "PUC", "GAPX", "WL"], timeout=PATIENCE)
        assert page.locator("a .argot-term, code .argot-term, h1 .argot-term").count() == 0
        words.nth(2).click()
        expect(box(page)).to_contain_text(HOSTILE)
        assert box(page).locator("img").count() == 0
        words.nth(1).click()
        expect(box(page)).to_contain_text("Peripheral Under Cell")
        assert box(page).get_by_role("link").get_attribute("href") == f"{served.url}/terms/term?t=PUC"
        box(page).get_by_role("button", name="Not what it means here").click()
        box(page).get_by_role("button", name="Send").click()
        expect(box(page)).to_contain_text("Thank you.")
        # Neither the page nor a script in it learns the key.
        assert key not in page.content()
    finally:
        context.close()
    queued = argot("glossary", "misses", "--json", "--home", served.home)
    assert f"Not “Peripheral Under Cell” (NAND) on {intranet}" in queued


def test_the_extension_has_the_script_of_argots_own_pages() -> None:
    own = ROOT / "ui" / "assets" / "underline.js"
    assert (ROOT / "deploy" / "extension" / "underline.js").read_bytes() == own.read_bytes()
