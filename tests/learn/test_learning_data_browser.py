"""Tests of the training data pages in a real browser: a set is made, reviewed, corrected and struck."""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect
from repository import ROOT
from serving import Served
from window import PATIENCE, visitors

SHOTS = ROOT / "docs" / "screenshots"

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def served(chromium: Any, tiny_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    home = Path(shutil.copytree(tiny_home, tmp_path_factory.mktemp("learning") / "kb"))
    with Served(home) as server:
        yield server


@pytest.fixture
def open_page(chromium: Any, served: Served) -> Iterator[Callable[..., Any]]:
    with visitors(chromium, served.url) as visit:
        yield visit


def test_a_set_is_made_reviewed_and_corrected(open_page: Callable[..., Any], served: Served, tmp_path: Path) -> None:
    tab = open_page()
    shots = SHOTS if os.environ.get("ARGOT_SCREENSHOTS") else tmp_path
    tab.goto(f"{served.url}/workbench/data")
    tab.get_by_label("Name").fill("ours")
    tab.screenshot(path=shots / "training-data-make.png")
    tab.get_by_role("button", name="Make").press("Enter")
    while tab.get_by_role("link", name="Look again").count():
        tab.get_by_role("link", name="Look again").click()
    expect(tab.get_by_text("pairs kept")).to_be_visible(timeout=PATIENCE)
    question = tab.locator(".row .term").first.text_content() or ""

    row = tab.locator(".row").first
    row.locator("summary", has_text="Passage").click()
    expect(row.locator(".passage")).to_be_visible()
    row.locator("summary", has_text="Correct").press("Enter")
    row.get_by_label("Question").fill("What is this about?")
    tab.screenshot(path=shots / "training-data.png")
    row.get_by_role("button", name="Save").press("Enter")
    expect(tab.get_by_role("status")).to_have_text("Saved.")
    expect(tab.locator(".row").first).to_contain_text("What is this about?")
    expect(tab.locator(".row").first).to_contain_text(f"Made as: {question}")
    tab.get_by_role("button", name="Strike What is this about?").click()
    expect(tab.locator(".row").first.get_by_text("struck")).to_be_visible()
    tab.get_by_label("State").select_option("struck")
    tab.get_by_role("button", name="Show").click()
    expect(tab.locator(".row")).to_have_count(1)

    tab.set_viewport_size({"width": 390, "height": 844})
    assert tab.evaluate("document.documentElement.scrollWidth") <= 390
    tab.screenshot(path=shots / "training-data-phone.png", full_page=True)
