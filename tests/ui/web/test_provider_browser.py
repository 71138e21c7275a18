"""Test of signing in at a provider in a real browser, and of the chat window afterwards."""

import re
import shutil
from pathlib import Path
from typing import Any

import pytest
import window
from identity_provider import CLIENT, SECRET, Account, identity_provider
from playwright.sync_api import expect
from serving import Served


@pytest.mark.browser
def test_a_person_signs_in_at_the_provider_asks_and_signs_out_there(
    chromium: Any, tiny_home: Path, tmp_path: Path
) -> None:
    home = Path(shutil.copytree(tiny_home, tmp_path / "kb"))
    with identity_provider() as provider:
        provider.people, provider.present = {"zoe": Account(["vault"])}, "zoe"
        settings = {
            "ARGOT_OIDC_ISSUER": provider.url,
            "ARGOT_OIDC_CLIENT_ID": CLIENT,
            "ARGOT_OIDC_CLIENT_SECRET": SECRET,
            "ARGOT_OIDC_LABEL": "the depot",
            "ARGOT_UNKNOWN_PEOPLE": "create",
        }
        with Served(home, **settings) as server:
            context = chromium.new_context()
            context.set_default_timeout(window.PATIENCE)
            tab = context.new_page()
            policy: list[str] = []
            tab.on("console", lambda line: policy.append(line.text) if "Content Security" in line.text else None)
            tab.goto(server.url)
            expect(tab).to_have_title("Sign in · Argot")
            tab.get_by_role("link", name="Sign in with the depot").click()
            window.connected(tab)
            window.ask(tab, "How often is the vault combination rotated?")
            window.answer(tab, "14 days")
            tab.locator("#user-nav-button").click()
            tab.get_by_role("menuitem", name=re.compile("Log ?out|Sign out", re.IGNORECASE)).click()
            # Through the provider, where the session ends too.
            expect(tab.get_by_role("link", name="Sign in with the depot")).to_be_visible()
            assert [given["client_id"] for path, given in provider.asked if path == "/end"] == [CLIENT]

            tab.goto(f"{server.url}/account")
            tab.get_by_role("link", name="Sign in with the depot").click()
            expect(tab).to_have_title("Your account · Argot")
            tab.get_by_role("button", name="Sign out", exact=True).click()
            expect(tab.get_by_role("link", name="Sign in with the depot")).to_be_visible()
            assert sum(path == "/end" for path, _ in provider.asked) == 2
            assert policy == []
            context.close()
        assert SECRET not in "".join(server.said)
