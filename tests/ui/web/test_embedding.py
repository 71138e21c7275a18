"""Tests of the window in pages of other sites: which addresses they may frame, and how people sign in there."""

import json
import re
import secrets
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from functools import cache
from pathlib import Path
from typing import Any

import httpx
import pytest
from api_site import URL, Site, with_readers
from forged_tokens import make_unsigned_token, sign_with_public_key
from identity_provider import identity_provider
from joserfc import jwt
from joserfc.jwk import ECKey, OctKey, OKPKey, RSAKey

from argot.errors import ArgotError, InvalidSettings
from argot.service.knowledge_base import KnowledgeBase
from argot.service.sign_in import page_sign_in, page_tokens
from argot.service.sign_in.embedding import parse_origins
from argot.settings import Settings
from argot.shown_addresses import hide_secrets
from argot.ui.server import require_consistent

INTRANET = "https://intranet.example.com"
OTHER_SITE = "https://wiki.example.org:8443"
GOOD = "tilted copper llama 9"
FRAME = {
    "Accept": "text/html",
    "Sec-Fetch-Dest": "iframe",
    "Sec-Fetch-Mode": "navigate",
    "Sec-Fetch-Site": "cross-site",
}
ISSUER = "intranet"


@cache
def signing_key() -> RSAKey:
    return RSAKey.generate_key(2048)


def make_claims(**changes: Any) -> dict[str, Any]:
    now = int(time.time())
    made = {"iss": ISSUER, "aud": "argot", "sub": "ann", "jti": secrets.token_hex(8), "iat": now, "exp": now + 60}
    return {name: value for name, value in (made | changes).items() if value is not None}


def sign(claims: dict[str, Any], key: Any = None, alg: str = "RS256") -> str:
    return jwt.encode({"alg": alg}, claims, key or signing_key(), algorithms=[alg])


class Embedded:
    """A service whose window the intranet may show."""

    def __init__(self, site: Site, audit: Path) -> None:
        self.site, self.kb, self._audit = site, site.kb, audit

    @asynccontextmanager
    async def browser(self, **headers: str) -> AsyncIterator[httpx.AsyncClient]:
        transport = httpx.ASGITransport(self.site.guard, raise_app_exceptions=False)
        given = {"Origin": URL, "Accept": "text/html", **headers}
        async with httpx.AsyncClient(transport=transport, base_url=URL, headers=given) as client:
            yield client

    async def send(self, token: str, cookie: str = "", **headers: str) -> httpx.Response:
        """Send a token as the page in the frame does. Cookies are given by hand: httpx keeps no secure one here."""
        async with self.browser(**headers, **({"Cookie": cookie} if cookie else {})) as client:
            return await client.post("/embed/token", json={"token": token})

    async def enter(self, **claims: Any) -> str:
        """Sign in by a token and return the cookie of the frame."""
        answer = await self.send(sign(make_claims(**claims)))
        assert (answer.status_code, answer.json()) == (200, {"signed_in": True}), answer.text
        return answer.headers["set-cookie"].partition(";")[0]

    def list_sign_ins(self) -> list[tuple[str, str, str]]:
        """List who signed in how, and with which outcome, as the audit says."""
        events = [json.loads(line) for line in self._audit.read_text().splitlines()]
        return [
            (one["api"]["operation"], one.get("user", {}).get("name", ""), one.get("status_detail", ""))
            for one in events
            if one["class_name"] == "Authentication"
        ]


@pytest.fixture
async def opened(tiny_home: Path, tmp_path: Path) -> AsyncIterator[Callable[..., Any]]:
    home = with_readers(tiny_home, tmp_path)
    (tmp_path / "public.pem").write_bytes(signing_key().as_pem(private=False))
    async with AsyncExitStack() as stack:

        async def open_site(**more: Any) -> Embedded:
            given = {
                "embed_origins": f"{INTRANET}, {OTHER_SITE}", "embed_token_key": str(tmp_path / "public.pem"),
                "embed_token_issuer": ISSUER, "audit_file": tmp_path / "audit.jsonl",
            }  # fmt: skip
            settings = Settings(home=home, **{**given, **more})
            require_consistent(settings, signing_in=True)
            kb = await stack.enter_async_context(KnowledgeBase.open(home, settings))
            return Embedded(Site(kb), tmp_path / "audit.jsonl")

        yield open_site


