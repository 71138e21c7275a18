"""Tests of signing in at an OpenID Connect provider: the real application against a real provider, and attacks."""

import base64
import json
import re
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, parse_qsl, quote, urlsplit

import httpx
import pytest
from api_site import URL, VAULT, Site, with_readers
from forged_tokens import make_unsigned_token, sign_with_public_key
from identity_provider import CLIENT, Account, IdentityProvider, identity_provider
from joserfc import jwt
from joserfc.jwk import RSAKey

from argot.clock import utc_now
from argot.errors import Conflict, InvalidInput, InvalidSettings, NotAllowed
from argot.service.identity.people import make_local_principal
from argot.service.json_values import convert_to_json
from argot.service.knowledge_base import KnowledgeBase
from argot.service.sign_in.openid_connect import OpenIdProvider
from argot.service.sign_in.provider_sign_in import BEGUN_SECONDS, confirm_due
from argot.service.usecases.people.users import user_link, user_unlink
from argot.service.usecases.questions.questions import ask
from argot.service.usecases.questions.threads import thread_read
from argot.service.usecases.usecase_registry import get_answer
from argot.settings import Settings
from argot.ui.server import require_consistent

GOOD = "tilted copper llama 9"
PAGE = {"Accept": "text/html"}


@pytest.fixture
def provider() -> Iterator[IdentityProvider]:
    with identity_provider() as made:
        made.people = {
            "zoe": Account(["vault"]),
            "root": Account(["admins"]),
            "eve": Account(),
        }
        yield made


class Door:
    """A service whose users sign in at the provider."""

    def __init__(self, site: Site, provider: IdentityProvider) -> None:
        self.site, self.kb, self.provider = site, site.kb, provider

    @asynccontextmanager
    async def browser(self) -> AsyncIterator[httpx.AsyncClient]:
        transport = httpx.ASGITransport(self.site.guard, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url=URL, headers={**PAGE, "Origin": URL}) as client:
            yield client

    async def enter(self, browser: httpx.AsyncClient, user: str, next: str = "/account") -> httpx.Response:
        begun = await browser.get(f"/sign-in/provider?next={quote(next, safe='')}")
        assert begun.status_code == 303, begun.text
        return await browser.get(self.provider.enter(begun.headers["location"], user))

    async def asked_again(self, minutes: float = 60) -> None:
        """Confirm all accounts at the provider, as the service does at its interval, so many minutes later."""
        await confirm_due(self.kb, OpenIdProvider(self.kb.settings), utc_now() + timedelta(minutes=minutes))


@pytest.fixture
async def opened(tiny_home: Path, tmp_path: Path) -> AsyncIterator[Any]:
    home = with_readers(tiny_home, tmp_path)
    async with AsyncExitStack() as stack:

        async def open_door(provider: IdentityProvider, **more: Any) -> Door:
            settings = Settings(home=home, **provider.settings(**more))
            require_consistent(settings, signing_in=True)
            kb = await stack.enter_async_context(KnowledgeBase.open(home, settings))
            return Door(Site(kb), provider)

        yield open_door


@pytest.fixture
async def door(opened: Any, provider: IdentityProvider) -> Door:
    made: Door = await opened(provider)
    return made


def refused(answer: httpx.Response, words: str) -> None:
    assert answer.status_code == 403, answer.text
    text = re.sub(r"&#39;", "'", answer.text)
    assert words in text, text
    assert not any(line.startswith("argot_8123=") for line in answer.headers.get_list("set-cookie"))


# -- in and out -------------------------------------------------------------------------------------------------------


async def test_a_person_signs_in_at_the_provider_and_reaches_the_wanted_page(door: Door) -> None:
    async with door.browser() as browser:
        away = await browser.get("/account?x=1")
        page = await browser.get(away.headers["location"])
        button = re.search(r'<a class="button" href="([^"]+)">Sign in with your organisation', page.text)
        assert button
        begun = await browser.get(button[1])
        scopes = parse_qs(urlsplit(begun.headers["location"]).query)["scope"]
        assert scopes == ["openid profile email offline_access"]
        back = await browser.get(door.provider.enter(begun.headers["location"], "zoe"))
        assert (back.status_code, back.headers["location"]) == (303, "/account?x=1")
        account = (await browser.get("/account")).text
        assert "Zoe" in account and "vault" in account and "Change your password" not in account
        assert (await browser.get("/api/documents")).status_code == 200
        assert not browser.cookies.get("argot_8123_in")
    zoe = door.kb.people.user("zoe")
    assert (zoe.groups, zoe.role, zoe.linked, zoe.has_password) == (("vault",), "asker", True, False)


