"""Tests of signing in and out: over HTTP with a real server in its own process, and in a real browser."""

import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import serving
import window
from playwright.sync_api import expect
from repository import ROOT

from argot.service.identity.people import People
from argot.sqlite_database import SqliteStores
from argot.ui.pages.account_pages import choose_own_page

GOOD = "tilted copper llama 9"
OTHER = "seven quiet harbours"
PAGE = {"Accept": "text/html"}


def argot(home: Path, *arguments: str, typed: str = "") -> str:
    done = serving.run(*arguments, "--home", home, typed=typed)
    assert done.returncode == 0, done.stderr
    assert GOOD not in done.stdout + done.stderr
    return done.stdout


class Served(serving.Served):
    """A service whose output is kept, to search it for secrets."""

    def browser(self) -> httpx.Client:
        return httpx.Client(base_url=self.url, headers={**PAGE, "Origin": self.url}, timeout=serving.PATIENCE)


@pytest.fixture(scope="module")
def served(tiny_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Provide a service: ann asks, leo manages the context Legal, root is an administrator."""
    home = Path(shutil.copytree(tiny_home, tmp_path_factory.mktemp("signed") / "kb"))
    said = argot(home, "user", "add", "ann", "--password", "--display-name", "Ann Lee", typed=f"{GOOD}\n")
    assert said == "User ann, groups: none, role: asker, signs in: with a password\n"
    said = argot(home, "user", "add", "leo", "--password", "--manages", "Legal", typed=f"{GOOD}\n")
    assert "role: manager of Legal" in said
    argot(home, "user", "add", "root", "--password", "--role", "admin", typed=f"{GOOD}\n")
    with Served(home, ARGOT_LOG_LEVEL="DEBUG") as server:
        yield server
    log = "".join(server.said)
    assert GOOD not in log and OTHER not in log and "argon2" not in log


def sign_in(browser: httpx.Client, name: str = "ann", password: str = GOOD, **more: str) -> httpx.Response:
    return browser.post("/sign-in", data={"name": name, "password": password, **more})


def csrf(browser: httpx.Client) -> str:
    found = re.search(r'name="csrf" value="(\w+)"', browser.get("/account").text)
    assert found
    return found[1]


def test_a_visitor_without_a_session_signs_in_and_returns_to_the_page(served: Served) -> None:
    with served.browser() as browser:
        answer = browser.get("/thread/t1?x=1")
        assert (answer.status_code, answer.headers["location"]) == (303, "/sign-in?next=%2Fthread%2Ft1%3Fx%3D1")
        page = browser.get(answer.headers["location"]).text
        assert 'name="next" value="/thread/t1?x=1"' in page
        answer = sign_in(browser, next="/thread/t1?x=1")
        assert (answer.status_code, answer.headers["location"]) == (303, "/thread/t1?x=1")
        cookie = answer.headers["set-cookie"]
        assert {"HttpOnly", "SameSite=Lax", "Path=/"} <= set(cookie.split("; "))
        assert browser.get("/user").json()["identifier"] == "ann"
        assert browser.get("/user").json()["display_name"] == "Ann Lee"
        assert browser.get("/sign-in?next=/account").headers["location"] == "/account"


def test_chainlits_cookie_is_neither_sent_nor_accepted(served: Served) -> None:
    with served.browser() as browser:
        sign_in(browser)
        answer = browser.post("/set-session-cookie", json={"session_id": "c0ffee00-0000-4000-8000-000000000000"})
        assert answer.status_code == 200 and "set-cookie" not in answer.headers
        assert set(browser.cookies) == {f"argot_{served.port}"}
        browser.cookies.clear()
        browser.cookies.set("argot_inner", "eyJhbGciOiJub25lIn0.eyJpZGVudGlmaWVyIjoicm9vdCJ9.")
        assert browser.get("/user", headers={"Accept": "*/*"}).status_code == 401


@pytest.mark.parametrize(("name", "password"), [("ann", OTHER), ("nobody", GOOD), ("", ""), ("ann", "x" * 1500)])
def test_the_error_does_not_say_whether_name_or_password_is_wrong(served: Served, name: str, password: str) -> None:
    with served.browser() as browser:
        answer = sign_in(browser, name, password)
        assert answer.status_code == 401
        assert "Name or password is wrong." in answer.text
        assert password not in answer.text or not password
        assert "set-cookie" not in answer.headers


def test_input_is_escaped_and_not_repeated_in_errors(served: Served) -> None:
    with served.browser() as browser:
        answer = sign_in(browser, '"><script>alert(1)</script>', OTHER)
        assert "<script>" not in answer.text and "&lt;script&gt;" in answer.text
        long = sign_in(browser, "ann", OTHER * 200)
        assert long.status_code == 422 and OTHER not in long.text
        assert "passwort" not in browser.post("/sign-in", content=b"\xff\x00passwort").text


def test_another_page_cannot_sign_a_person_in_or_out(served: Served) -> None:
    with served.browser() as browser:
        evil = {"Origin": "http://evil.example"}
        assert browser.post("/sign-in", data={"name": "ann", "password": GOOD}, headers=evil).status_code == 403
        sign_in(browser)
        assert browser.post("/logout", headers=evil).status_code == 403
        for path in ("/sign-out", "/account/sign-out-everywhere", "/account/password"):
            assert browser.post(path, data={"csrf": "wrong"}).status_code == 403
        assert browser.get("/user").status_code == 200


@pytest.mark.parametrize("way", ["/logout", "/sign-out", "/account/sign-out-everywhere"])
def test_signing_out_ends_the_session_and_removes_the_cookie(served: Served, way: str) -> None:
    with served.browser() as browser, served.browser() as other:
        sign_in(browser)
        sign_in(other)
        cookie = "; ".join(f"{name}={value}" for name, value in browser.cookies.items())
        answer = browser.post(way, data={"csrf": csrf(browser)})
        assert answer.status_code in (200, 303)
        assert not browser.cookies
        assert browser.get("/user", headers={"Accept": "*/*", "Cookie": cookie}).status_code == 401
        everywhere = way.endswith("everywhere")
        assert other.get("/user", headers={"Accept": "*/*"}).status_code == (401 if everywhere else 200)


def test_every_sign_in_begins_a_new_session(served: Served) -> None:
    with served.browser() as browser:
        sign_in(browser)
        (first,) = browser.cookies.items()
        sign_in(browser)
        assert dict([first]) != dict(browser.cookies)
        with served.browser() as old:
            old.cookies.set(*first)
            assert old.get("/user", headers={"Accept": "*/*"}).status_code == 401


def test_changing_the_password_ends_every_other_session(served: Served) -> None:
    with served.browser() as browser, served.browser() as other:
        sign_in(browser, "leo")
        sign_in(other, "leo")
        wrong = {"csrf": csrf(browser), "old": OTHER, "new": OTHER, "again": OTHER}
        assert "current password is wrong" in browser.post("/account/password", data=wrong).text
        assert "differ" in browser.post("/account/password", data={**wrong, "old": GOOD, "again": "x"}).text
        short = {**wrong, "old": GOOD, "new": "short", "again": "short"}
        assert "10 to 1024 characters" in browser.post("/account/password", data=short).text
        answer = browser.post("/account/password", data={**wrong, "old": GOOD})
        assert answer.headers["location"] == "/account?changed=1"
        assert "Your password is changed" in browser.get(answer.headers["location"]).text
        assert other.get("/user", headers={"Accept": "*/*"}).status_code == 401
        assert sign_in(other, "leo", OTHER).status_code == 303


def test_pages_are_in_the_language_of_the_browser_or_the_chosen_one(served: Served) -> None:
    with served.browser() as browser:
        browser.headers["Accept-Language"] = "de-AT,en;q=0.5"
        assert '<html lang="de">' in browser.get("/sign-in").text
        sign_in(browser)
        kept = browser.post("/account/language", data={"csrf": csrf(browser), "language": "fr"})
        assert "argot-language=fr; Path=/; HttpOnly" in kept.headers["set-cookie"]
        page = browser.get("/account").text
        assert "<h1>Votre compte</h1>" in page and '<option value="fr" lang="fr" selected>' in page
        assert "<h1>Accès refusé</h1>" in browser.get("/people").text
        browser.post("/account/language", data={"csrf": csrf(browser), "language": "<script>"})
        assert "<h1>Ihr Konto</h1>" in browser.get("/account").text


def test_the_chosen_language_is_kept_by_the_account_and_holds_in_another_browser(served: Served) -> None:
    with served.browser() as browser, served.browser() as other:
        sign_in(browser)
        browser.post("/account/language", data={"csrf": csrf(browser), "language": "es"})
        sign_in(other)
        other.headers["Accept-Language"] = "de"
        other.cookies.set("argot-language", "fr")  # of whoever used this browser before
        assert '<html lang="es">' in other.get("/terms").text
        assert other.get("/account/data").json()["people"]["users"][0]["language"] == "es"
        other.post("/account/language", data={"csrf": csrf(other), "language": ""})
        other.cookies.delete("argot-language")
        assert '<html lang="de">' in other.get("/terms").text


def test_the_account_page_shows_the_role_and_the_sessions(served: Served) -> None:
    with served.browser() as browser:
        sign_in(browser, "root")
        page = browser.get("/account").text
        assert "admin" in page and "127.0.0.1" in page


def test_the_command_line_manages_users_beside_the_service(served: Served) -> None:
    with served.browser() as browser:
        sign_in(browser, "root")
        assert "127.0.0.1" in argot(served.home, "user", "sessions", "root")
        assert "signed out of" in argot(served.home, "user", "sessions", "root", "--end")
        assert browser.get("/user", headers={"Accept": "*/*"}).status_code == 401
        said = argot(served.home, "user", "roles", "root", "--manages", "NAND", "--manages", "Legal")
        assert "role: manager of Legal, NAND" in said
        assert "role: admin" in argot(served.home, "user", "roles", "root", "--role", "admin")
        listed = argot(served.home, "user", "list")
        assert "ann\tAnn Lee\t\tasker\t\twith a password" in listed


def test_a_suspended_person_is_signed_out_at_once_and_told(served: Served) -> None:
    argot(served.home, "user", "add", "eve", "--password", typed=f"{GOOD}\n")
    with served.browser() as browser:
        sign_in(browser, "eve")
        assert browser.get("/user").status_code == 200
        argot(served.home, "user", "suspend", "eve")
        assert browser.get("/user", headers={"Accept": "*/*"}).status_code == 401
        answer = sign_in(browser, "eve")
        assert answer.status_code == 403 and "suspended" in answer.text
        argot(served.home, "user", "restore", "eve")
        assert sign_in(browser, "eve").status_code == 303


def test_a_user_with_an_unknown_context_or_weak_password_is_not_added(served: Served) -> None:
    for more, said in ((["--manages", "Nonsense"], "Contexts: Legal, NAND"), (["--password"], "10 to 1024")):
        done = serving.run("user", "add", "zoe", *more, "--home", served.home, typed="short\n")
        assert done.returncode == 1
        assert all(word in done.stderr for word in said.split(", ")), done.stderr
    assert "zoe" not in argot(served.home, "user", "list")  # nothing was stored


@pytest.mark.parametrize(
    "address",
    ["//evil.example", "https://evil.example", "/\\evil.example", "javascript:alert(1)", "evil.example", "", "/sign-in",
     "/\t/evil.example", "///evil.example", "/\n/evil.example", "\\\\evil.example", "/sign-in?next=/x"],
)  # fmt: skip
def test_foreign_addresses_are_not_followed_after_signing_in(address: str) -> None:
    assert choose_own_page(address) == "/"


@pytest.mark.parametrize("address", ["/", "/account", "/thread/t1?x=1", "/glossary/C%2B%2B"])
def test_own_addresses_are_followed_after_signing_in(address: str) -> None:
    assert choose_own_page(address) == address


# -- in a browser ----------------------------------------------------------------------------------------------------


@pytest.fixture
def tab(chromium: Any, served: Served) -> Iterator[Any]:
    """Provide a page of a new visitor on a phone."""
    with window.visitors(chromium, served.url) as visit:
        yield visit(viewport={"width": 390, "height": 780})


@pytest.mark.browser
def test_a_person_signs_in_asks_signs_out_and_is_suspended(tab: Any, served: Served) -> None:
    tab.goto(served.url)
    expect(tab).to_have_title("Sign in · Argot")
    expect(tab.locator("#name")).to_be_focused()  # by keyboard only
    assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth")
    tab.keyboard.type("ann")
    tab.keyboard.press("Tab")
    tab.keyboard.type(OTHER)
    tab.keyboard.press("Enter")
    expect(tab.locator("[role=alert]", has_text="Name or password is wrong")).to_be_visible()
    expect(tab.locator("#name")).to_have_value("ann")
    expect(tab.locator("#password")).to_be_focused()
    tab.keyboard.type(GOOD)
    tab.keyboard.press("Enter")
    window.connected(tab)
    window.ask(tab, "What is the WL voltage during a read?")
    window.answer(tab, "4.5 V")
    tab.locator("#user-nav-button").click()
    expect(tab.get_by_text("Ann Lee")).to_be_visible()
    tab.get_by_role("menuitem", name=re.compile("Log ?out|Sign out", re.IGNORECASE)).click()
    expect(tab.locator("#password")).to_be_visible()  # the sign-in page
    expect(tab).to_have_url(re.compile(f"^{served.url}/sign-in"))

    window.sign_in(tab, "ann", GOOD)
    window.connected(tab)
    argot(served.home, "user", "suspend", "ann")
    try:
        # The connection of the open window is closed, and its next request leads to the sign-in page.
        assert _people(served.home, "ann") == 0
        tab.reload()
        window.sign_in(tab, "ann", GOOD)
        expect(tab.locator("[role=alert]", has_text="suspended")).to_be_visible()
    finally:
        argot(served.home, "user", "restore", "ann")


@pytest.mark.browser
def test_keys_for_programs_are_created_shown_once_and_revoked(chromium: Any, served: Served) -> None:
    def given(key: str) -> int:
        with httpx.Client(base_url=served.url, timeout=serving.PATIENCE) as program:
            return program.get("/v1/models", headers={"Authorization": f"Bearer {key}"}).status_code

    with window.visitors(chromium, served.url) as visit:
        tab = visit()
        tab.goto(f"{served.url}/account")
        window.sign_in(tab, "root", GOOD)
        tab.get_by_label("What will use it").fill("<b>night job</b>")
        tab.get_by_label("Your own password").fill(GOOD)
        tab.get_by_role("button", name="Make a key").click()
        expect(tab.get_by_text("shown this once")).to_be_visible()
        key = tab.locator("code.new-key").inner_text()
        assert given(key) == 200

        revoke = tab.get_by_role("button", name="Revoke the key <b>night job</b>")
        tab.goto(f"{served.url}/account")
        expect(revoke).to_be_visible()
        expect(tab.locator("#keys ~ ul li", has_text="<b>night job</b>")).to_contain_text("last used")
        assert key not in tab.content()
        revoke.click()
        expect(revoke).to_have_count(0)
        expect(tab.get_by_role("button", name="Make a key")).to_be_visible()
        assert given(key) == 401


@pytest.mark.browser
def test_a_suspension_stops_the_answer_being_written(
    chromium: Any, tiny_home: Path, tmp_path: Path, scripted_model: Any
) -> None:
    home = Path(shutil.copytree(tiny_home, tmp_path / "kb"))
    people = People(SqliteStores(home))
    people.add("ann")
    people.set_password("ann", GOOD)
    people.close()
    scripted_model.reply("cited_answer", " ".join(f"word{number}" for number in range(400)))
    scripted_model.fault("pause", prompt="cited_answer", tokens=10)
    patient = {"ARGOT_MODEL_FIRST_TOKEN_SECONDS": "600", "ARGOT_MODEL_SECONDS": "3600"}
    with (
        Served(home, ARGOT_MODEL_URL=scripted_model.url, **patient) as server,
        window.visitors(chromium, server.url) as visit,
    ):
        page = visit()
        page.goto(server.url)
        window.sign_in(page, "ann", GOOD)
        window.connected(page)
        window.ask(page, "What is the Word Line voltage during a read?")
        expect(page.locator(window.MESSAGE, has_text="word3").last).to_be_visible()
        argot(home, "user", "suspend", "ann")
        assert scripted_model.wait_until(lambda: scripted_model.asked("cited_answer")[0].gone)


@pytest.mark.browser
@pytest.mark.skipif(not os.environ.get("ARGOT_SCREENSHOTS"), reason="writes docs/screenshots: ARGOT_SCREENSHOTS=1")
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_screenshots_of_the_sign_in_page(chromium: Any, served: Served, scheme: str) -> None:
    page = chromium.new_page(viewport={"width": 720, "height": 560}, color_scheme=scheme)
    page.goto(served.url)
    page.screenshot(path=ROOT / "docs" / "screenshots" / f"sign-in-{scheme}.png")
    page.close()


def _people(home: Path, name: str) -> int:
    people = People(SqliteStores(home))
    try:
        return len(people.sessions.of(name))
    finally:
        people.close()