@pytest.fixture
async def embedded(opened: Callable[..., Any]) -> Embedded:
    made: Embedded = await opened()
    return made


# -- what may be framed -----------------------------------------------------------------------------------------------


async def test_listed_sites_may_frame_the_window_and_no_other_page(embedded: Embedded) -> None:
    embedded.kb.people.set_role("ann", "admin")
    session = embedded.kb.people.sessions.begin("ann")
    async with embedded.browser(**FRAME, Cookie=f"argot_8123={session}") as client:
        framed = await client.get("/embed")
        assert f"frame-ancestors {INTRANET} {OTHER_SITE};" in framed.headers["content-security-policy"]
        assert framed.status_code == 200 and "x-frame-options" not in framed.headers
        for path in (
            "/sign-in", "/account", "/library", "/terms", "/documents", "/glossary", "/insight", "/people",
            "/administration", "/shared", "/nothing", "/embed/sign-in", "/api/openapi.json", "/argot/passages/x",
        ):  # fmt: skip
            answer = await client.get(path)
            policy = answer.headers["content-security-policy"]
            assert answer.headers["x-frame-options"] == "DENY", path
            assert "frame-ancestors 'none'" in policy or "sandbox" in policy, path
            assert INTRANET not in policy, path


async def test_the_script_is_loaded_by_other_sites_and_nothing_else_is(embedded: Embedded) -> None:
    async with embedded.browser(**{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}) as client:
        script = await client.get("/embed.js", headers={"Origin": INTRANET})
        assert script.status_code == 200 and "Argot fragen" in script.text
        assert script.headers["cross-origin-resource-policy"] == "cross-origin"
        assert (await client.post("/embed.js", headers={"Origin": INTRANET})).status_code == 403
        for path in ("/public/argot.js", "/glossary/me", "/embed"):
            refused = await client.get(path, headers={"Origin": INTRANET})
            assert refused.status_code == 403 and "access-control-allow-origin" not in refused.headers


async def test_without_the_setting_nothing_is_framed_or_loaded(opened: Callable[..., Any]) -> None:
    closed = await opened(embed_origins="", embed_token_key="", embed_token_issuer="")
    closed.kb.people.set_password("vera", GOOD)
    frame_session = closed.kb.people.sessions.begin("ann", framed=True)
    async with closed.browser() as client:
        assert (await client.get("/embed")).status_code == 404
        assert (await client.get("/embed.js")).status_code == 404
        assert (await client.get("/embed.js", headers={"Origin": INTRANET})).status_code == 403
        answer = await client.get("/login")
        assert answer.headers["x-frame-options"] == "DENY"
        for name in ("argot_8123", "argot_8123_frame"):
            me = await client.get("/glossary/me", headers={"Cookie": f"{name}={frame_session}"})
            assert me.status_code in (303, 401)


# -- by a token -------------------------------------------------------------------------------------------------------


async def test_a_token_signs_in_to_the_window_alone_with_the_rights_of_the_account(embedded: Embedded) -> None:
    embedded.kb.people.set_role("vera", "manager")
    answer = await embedded.send(sign(make_claims(groups=["vault", "managers"])))
    attributes = set(answer.headers["set-cookie"].split("; ")[1:])
    assert {"HttpOnly", "SameSite=None", "Secure", "Partitioned"} <= attributes
    shown = {}
    for name in ("ann", "vera"):
        cookie = await embedded.enter(sub=name)
        token = cookie.partition("=")[2]
        # Under the name of the ordinary cookie it opens no more, and without its beginning nothing.
        for given in (cookie, f"argot_8123={token}"):
            async with embedded.browser(Cookie=given) as client:
                assert (await client.get("/glossary/me")).status_code == 200
                for path in ("/account", "/people", "/library"):
                    assert (await client.get(path)).headers["location"].startswith("/sign-in"), path
                    assert (await client.get(path, headers=FRAME)).headers["location"] == "/embed"
                assert (await client.get("/api/documents")).status_code == 401
                shown[name] = (await client.get("/library/choices?q=handbook")).text.casefold()
        assert embedded.kb.people.sessions.find(token.removeprefix("frame.")) is None
    assert "vault" in shown["vera"] and "vault" not in shown["ann"]
    assert embedded.kb.people.user("vera").groups == ("vault",)
    assert {who for how, who, _ in embedded.list_sign_ins() if how == "sign_in_by_page_token"} == {"ann", "vera"}


