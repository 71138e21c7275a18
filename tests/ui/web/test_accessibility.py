"""Every page keeps the WCAG rules up to 2.2 AA, as far as axe-core checks them, on a screen and on a phone."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from accessibility import find_lasting_violations, find_violations
from playwright.sync_api import Error, expect
from serving import Served, argot
from window import answer, ask, open_window, visitors

pytestmark = pytest.mark.browser

BEGINNINGS = (
    "/terms",
    "/library",
    "/documents",
    "/glossary",
    "/insight",
    "/verified",
    "/workbench",
    "/ratings",
    "/administration",
    "/people",
    "/account",
)
WIDTHS = {"screen": (1280, 800), "phone": (375, 700)}


@pytest.fixture(scope="module")
def served(chromium: Any, tiny_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    home = Path(shutil.copytree(tiny_home, tmp_path_factory.mktemp("accessibility") / "kb"))
    argot("glossary", "suggest", "QTFX", "quality test fixture", "--home", str(home))
    with Served(home) as server:
        yield server


def shorten(address: str) -> str:
    """Return the kind of page at an address: what is open under several numbers or names is one."""
    path = address.partition("?")[0].rstrip("/")
    return re.sub(r"(?<=/)[0-9a-f]{8,}(?=/|$)|(?<=/)[^/]*[.%][^/]*(?=/|$)|(?<=/)\d+(?=/|$)", "N", path)


def is_page(tab: Any, address: str) -> bool:
    """Open an address, and tell whether it is a page: not a file, nor something else than HTML."""
    try:
        response = tab.goto(address)
    except Error as error:
        if "Download is starting" not in error.message:
            raise
        return False
    return bool(response.ok) and response.headers["content-type"].startswith("text/html")


def walk(tab: Any, url: str) -> Iterator[str]:
    """Open each kind of page that a link leads to, and yield its address while it is open."""
    waiting, seen = list(BEGINNINGS), set(map(shorten, BEGINNINGS))
    while waiting:
        address = waiting.pop(0)
        if not is_page(tab, url + address):
            continue
        yield address
        for link in tab.eval_on_selector_all("a[href]", "all => all.map((one) => one.getAttribute('href'))"):
            # The chat window has a test of its own, which waits until its script has run.
            if link.startswith("/") and shorten(link) and shorten(link) not in seen:
                seen.add(shorten(link))
                waiting.append(link)


@pytest.mark.parametrize("width", WIDTHS)
def test_no_page_violates_a_rule(chromium: Any, served: Served, width: str) -> None:
    size = dict(zip(("width", "height"), WIDTHS[width], strict=True))
    with visitors(chromium, served.url) as visit:
        tab = visit(viewport=size)
        found = {address: find_violations(tab) for address in walk(tab, served.url)}
    assert len(found) > 20, found.keys()
    assert {address: faults for address, faults in found.items() if faults} == {}


def test_the_window_with_an_answer_violates_no_rule(chromium: Any, served: Served) -> None:
    with visitors(chromium, served.url) as visit:
        tab = visit()
        open_window(tab, served.url)
        # The script that mends Chainlit's own elements has run once they have a role.
        expect(tab.locator("#header button[role=link]").first).to_be_visible()
        empty = find_lasting_violations(tab)
        ask(tab, "What is the WL voltage during a read?")
        answer(tab, "4.5 V")
        expect(tab.locator("#thread-options[role=button]").first).to_be_attached()
        assert (empty, find_lasting_violations(tab)) == ([], [])