async def test_a_person_signs_out_here_and_at_the_provider(door: Door) -> None:
    async with door.browser() as browser:
        for way in ("/logout", "/sign-out"):
            await door.enter(browser, "zoe")
            csrf = re.search(r'name="csrf" value="(\w+)"', (await browser.get("/account")).text)
            assert csrf
            cookie = browser.cookies["argot_8123"]
            await browser.post(way, data={"csrf": csrf[1]})
            assert door.kb.people.sessions.find(cookie) is None
            page = await browser.get("/sign-in")
            out = re.search(r'content="0;url=([^"]+)"', page.text)
            assert out
            said = dict(parse_qsl(urlsplit(out[1].replace("&amp;", "&")).query))
            assert out[1].startswith(f"{door.provider.url}/end?")
            assert (said["client_id"], said["post_logout_redirect_uri"]) == (CLIENT, f"{URL}/sign-in")
            assert json.loads(base64.urlsafe_b64decode(said["id_token_hint"].split(".")[1] + "==="))["sub"] == "sub-zoe"
            assert 'class="button"' in (await browser.get("/sign-in")).text  # they are signed out once only


async def test_an_account_is_identified_by_its_subject_not_its_name(door: Door, provider: IdentityProvider) -> None:
    async with door.browser() as browser:
        await door.enter(browser, "zoe")
    provider.people["zoe"].claims = {"preferred_username": "root2"}
    async with door.browser() as browser:
        await door.enter(browser, "zoe")
        assert "zoe" in (await browser.get("/account")).text
    assert door.kb.people.find("root2") is None


async def test_a_new_key_of_the_provider_is_accepted_and_an_old_one_refused(
    door: Door, provider: IdentityProvider
) -> None:
    async with door.browser() as browser:
        assert (await door.enter(browser, "zoe")).status_code == 303
        old = provider.keys[0]
        provider.rotate()
        assert (await door.enter(browser, "zoe")).status_code == 303
        provider.tamper = lambda claims: jwt.encode({"alg": "RS256", "kid": old.kid}, claims, old)
        refused(await door.enter(browser, "zoe"), "token is not valid")


async def test_clocks_two_minutes_apart_are_accepted(door: Door) -> None:
    async with door.browser() as browser:
        for minutes in (-2, 2):
            door.provider.skew = 60 * minutes
            assert (await door.enter(browser, "zoe")).status_code == 303


# -- attacks and faults -----------------------------------------------------------------------------------------------


async def test_clocks_ten_minutes_apart_are_refused(door: Door) -> None:
    async with door.browser() as browser:
        for minutes in (-10, 10):
            door.provider.skew = 60 * minutes
            refused(await door.enter(browser, "zoe"), "clock")
        door.provider.skew = 0
        # An old token with a long lifetime is refused too.
        door.provider.lie = lambda claims: claims.update(iat=claims["iat"] - 900, exp=claims["exp"] + 9000)
        refused(await door.enter(browser, "zoe"), "clock")


LIES: list[dict[str, Any]] = [
    {"nonce": "another"}, {"nonce": None}, {"aud": "another"}, {"aud": ["another", CLIENT], "azp": "another"},
    {"aud": [CLIENT, "another"]}, {"iss": "https://evil.example"}, {"sub": None}, {"sub": ""}, {"sub": 7},
    {"exp": "soon"}, {"exp": None}, {"iat": None}, {"iat": "x"}, {"at_hash": "AAAA"},
]  # fmt: skip


async def test_a_token_with_a_wrong_claim_is_refused(door: Door) -> None:
    async with door.browser() as browser:
        for lie in LIES:

            def lying(claims: dict[str, Any], lie: dict[str, Any] = lie) -> None:
                claims |= lie
                for name in [name for name, value in lie.items() if value is None]:
                    del claims[name]

            door.provider.lie = lying
            refused(await door.enter(browser, "zoe"), "The provider's token")
    assert door.kb.people.find("zoe") is None