async def test_tokens_of_all_algorithms_are_accepted(opened: Callable[..., Any], tmp_path: Path) -> None:
    elliptic, edwards = ECKey.generate_key("P-256", {"kid": "e"}), OKPKey.generate_key("Ed25519", {"kid": "o"})
    keys = {"keys": [one.as_dict(private=False) for one in (elliptic, edwards)] + [{"kty": "oct", "k": "c2VjcmV0"}]}
    (tmp_path / "keys.json").write_text(json.dumps(keys))
    embedded = await opened(embed_token_key=str(tmp_path / "keys.json"))
    for key, alg in ((elliptic, "ES256"), (edwards, "Ed25519")):
        token = jwt.encode({"alg": alg, "kid": key.kid}, make_claims(), key, algorithms=[alg])
        assert (await embedded.send(token)).status_code == 200, alg
    secret = jwt.encode({"alg": "HS256"}, make_claims(), OctKey.import_key("secret" * 8))
    assert (await embedded.send(secret)).status_code == 403


async def test_keys_come_from_an_address_and_may_change(
    opened: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page_tokens, "RETRY_SECONDS", 0.0)
    with identity_provider() as publisher:
        embedded = await opened(embed_token_key=f"{publisher.url}/keys")
        assert (await embedded.send(publisher.signed(make_claims()))).status_code == 200
        old = publisher.keys[0]
        publisher.rotate()
        assert (await embedded.send(publisher.signed(make_claims()))).status_code == 200
        assert (await embedded.send(sign(make_claims(), old))).status_code == 403
        publisher.down = True
        publisher.rotate()
        assert (await embedded.send(publisher.signed(make_claims()))).status_code == 403


def list_wrong_claims() -> list[dict[str, Any]]:
    now = int(time.time())
    return [
        {"exp": now - 120, "iat": now - 180}, {"exp": now + 3600}, {"exp": None},
        {"exp": "soon"}, {"iat": None}, {"iat": now + 600, "exp": now + 660},
        {"iat": True}, {"nbf": now + 600}, {"iss": "elsewhere"}, {"iss": None}, {"aud": "another"},
        {"aud": ["argot", "another"]}, {"aud": None}, {"aud": []}, {"jti": None}, {"jti": 7}, {"jti": ""},
        {"sub": None}, {"sub": ""}, {"sub": "a" * 300}, {"sub": 7}, {"sub": "nobody"}, {"sub": "ANN"},
        {"sub": "local"}, {"sub": "ann\n"},
    ]  # fmt: skip


async def test_a_token_that_proves_nothing_is_refused(embedded: Embedded, caplog: pytest.LogCaptureFixture) -> None:
    key, stranger = signing_key(), RSAKey.generate_key(2048)
    forged = [sign(make_claims(**wrong)) for wrong in list_wrong_claims()]
    forged += [
        make_unsigned_token(make_claims()),
        sign_with_public_key(make_claims(), key),
        sign(make_claims(), stranger),
        jwt.encode({"alg": "RS256", "jwk": stranger.as_dict(private=False)}, make_claims(), stranger),
        sign(make_claims(), key, "RS512"),
        "a.b.c",
        "é",
    ]
    for token in forged:
        answer = await embedded.send(token)
        assert answer.status_code == 403 and "set-cookie" not in answer.headers, token
        assert answer.json()["error"] in (page_sign_in.INVALID, page_sign_in.UNKNOWN), answer.text
        assert not token[-20:] or token[-20:] not in caplog.text
    assert {user.name for user in embedded.kb.people.users()} == {"ann", "vera"}
    refused = [one for one in embedded.list_sign_ins() if one[0] == "sign_in_by_page_token"]
    assert len(refused) == len(forged) and {name for _, name, _ in refused} == {""}


async def test_a_token_signs_in_once_and_only_after_the_start(embedded: Embedded) -> None:
    token = sign(make_claims())
    assert (await embedded.send(token)).status_code == 200
    assert (await embedded.send(token)).json()["error"] == page_sign_in.INVALID
    before = int(time.time()) - 200
    assert (await embedded.send(sign(make_claims(iat=before)))).status_code == 403


