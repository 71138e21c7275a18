"""Test of the window in a page of another site, in a real browser: localhost and 127.0.0.1 are two sites to it."""

import json
import secrets
import shutil
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import window
from accessibility import find_lasting_violations
from joserfc import jwt
from joserfc.jwk import ECKey
from playwright.sync_api import expect
from serving import Served, argot

PASSWORD = "tilted copper llama 9"
VAULT = "How often is the vault combination rotated?"


class HostSite:
    """A site whose pages show the window, on 127.0.0.1.

    `service`: the address of Argot. `user`: who is signed in at the site; empty: nobody.
    """

    def __init__(self) -> None:
        self.key = ECKey.generate_key("P-256")
        self.service, self.user, self.url = "", "vera", ""

    def make_page(self) -> str:
        script = f'<script src="{self.service}/embed.js" data-token="/argot-token" data-language="de" defer></script>'
        return f"<!doctype html><html lang=en><title>Intranet</title>{script}<body><main><h1>Intranet</h1></main>"

    def make_token(self) -> str:
        now = int(time.time())
        claims = {"iss": "intranet", "aud": "argot", "sub": self.user, "iat": now, "exp": now + 60}
        return jwt.encode({"alg": "ES256"}, {**claims, "jti": secrets.token_hex(16)}, self.key)


@contextmanager
def host_site() -> Iterator[HostSite]:
    made = HostSite()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            wants_token = self.path == "/argot-token"
            body = made.make_token() if wants_token and made.user else made.make_page()
            self.send_response(401 if wants_token and not made.user else 200)
            self.send_header("Content-Type", "text/plain" if wants_token else "text/html; charset=utf-8")
            # As strict as a site may be: no inline style or script, and only what the documentation names.
            policy = f"default-src 'self'; script-src {made.service}; style-src 'self'; frame-src {made.service}"
            self.send_header("Content-Security-Policy", policy)
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, *_: Any) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    made.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    yield made
    server.shutdown()
    thread.join()
    server.server_close()


def open_page(tab: Any, site: HostSite, faults: list[str]) -> Any:
    """Open the site's page and return what is inside the frame."""
    tab.on("console", lambda line: faults.append(line.text) if "Content Security" in line.text else None)
    tab.on("pageerror", lambda error: faults.append(str(error)))
    tab.goto(site.url)
    return tab.frame_locator("iframe")


@pytest.mark.browser
def test_a_page_of_another_site_shows_the_window_and_signs_people_in(
    chromium: Any, tiny_home: Path, tmp_path: Path
) -> None:
    home = Path(shutil.copytree(tiny_home, tmp_path / "kb"))
    argot("user", "add", "vera", "--group", "vault", "--home", home)
    argot("user", "add", "ann", "--password", "--home", home, typed=f"{PASSWORD}\n")
    with host_site() as site, host_site() as stranger:
        (tmp_path / "public.pem").write_bytes(site.key.as_pem(private=False))
        with Served(
            home, ARGOT_EMBED_ORIGINS=site.url, ARGOT_EMBED_TOKEN_KEY=str(tmp_path / "public.pem"),
            ARGOT_EMBED_TOKEN_ISSUER="intranet", ARGOT_LOG_LEVEL="DEBUG",
        ) as server:  # fmt: skip
            site.service = stranger.service = server.url
            context, faults = chromium.new_context(), []
            context.set_default_timeout(window.PATIENCE)
            asked: list[str] = []
            context.on("request", lambda request: asked.append(request.url))
            tab = context.new_page()
            inside = open_page(tab, site, faults)
            opening = tab.get_by_role("button", name="Argot fragen")
            expect(opening).to_have_attribute("aria-expanded", "false")
            ask_in_the_frame(tab, inside, opening)
            leave_by_escape(tab, inside, opening)
            is_remembered(tab, inside)
            sign_in_in_a_window_of_its_own(tab, inside, site)
            assert faults == []
            be_refused_elsewhere(context.new_page(), stranger, server)
            assert not [one for one in asked if "eyJ" in one], "a token is in an address"
            context.close()
        assert "eyJ" not in "".join(server.said)


def ask_in_the_frame(tab: Any, inside: Any, opening: Any) -> None:
    opening.focus()
    tab.keyboard.press("Enter")
    expect(opening).to_have_attribute("aria-expanded", "true")
    field = inside.locator("#chat-input")
    expect(field).to_be_focused()
    expect(inside.locator("html")).to_have_attribute("lang", "de")
    expect(inside.locator("#chat-settings-open-modal")).to_be_visible()
    tab.keyboard.insert_text(VAULT)
    inside.locator("#chat-submit:not([disabled])").click()
    expect(inside.locator(window.FINISHED).locator(".message-content")).to_contain_text("14", use_inner_text=True)
    assert find_lasting_violations(tab) == []
    assert find_lasting_violations(tab.frames[1]) == []


def leave_by_escape(tab: Any, inside: Any, opening: Any) -> None:
    inside.locator("#chat-input").focus()
    tab.keyboard.press("Escape")
    expect(opening).to_have_attribute("aria-expanded", "false")
    expect(opening).to_be_focused()
    expect(tab.locator("iframe")).to_be_hidden()
    opening.click()
    expect(inside.locator(window.FINISHED)).to_be_visible()


def is_remembered(tab: Any, inside: Any) -> None:
    tab.reload()
    expect(inside.locator("#chat-settings-open-modal")).to_be_visible()
    # A page outside the window opens in a tab of its own, where the frame's session counts for nothing.
    with tab.context.expect_page() as opened:
        inside.locator("#header button[role=link]").first.click()
    expect(opened.value).to_have_title("Sign in · Argot")
    opened.value.close()


def sign_in_in_a_window_of_its_own(tab: Any, inside: Any, site: HostSite) -> None:
    site.user = ""
    tab.reload()
    # Nobody is signed in at the site any more, so vera is not in the frame.
    with tab.context.expect_page() as opened:
        expect(inside.get_by_role("button", name="Anmelden")).to_be_visible()
        assert find_lasting_violations(tab.frames[1]) == []
        inside.get_by_role("button", name="Anmelden").click()
    own = opened.value
    with own.expect_event("close"):
        own.locator("#name").fill("ann")
        own.locator("#password").fill(PASSWORD)
        own.locator("form button").click()
    expect(inside.locator("#chat-settings-open-modal")).to_be_visible()


def be_refused_elsewhere(tab: Any, stranger: HostSite, server: Served) -> None:
    said: list[str] = []
    tab.on("console", lambda line: said.append(line.text))
    tab.goto(stranger.url)
    with tab.expect_event("console", lambda line: "frame-ancestors" in line.text):
        tab.get_by_role("button", name="Argot fragen").click()
    assert server.url in json.dumps(said)
    expect(tab.frame_locator("iframe").locator("#argot-embed, #chat-input")).to_have_count(0)
