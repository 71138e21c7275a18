"""Tests of a session that ends during an edit: the input is kept, also in a real browser."""

import re
import shutil
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any

import httpx
import pytest
import serving
import window
from playwright.sync_api import expect

PASSWORD = "tilted copper llama 9"
HOSTILE = '"><script>alert(1)</script>\n  & <b>more</b>'


@pytest.fixture(scope="module")
def served(tiny_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[serving.Served]:
    home = Path(shutil.copytree(tiny_home, tmp_path_factory.mktemp("signed-out") / "kb"))
    done = serving.run("user", "add", "root", "--password", "--role", "admin", "--home", home, typed=f"{PASSWORD}\n")
    assert done.returncode == 0, done.stderr
    with serving.Served(home) as server:
        yield server


@pytest.fixture
def browser(served: serving.Served) -> Iterator[httpx.Client]:
    headers = {"Accept": "text/html", "Origin": served.url}
    with httpx.Client(base_url=served.url, headers=headers, timeout=serving.PATIENCE) as client:
        sign_in(client)
        yield client


def sign_in(client: httpx.Client) -> None:
    assert client.post("/sign-in", data={"name": "root", "password": PASSWORD}).status_code == 303


def fields_of(html: str) -> dict[str, str]:
    found = re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', html)
    return {name: unescape(value) for name, value in found}


def test_a_form_sent_after_signing_out_can_be_sent_again_after_signing_in(browser: httpx.Client) -> None:
    given = {"term": "QQZ", "context": "Legal", "expansion": "quiet quota zone", "description": HOSTILE}
    old = fields_of(browser.get("/glossary/new").text)["csrf"]
    browser.cookies.clear()
    lost = browser.post("/glossary/new", data={**given, "csrf": old})
    assert lost.status_code == 401
    assert "You were signed out" in lost.text and 'action="/glossary/new"' in lost.text
    assert "<script>alert" not in lost.text and "<b>more" not in lost.text
    kept = fields_of(lost.text)
    assert kept == given
    sign_in(browser)
    stale = browser.post("/glossary/new", data=kept)
    assert stale.status_code == 403 and "have signed in again" in stale.text
    again = fields_of(stale.text)
    assert again.pop("csrf") != old
    assert again == given
    assert browser.get("/glossary", params={"q": "QQZ"}).text.count("quiet quota zone") == 0
    done = browser.post("/glossary/new", data=fields_of(stale.text))
    assert done.status_code == 303
    assert HOSTILE in unescape(browser.get(f"{done.headers['location'].partition('?')[0]}/edit").text)


def test_a_form_of_the_workbench_is_shown_again_after_signing_out(browser: httpx.Client) -> None:
    browser.cookies.clear()
    given = {"data": "ours", "recipe.rate": "2e-5", "name": HOSTILE}
    lost = browser.post("/workbench/train/embedder", data={**given, "csrf": "old"})
    assert lost.status_code == 401 and 'action="/workbench/train/embedder"' in lost.text
    assert fields_of(lost.text) == given and "<script>alert" not in lost.text


def test_a_password_is_not_kept_in_a_form_that_is_shown_again(browser: httpx.Client) -> None:
    token = fields_of(browser.get("/people").text)["csrf"]
    browser.cookies.clear()
    lost = browser.post("/people", data={"csrf": token, "name": "ann", "password": PASSWORD, "way": "typed"})
    assert lost.status_code == 401 and PASSWORD not in lost.text and token not in lost.text
    assert fields_of(lost.text) == {"name": "ann", "way": "typed"}
    large = browser.post("/people", data={"name": "a" * 100_000})
    assert large.status_code == 401 and len(large.text) < 5_000
    elsewhere = browser.post("/account/password", data={"old": "my old words"})
    assert elsewhere.status_code == 401 and "my old words" not in elsewhere.text
    asked = browser.post("/glossary/warnings", data={"term": "x"}, headers={"HX-Request": "true"})
    assert asked.status_code == 401 and "HX-Redirect" not in asked.headers
    assert "sign in in another tab" in asked.text


@pytest.mark.browser
def test_a_page_stays_open_when_its_user_is_signed_out_while_typing(chromium: Any, served: serving.Served) -> None:
    with window.visitors(chromium, served.url) as visit:
        tab = visit()
        tab.goto(f"{served.url}/sign-in?next=/glossary/new")
        tab.get_by_label("Name").fill("root")
        tab.get_by_label("Password").fill(PASSWORD)
        tab.get_by_role("button", name="Sign in").click()
        tab.wait_for_url("**/glossary/new")
        tab.wait_for_load_state("load")
        tab.context.clear_cookies()
        tab.get_by_label("Term", exact=True).fill("ZZQ")
        tab.get_by_label("Stands for").fill("zig zag queue")
        expect(tab.get_by_text("You were signed out.")).to_be_visible()
        expect(tab.get_by_label("Stands for")).to_have_value("zig zag queue")
        tab.get_by_role("button", name="Save as draft").click()
        expect(tab.get_by_role("heading", name="You were signed out")).to_be_visible()
        with tab.context.expect_page() as opened:
            tab.get_by_role("link", name="Sign in in another tab").click()
        other = opened.value
        other.get_by_label("Name").fill("root")
        other.get_by_label("Password").fill(PASSWORD)
        other.get_by_role("button", name="Sign in").click()
        expect(other).not_to_have_url(re.compile("sign-in"))
        tab.get_by_role("button", name="Send it again").click()
        expect(tab.get_by_role("heading", name="You have signed in again")).to_be_visible()
        tab.get_by_role("button", name="Send it again").click()
        expect(tab.get_by_text("zig zag queue").first).to_be_visible()
        expect(tab.get_by_text("Saved as a draft")).to_be_visible()