async def test_a_token_that_the_provider_did_not_sign_is_refused(door: Door) -> None:
    key, stranger = door.provider.keys[0], RSAKey.generate_key(2048)
    forgers: list[Callable[[dict[str, Any]], str]] = [
        make_unsigned_token,
        lambda claims: sign_with_public_key(claims, key),
        lambda claims: jwt.encode({"alg": "RS256", "kid": "unknown"}, claims, stranger),
        lambda claims: jwt.encode({"alg": "RS256", "kid": key.kid}, claims, stranger),
        lambda claims: jwt.encode({"alg": "RS256", "jwk": stranger.as_dict(private=False)}, claims, stranger),
        lambda claims: "a.b.c",
        lambda claims: "",
    ]
    async with door.browser() as browser:
        for forger in forgers:
            door.provider.tamper = forger
            refused(await door.enter(browser, "zoe"), "The provider's token")
    assert door.kb.people.find("zoe") is None


async def test_a_sign_in_is_completed_once_and_in_the_same_browser(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    async with door.browser() as browser, door.browser() as other:
        begun = await browser.get("/sign-in/provider")
        back = door.provider.enter(begun.headers["location"], "zoe")
        cookie = browser.cookies["argot_8123_in"]
        # Another person's browser: a planted code would sign that person in as the attacker.
        refused(await other.get(back), "started too long ago or in another browser")
        await other.get("/sign-in/provider")
        refused(await other.get(back), "in another browser")
        assert (await browser.get(back)).status_code == 303
        refused(await browser.get(back), "was used already")
        refused(await browser.get(back, headers={"Cookie": f"argot_8123_in={cookie}"}), "was used already")
        begun = await browser.get("/sign-in/provider")
        state = parse_qs(urlsplit(begun.headers["location"]).query)["state"][0]
        refused(await browser.get(f"/sign-in/provider/return?code=x&state={state}x"), "was used already")
        begun = await browser.get("/sign-in/provider")
        state = parse_qs(urlsplit(begun.headers["location"]).query)["state"][0]
        replayed = await browser.get(f"/sign-in/provider/return?code=replayed&state={state}")
        refused(replayed, "no longer accepts this sign-in")
        begun = await browser.get("/sign-in/provider")
        now = time.time()
        monkeypatch.setattr("argot.service.sign_in.provider_sign_in.time.time", lambda: now + BEGUN_SECONDS + 9)
        refused(await browser.get(door.provider.enter(begun.headers["location"], "zoe")), "started too long ago")


async def test_a_forged_sign_in_cookie_is_refused(door: Door) -> None:
    async with door.browser() as browser:
        for ticket in ["", "~", "x", "a.b.c~%2F", "..~", "a.é.c", "a.9.~//evil.example"]:
            headers = {"Cookie": f"argot_8123_in={ticket}".encode()}
            answer = await browser.get("/sign-in/provider/return?code=x&state=é", headers=headers)  # type: ignore[arg-type]
            refused(answer, "Sign in again")


async def test_signing_in_never_redirects_to_another_site(door: Door) -> None:
    async with door.browser() as browser:
        for next in ("//evil.example", "https://evil.example", "/\\evil.example", "/sign-in/provider", "javascript:x"):
            assert (await door.enter(browser, "zoe", next)).headers["location"] == "/"
            await browser.post("/logout")


async def test_a_cancelled_sign_in_is_reported_without_text_from_the_address(door: Door) -> None:
    async with door.browser() as browser:
        answer = await browser.get("/sign-in/provider/return?error=<script>alert(1)</script>&error_description=You+won")
        refused(answer, "The provider did not sign you in")
        assert "<script>" not in answer.text and "You won" not in answer.text


async def test_passwords_work_while_the_provider_is_down(door: Door) -> None:
    door.kb.people.set_password("ann", GOOD)
    async with door.browser() as browser:
        begun = await browser.get("/sign-in/provider")
        back = door.provider.enter(begun.headers["location"], "zoe")
        door.provider.down = True
        answer = await browser.get(back)
        assert answer.status_code == 503 and "does not work at the moment" in answer.text
        assert 'name="password"' in answer.text
        assert (await browser.post("/sign-in", data={"name": "ann", "password": GOOD})).status_code == 303
        assert "<dd>ann</dd>" in (await browser.get("/account")).text


async def test_an_unreachable_provider_is_reported_at_once(opened: Any, provider: IdentityProvider) -> None:
    provider.down = True
    door = await opened(provider)
    async with door.browser() as browser:
        for _ in range(3):
            answer = await browser.get("/sign-in/provider?next=/thread/t1")
            assert answer.status_code == 503 and "/thread/t1" in answer.text.replace("%2F", "/")
    assert len(provider.asked) == 1  # the provider is not tried for every visitor


async def test_a_provider_with_wrong_metadata_is_not_used(opened: Any, provider: IdentityProvider) -> None:
    door, own = await opened(provider), dict(provider.published)
    wrong = {
        "calls itself": {"issuer": "https://evil.example"},
        "jwks_uri": {"jwks_uri": None},
        "token": {"token_endpoint": 7},
    }
    async with door.browser() as browser:
        for words, published in wrong.items():
            provider.published = {**own, **published}
            answer = await browser.get("/sign-in/provider")
            assert answer.status_code == 503 and words in answer.text


# -- identities -------------------------------------------------------------------------------------------------------


async def test_a_provider_account_does_not_take_over_a_user_of_the_same_name(door: Door) -> None:
    people = door.kb.people
    people.add("root")
    people.set_role("root", "admin")
    people.set_password("root", GOOD)
    async with door.browser() as browser:
        for name in ("root", "Root", " ROOT "):
            door.provider.people["mallory"] = Account(["admins"], {"preferred_username": name})
            refused(await door.enter(browser, "mallory"), "argot user link root --subject sub-mallory")
        assert (await browser.get("/account")).status_code == 303
    assert people.user("root").has_password and not people.user("root").linked
    assert [one.name for one in people.users()] == ["ann", "root", "vera"]
    # An administrator confirms that it is the same person. From then on the password is not accepted.
    people.link("root", door.provider.url, "sub-mallory")
    async with door.browser() as browser:
        assert (await door.enter(browser, "mallory")).status_code == 303
        assert "admin" in (await browser.get("/account")).text
        assert (await browser.post("/sign-in", data={"name": "root", "password": GOOD})).status_code == 401
    with pytest.raises(InvalidInput, match="argot user unlink root"):
        people.set_password("root", GOOD)


async def test_an_administrator_may_admit_the_next_account_of_a_name(opened: Any, provider: IdentityProvider) -> None:
    door = await opened(provider, unknown_people="refuse")
    async with door.browser() as browser:
        refused(await door.enter(browser, "zoe"), "argot user link NAME --subject sub-zoe")
        door.kb.people.add("zoe", ("hr",))
        refused(await door.enter(browser, "zoe"), "not linked")
        door.kb.people.link("zoe", provider.url)
        assert (await door.enter(browser, "zoe")).status_code == 303
        assert door.kb.people.user("zoe").groups == ("hr", "vault")
        # The permission is used up: another account of that name is refused.
        provider.people["eve"].claims = {"preferred_username": "zoe"}
        refused(await door.enter(browser, "eve"), "not linked")


async def test_an_invalid_name_from_the_provider_is_refused(door: Door) -> None:
    async with door.browser() as browser:
        for name in ("local", "@ann", "", None, 7, "a" * 65, "x\x00y", "a,b"):
            door.provider.people["eve"].claims = {"preferred_username": name}
            answer = await door.enter(browser, "eve")
            assert answer.status_code == 403 and 'role="alert"' in answer.text
    assert len(door.kb.people.users()) == 2


async def test_an_unverified_mail_address_is_not_taken_as_a_name(opened: Any, provider: IdentityProvider) -> None:
    door = await opened(provider, oidc_name_claim="email")
    provider.people["eve"].claims = {"email": "boss@example.com", "email_verified": False}
    async with door.browser() as browser:
        refused(await door.enter(browser, "eve"), "does not give your name")
        provider.people["eve"].claims["email_verified"] = True
        assert (await door.enter(browser, "eve")).status_code == 303


async def test_a_suspended_user_cannot_sign_in_at_the_provider(door: Door) -> None:
    async with door.browser() as browser:
        await door.enter(browser, "zoe")
        door.kb.people.suspend("zoe")
        refused(await door.enter(browser, "zoe"), "suspended")


# -- groups -----------------------------------------------------------------------------------------------------------


async def test_any_groups_claim_is_handled(door: Door) -> None:
    odd = ["vault", 7, None, {"x": 1}, "", "@root", "a/b", "x" * 65, "managers", "/hr"]
    many = [f"g{n}" for n in range(5000)]
    cases: list[tuple[Any, list[str]]] = [
        (None, []), ([], []), ("vault", ["vault"]), ({"vault": True}, []), (7, []), (odd, ["hr", "vault"]),
        ([f"g{n}" for n in range(10_001)], []), ([*many, "vault"], sorted([*many, "vault"])),
    ]  # fmt: skip
    async with door.browser() as browser:
        for given, here in cases:
            door.provider.people["zoe"].groups = given
            assert (await door.enter(browser, "zoe")).status_code == 303
            zoe = door.kb.people.user("zoe")
            assert (zoe.groups, zoe.role) == (tuple(here), "asker")
        assert (await browser.get("/account")).status_code == 200
    # Questions are answered even with 5,001 groups.
    result = await get_answer(ask(door.kb, zoe.principal, question=VAULT))
    assert result.cited_passages


async def test_groups_are_mapped_and_one_of_them_makes_administrators(opened: Any, provider: IdentityProvider) -> None:
    door = await opened(provider, oidc_groups="3f-2a=vault, cn=bosses=managers", oidc_admin_group="admins")
    provider.people["zoe"].groups = ["3f-2a", "cn=bosses"]
    async with door.browser() as browser:
        await door.enter(browser, "zoe")
        assert (door.kb.people.user("zoe").groups, door.kb.people.user("zoe").role) == (
            ("managers", "vault"),
            "manager",
        )
        await door.enter(browser, "root")
        assert door.kb.people.user("root").role == "admin"
        provider.people["root"].groups = []
        await door.asked_again()
        assert door.kb.people.user("root").role == "asker"


async def test_groups_found_only_in_userinfo_count(door: Door) -> None:
    door.provider.groups_in_token = False
    async with door.browser() as browser:
        await door.enter(browser, "zoe")
    assert door.kb.people.user("zoe").groups == ("vault",)


async def test_a_lost_group_ends_access_in_open_threads_and_by_keys(door: Door) -> None:
    kb = door.kb
    async with door.browser() as browser:
        await door.enter(browser, "zoe")
        # The group was also given here; the provider's word ends it all the same.
        kb.people.add("zoe", ("vault",))
        key = kb.people.keys.make("zoe", "night job")[1]
        first = await get_answer(ask(kb, kb.principal("zoe"), question=VAULT))
        read = await thread_read(kb, kb.principal("zoe"), thread=first.thread)
        assert first.cited_passages and "14 days" in json.dumps(convert_to_json(read))
        by_key = {"Authorization": f"Bearer {key}"}
        before = await browser.post("/api/ask", json={"question": VAULT}, headers=by_key)
        assert "14 days" in before.text

        door.provider.people["zoe"].groups = []
        await door.asked_again(5)  # not yet: the default interval is ten minutes
        assert kb.people.user("zoe").groups == ("vault",)
        await door.asked_again(11)
        assert kb.people.user("zoe").groups == ()
        again = await get_answer(ask(kb, kb.principal("zoe"), question=VAULT, thread=first.thread))
        assert not again.cited_passages
        read = await thread_read(kb, kb.principal("zoe"), thread=first.thread)
        assert "14 days" not in json.dumps(convert_to_json(read))
        after = await browser.post("/api/ask", json={"question": VAULT}, headers=by_key)
        assert after.status_code == 200 and "14 days" not in after.text
        assert (await browser.get("/account")).status_code == 200  # zoe is still signed in


async def test_groups_are_updated_at_each_sign_in(door: Door) -> None:
    door.kb.people.add("zoe", ("kept",))
    door.kb.people.link("zoe", door.provider.url, "sub-zoe")
    async with door.browser() as browser:
        for groups in (["vault", "hr"], ["legal"], []):
            door.provider.people["zoe"].groups = groups
            await door.enter(browser, "zoe")
            assert door.kb.people.user("zoe").groups == tuple(sorted([*groups, "kept"]))


async def test_a_user_disabled_at_the_provider_loses_access_permanently(door: Door) -> None:
    kb, people = door.kb, door.kb.people
    async with door.browser() as browser:
        await door.enter(browser, "zoe")
        headers = {"Authorization": f"Bearer {people.keys.make('zoe', 'night job')[1]}"}
        assert (await browser.get("/api/documents", headers=headers)).status_code == 200
        ended: list[Any] = []
        people.watchers.append(ended.append)
        door.provider.people["zoe"].disabled = True
        await door.asked_again()
        assert any(one.user == "zoe" and one.sessions is None for one in ended)  # open windows are disconnected
        assert (await browser.get("/account")).status_code == 303
        lapsed = await browser.get("/api/documents", headers=headers)
        assert lapsed.status_code == 401 and "sign in again" in lapsed.text
        with pytest.raises(NotAllowed, match="sign in again"):
            kb.principal("zoe")
        refused(await door.enter(browser, "zoe"), "The provider did not sign you in")
        people.unlink("zoe")
        assert (await browser.get("/api/documents", headers=headers)).status_code == 401
        # Enabled at the provider and linked again, zoe has the same access, but needs a new key.
        door.provider.people["zoe"].disabled = False
        people.link("zoe", door.provider.url, "sub-zoe")
        assert (await door.enter(browser, "zoe")).status_code == 303
        assert people.user("zoe").groups == ("vault",)


async def test_a_session_ends_if_the_provider_stays_unreachable(door: Door) -> None:
    async with door.browser() as browser:
        await door.enter(browser, "zoe")
        door.provider.down = True
        await door.asked_again(60)
        assert (await browser.get("/account")).status_code == 200
        await door.asked_again(12 * 60 + 1)
        assert (await browser.get("/account")).status_code == 303
        door.provider.down = False
        assert (await door.enter(browser, "zoe")).status_code == 303
        assert door.kb.people.user("zoe").groups == ("vault",)


async def test_without_a_refresh_token_people_must_sign_in_again(door: Door) -> None:
    door.provider.refreshes = False
    async with door.browser() as browser:
        await door.enter(browser, "zoe")
        await door.asked_again(11 * 60)
        assert (await browser.get("/account")).status_code == 200
        await door.asked_again(13 * 60)
        assert (await browser.get("/account")).status_code == 303


async def test_a_provider_that_refreshes_with_consent_alone_is_asked_for_consent(
    opened: Any, provider: IdentityProvider, caplog: pytest.LogCaptureFixture
) -> None:
    provider.refreshes_with_consent_alone = True
    for prompt, is_refreshed in (("", False), ("consent", True)):
        caplog.clear()
        door = await opened(provider, oidc_prompt=prompt)
        async with door.browser() as browser:
            await door.enter(browser, "zoe")
        link = door.kb.people.links.of("zoe")
        assert link is not None and (link.refresh_token is not None) == is_refreshed
        assert ("set 'oidc_prompt' to consent" in caplog.text) != is_refreshed
        await door.kb.close()


async def test_a_refresh_for_another_subject_is_ignored_and_ends_the_session(door: Door) -> None:
    async with door.browser() as browser:
        await door.enter(browser, "zoe")
        door.provider.lie = lambda claims: claims.update(sub="sub-root", groups=["admins"])
        await door.asked_again()
        assert "admins" not in door.kb.people.user("zoe").groups
        assert (await browser.get("/account")).status_code == 303


async def test_a_refresh_with_a_wrong_clock_does_not_end_the_session_at_once(door: Door) -> None:
    async with door.browser() as browser:
        await door.enter(browser, "zoe")
        door.provider.skew = -900
        await door.asked_again()
        assert (await browser.get("/account")).status_code == 200
        assert door.kb.people.user("zoe").groups == ("vault",)


async def test_exported_personal_data_contain_no_tokens(door: Door) -> None:
    async with door.browser() as browser:
        await door.enter(browser, "zoe")
        data = (await browser.get("/account/data")).json()
        assert data["people"]["provider_links"][0]["subject"] == "sub-zoe"
        assert "refresh_token" not in data["people"]["provider_links"][0]
    assert door.kb.people.erase(["zoe"]) and door.kb.people.links.find(door.provider.url, "sub-zoe") is None


async def test_administrators_link_and_unlink_accounts(door: Door, provider: IdentityProvider) -> None:
    kb, admin = door.kb, make_local_principal()
    kb.people.set_password("ann", GOOD)
    token = kb.people.sessions.begin("ann")
    linked = await user_link(kb, admin, name="ann", subject=" sub-zoe ")
    assert (linked.linked, linked.has_password) == (True, False)
    assert kb.people.sessions.find(token) is None
    with pytest.raises(Conflict, match="linked with ann"):
        await user_link(kb, admin, name="vera", subject="sub-zoe")
    with pytest.raises(NotAllowed):
        await user_link(kb, kb.people.principal("vera"), name="vera", subject="sub-vera")
    assert not (await user_unlink(kb, admin, name="ann")).linked
    assert not (await user_unlink(kb, admin, name="vera")).linked


# -- a proxy that names groups ----------------------------------------------------------------------------------------


async def test_a_proxy_names_the_groups_at_each_request(tiny_home: Path, tmp_path: Path) -> None:
    home = with_readers(tiny_home, tmp_path)
    settings = Settings(
        home=home,
        sign_in_header="X-User",
        sign_in_groups_header="X-Groups",
        trusted_proxies="127.0.0.1",
        oidc_groups="cn=hr=hr",
    )
    require_consistent(settings, signing_in=True)
    async with KnowledgeBase.open(home, settings) as kb:
        site = Site(kb)
        transport = httpx.ASGITransport(site.guard, client=("127.0.0.1", 1))
        async with httpx.AsyncClient(transport=transport, base_url=URL, headers=PAGE) as client:

            async def groups(*named: str, user: str = "ann") -> tuple[str, ...]:
                headers = [("X-User", user), *(("X-Groups", one) for one in named)]
                assert (await client.get("/account", headers=headers)).status_code == 200
                return kb.people.user(user).groups

            assert await groups("vault, cn=hr,managers,@root,") == ("hr", "vault")
            assert kb.principal("ann").groups == {"hr", "vault"}
            assert await groups("vault") == ("vault",)
            assert await groups("vault", "hr") == ()  # it is unclear which of the two the proxy set
            assert await groups("vault") == ("vault",)
            assert await groups() == ()
            assert await groups("legal", user="vera") == ("legal", "vault")  # vault was given here
            assert await groups("vault", user="vera") == ("vault",)
            assert await groups(user="vera") == ()
        stranger = httpx.ASGITransport(site.guard, client=("192.0.2.7", 1))
        async with httpx.AsyncClient(transport=stranger, base_url=URL, headers=PAGE) as client:
            answer = await client.get("/account", headers={"X-User": "ann", "X-Groups": "vault"})
            assert answer.status_code == 303 and kb.people.user("ann").groups == ()


def test_a_groups_header_without_a_user_header_is_refused() -> None:
    with pytest.raises(InvalidSettings, match="sign_in_header"):
        require_consistent(Settings(sign_in_groups_header="X-Groups"), signing_in=True)


# -- settings ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"oidc_client_id": ""}, "'oidc_client_id' is missing"),
        ({"oidc_client_secret": ""}, "'oidc_client_secret' is missing"),
        ({"oidc_issuer": "http://login.example.com"}, "https"),
        ({"oidc_groups": "hr"}, "THEIRS=OURS"),
        ({"oidc_groups": "x=@ann"}, "cannot be the name of a group"),
    ],
    ids=str,
)
def test_settings_with_which_nobody_could_sign_in_are_refused(wrong: dict[str, str], words: str) -> None:
    given = {"oidc_issuer": "https://login.example.com", "oidc_client_id": "argot", "oidc_client_secret": "s"}
    with pytest.raises(InvalidSettings, match=re.escape(words)):
        require_consistent(Settings(**{**given, **wrong}), signing_in=True)  # type: ignore[arg-type]