async def test_suspended_and_removed_people_are_refused(embedded: Embedded) -> None:
    cookie, people = await embedded.enter(), embedded.kb.people
    people.suspend("ann")
    async with embedded.browser(Cookie=cookie) as client:
        assert (await client.get("/glossary/me")).status_code in (303, 401)
    assert (await embedded.send(sign(make_claims()))).json()["error"] == page_sign_in.SUSPENDED
    people.link("vera", ISSUER, "sub-7")
    found = people.sessions.find((await embedded.enter(sub="sub-7")).partition("=")[2])
    assert found and found.user == "vera"
    people.erase(["ann"])
    assert (await embedded.send(sign(make_claims()))).json()["error"] == page_sign_in.UNKNOWN


async def test_an_unknown_person_is_created_if_the_settings_say_so(opened: Callable[..., Any]) -> None:
    embedded = await opened(unknown_people="create", embed_token_name_claim="email")
    unverified = make_claims(sub="7", email="mia@example.com", email_verified=False)
    assert (await embedded.send(sign(unverified))).status_code == 403
    await embedded.enter(sub="7", email="mia@example.com", groups=["vault", "managers"], name="Mia")
    mia = embedded.kb.people.user("mia@example.com")
    assert (mia.groups, mia.role, mia.display_name, mia.has_password) == ((), "asker", "Mia", False)


async def test_only_a_page_of_argots_own_sends_a_token(embedded: Embedded) -> None:
    for headers in ({"Origin": INTRANET}, {"Origin": "null"}, {"Sec-Fetch-Site": "cross-site"}):
        assert (await embedded.send(sign(make_claims()), **headers)).status_code == 403
    async with embedded.browser() as client:
        # Not in an address, and not as a form, which a page could send without a script.
        assert (await client.get(f"/embed/token?token={sign(make_claims())}")).status_code in (404, 405)
        assert (await client.post("/embed/token", data={"token": sign(make_claims())})).status_code == 422
        # With the frame's cookie, too, a foreign page changes nothing.
        cookie = {"Cookie": await embedded.enter()}
        for headers in ({"Origin": INTRANET}, {"Origin": "https://evil.example"}):
            assert (await client.put("/feedback", json={}, headers={**cookie, **headers})).status_code == 403
            assert (await client.post("/logout", headers={**cookie, **headers})).status_code == 403


async def test_another_person_replaces_the_first_and_nobody_ends_the_session(embedded: Embedded) -> None:
    sessions = embedded.kb.people.sessions
    first = await embedded.enter()
    again = await embedded.send(sign(make_claims()), first)
    assert again.status_code == 200 and "set-cookie" not in again.headers
    second = (await embedded.send(sign(make_claims(sub="vera")), first)).headers["set-cookie"].partition(";")[0]
    assert [len(sessions.of(name)) for name in ("ann", "vera")] == [0, 1]
    gone = await embedded.send("", second)
    assert gone.json() == {"signed_in": False} and "Max-Age=0" in gone.headers["set-cookie"]
    assert "Partitioned" in gone.headers["set-cookie"] and sessions.of("vera") == []
    ordinary = f"argot_8123={sessions.begin('vera')}"
    mixed = await embedded.send(sign(make_claims()), ordinary)
    assert mixed.json()["error"] == page_sign_in.OTHER_PERSON
    assert (await embedded.send("", ordinary)).json() == {"signed_in": True} and len(sessions.of("vera")) == 1
    async with embedded.browser(Cookie=await embedded.enter()) as client:
        out = await client.post("/logout")
    assert [line.partition("=")[0] for line in out.headers.get_list("set-cookie")] == ["argot_8123_frame"]
    assert sessions.of("ann") == []
    # Below one site the browser sends both cookies: signing out removes both, or the frame's would let it in again.
    async with embedded.browser(Cookie=f"{ordinary}; {await embedded.enter()}") as client:
        out = await client.post("/logout")
    emptied = [line.partition(";")[0] for line in out.headers.get_list("set-cookie")]
    assert emptied == ["argot_8123=", "argot_8123_frame="]


# -- by a window of its own -------------------------------------------------------------------------------------------


async def test_a_window_of_its_own_hands_over_a_code_that_is_valid_once(
    embedded: Embedded, monkeypatch: pytest.MonkeyPatch
) -> None:
    embedded.kb.people.set_password("ann", GOOD)
    async with embedded.browser() as own:
        away = await own.get("/embed/sign-in")
        assert away.headers["location"] == "/sign-in?next=%2Fembed%2Fsign-in"
        page = await own.get(away.headers["location"])
        entered = await own.post("/sign-in", data={"name": "ann", "password": GOOD, "next": "/embed/sign-in"})
        assert "SameSite=Lax" in entered.headers["set-cookie"]
        end = await own.get(entered.headers["location"])
        for one in (away, page, entered, end):
            assert one.headers["cross-origin-opener-policy"] == "unsafe-none"
        assert (await own.get("/account")).headers["cross-origin-opener-policy"] == "same-origin"
        codes = [re.findall(r'data-code="([^"]+)"', (await own.get("/embed/sign-in")).text)[0] for _ in range(2)]
    async with embedded.browser() as frame:
        entered = await frame.post("/embed/code", json={"code": codes[0]})
        cookie = entered.headers["set-cookie"].partition(";")[0]
        assert (await frame.get("/glossary/me", headers={"Cookie": cookie})).status_code == 200
        forged = codes[1].replace(".ann", ".vera")
        for wrong in (codes[0], forged, "", "é", "a.b.c", f"x{codes[1]}"):
            assert (await frame.post("/embed/code", json={"code": wrong})).status_code == 403
        now = time.time()
        monkeypatch.setattr(page_sign_in.time, "time", lambda: now + page_sign_in.CODE_SECONDS + 9)
        assert (await frame.post("/embed/code", json={"code": codes[1]})).status_code == 403
    assert [name for how, name, _ in embedded.list_sign_ins() if how == "sign_in_by_own_window" and name] == ["ann"]


# -- settings ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "wrong",
    ["*", "https://*.example.com", "http://intranet.example.com", "https://example.com/page", "null", "example.com",
     "https://a.example; script-src x", "https://straße.example", "https://u@a.example", "https://a.example:99999"],
)  # fmt: skip
def test_an_origin_that_browsers_would_not_send_is_refused(wrong: str) -> None:
    with pytest.raises(InvalidSettings, match=re.escape(f"cannot hold '{hide_secrets(wrong)}'")) as refused:
        parse_origins(f"{INTRANET}, {wrong}")
    assert "https://intranet.example.com" in str(refused.value)


def test_origins_are_written_as_browsers_send_them() -> None:
    given = "https://Intranet.example.com:443/, http://localhost:8080, http://127.0.0.1, https://intranet.example.com"
    assert parse_origins(given) == (INTRANET, "http://localhost:8080", "http://127.0.0.1")
    assert parse_origins(" , ") == ()


def test_settings_with_which_no_page_could_show_the_window_are_refused(tmp_path: Path) -> None:
    private, empty = tmp_path / "private.pem", tmp_path / "empty"
    private.write_bytes(signing_key().as_pem(private=True))
    empty.write_text('{"keys": [{"kty": "oct", "k": "c2VjcmV0"}]}')
    token = {"embed_origins": INTRANET, "embed_token_issuer": ISSUER}
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"embed_token_key": "x.pem"}, "embed_origins"),
        ({"embed_origins": INTRANET, "public_url": "http://argot.example.com"}, "needs https"),
        ({"embed_origins": INTRANET, "embed_token_key": "x.pem"}, "'embed_token_issuer' is missing"),
        ({**token, "embed_token_key": str(tmp_path / "none.pem")}, "No such file"),
        ({**token, "embed_token_key": str(private)}, "private key"),
        ({**token, "embed_token_key": str(empty)}, "no public key"),
        ({**token, "embed_token_key": "http://keys.example.com/jwks"}, "begin with https"),
    ]
    assert isinstance(page_tokens.load_key_file(signing_key().as_pem(private=False).decode()), RSAKey)
    for given, words in wrong:
        with pytest.raises(InvalidSettings, match=re.escape(words)):
            require_consistent(Settings(**given), signing_in=True)
    with pytest.raises(ArgotError, match="nobody signs in"):
        require_consistent(Settings(embed_origins=INTRANET), signing_in=False)
