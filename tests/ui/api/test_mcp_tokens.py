"""Tests of access tokens at /mcp: the SDK's own client signs in at a real provider, and hostile tokens."""

import asyncio
import json
import logging
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import httpx
import pytest
from api_site import URL, VAULT, Site, answer_with, with_readers
from forged_tokens import make_unsigned_token, sign_with_public_key
from identity_provider import CLIENT, Account, IdentityProvider, identity_provider
from joserfc import jwt
from joserfc.jwk import RSAKey
from mcp import ClientSession
from mcp.client.auth import OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import OAuthClientInformationFull, OAuthClientMetadata, OAuthToken, ProtectedResourceMetadata
from pydantic import AnyUrl

from argot.clock import utc_now
from argot.errors import InvalidSettings
from argot.results import AskEvent
from argot.service.identity.people import Ended
from argot.service.identity.provider_links import Confirmed
from argot.service.knowledge_base import KnowledgeBase
from argot.service.sign_in import access_tokens, openid_connect
from argot.service.sign_in.openid_connect import OpenIdProvider, ProviderRefusal
from argot.service.sign_in.provider_accounts import find_account
from argot.service.sign_in.provider_sign_in import confirm_due
from argot.settings import Settings
from argot.ui.server import require_consistent

RESOURCE = f"{URL}/mcp"
METADATA = f"{URL}/.well-known/oauth-protected-resource"
LIST_TOOLS = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
ACCEPT = {"Accept": "application/json, text/event-stream"}


@pytest.fixture
def provider() -> Iterator[IdentityProvider]:
    with identity_provider() as made:
        made.people = {"zoe": Account(["vault"]), "eve": Account()}
        yield made


class Resource:
    """A service at whose `/mcp` assistants sign in."""

    def __init__(self, site: Site, provider: IdentityProvider, audit: Path) -> None:
        self.site, self.kb, self.provider, self._audit = site, site.kb, provider, audit

    async def send(self, token: str | None, message: dict[str, Any] = LIST_TOOLS, **headers: str) -> httpx.Response:
        given = {name: value.encode() for name, value in headers.items()}
        if token is not None:
            given["Authorization"] = f"Bearer {token}".encode()
        async with self.site.program(None, **ACCEPT) as program:
            return await program.post("/mcp", json=message, headers=given)  # type: ignore[arg-type]

    async def enter(self, user: str = "zoe", **claims: Any) -> httpx.Response:
        return await self.send(self.provider.make_access_token(user, RESOURCE, **claims))

    async def search(self, token: str) -> str:
        """Search for the vault's combination, which only members of the group `vault` may read."""
        call = {"name": "search", "arguments": {"query": VAULT}}
        answer = await self.send(token, {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call})
        assert answer.status_code == 200, answer.text
        return answer.text

    async def confirm(self, minutes: float) -> None:
        """Confirm all accounts at the provider, as the service does at its interval, so many minutes later."""
        await confirm_due(self.kb, OpenIdProvider(self.kb.settings), utc_now() + timedelta(minutes=minutes))

    def list_events(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self._audit.read_text().splitlines()]

    def list_sign_ins(self) -> list[tuple[str, str]]:
        """List the person and the status of each sign-in by an access token, as the audit has them."""
        found = [one for one in self.list_events() if one["api"]["operation"] == "access_token"]
        return [(one.get("user", {}).get("name", ""), one.get("status_code", "")) for one in found]


@pytest.fixture
async def opened(tiny_home: Path, tmp_path: Path) -> AsyncIterator[Callable[..., Any]]:
    home = with_readers(tiny_home, tmp_path)
    async with AsyncExitStack() as stack:

        async def open_resource(provider: IdentityProvider, **more: Any) -> Resource:
            audit = tmp_path / "audit.jsonl"
            given = {"public_url": URL, "audit_file": audit, **provider.settings(**more)}
            settings = Settings(home=home, **given)
            require_consistent(settings, signing_in=True)
            kb = await stack.enter_async_context(KnowledgeBase.open(home, settings))
            return Resource(Site(kb), provider, audit)

        yield open_resource


@pytest.fixture
async def resource(opened: Callable[..., Any], provider: IdentityProvider) -> Resource:
    made: Resource = await opened(provider)
    return made


# -- the flow of the SDK's client -------------------------------------------------------------------------------------


class Memory:
    """The client's store of tokens, for the time of a test."""

    def __init__(self) -> None:
        self.tokens: OAuthToken | None = None
        self.client: OAuthClientInformationFull | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info


@asynccontextmanager
async def assistant(resource: Resource, user: str, memory: Memory) -> AsyncIterator[ClientSession]:
    """Connect the SDK's client, whose person signs in at the provider when it opens the address there."""
    returned: dict[str, str] = {}

    async def open_browser(address: str) -> None:
        returned.update(parse_qsl(urlsplit(resource.provider.enter(address, user)).query))

    async def wait_for_return() -> tuple[str, str | None]:
        return returned["code"], returned["state"]

    client = OAuthClientMetadata(
        redirect_uris=[AnyUrl("http://localhost:1/callback")], client_name="an assistant",
        token_endpoint_auth_method="none",
    )  # fmt: skip
    auth = OAuthClientProvider(RESOURCE, client, memory, open_browser, wait_for_return)
    own = httpx.ASGITransport(resource.site.guard)
    async with (
        httpx.AsyncClient(auth=auth, mounts={URL: own}, timeout=None) as http,
        streamable_http_client(RESOURCE, http_client=http) as (read, write, _),
        ClientSession(read, write) as session,
    ):
        await session.initialize()
        yield session


async def test_the_client_of_the_sdk_finds_the_provider_and_signs_in(resource: Resource) -> None:
    said, memories = {}, {name: Memory() for name in ("zoe", "eve")}
    for name, memory in memories.items():
        async with assistant(resource, name, memory) as session:
            found = await session.call_tool("search", {"query": VAULT})
            said[name] = "\n".join(part.text for part in found.content if part.type == "text")
    assert "14 days" in said["zoe"] and "14 days" not in said["eve"]
    zoe = resource.kb.people.user("zoe")
    assert (zoe.groups, zoe.role, zoe.linked, zoe.has_password) == (("vault",), "asker", True, False)
    asked = [given for path, given in resource.provider.asked if path == "/token"]
    assert [one["resource"] for one in asked] == [RESOURCE, RESOURCE]
    assert resource.list_sign_ins() == [("zoe", ""), ("eve", "")]
    # With what the client has stored it comes again, and its person is not asked ("nobody" has no account there).
    async with assistant(resource, "nobody", memories["zoe"]) as session:
        assert (await session.list_tools()).tools


async def test_the_metadata_name_resource_provider_and_scopes(resource: Resource, provider: IdentityProvider) -> None:
    async with resource.site.program(None) as program:
        for address in (METADATA, f"{METADATA}/mcp"):
            answer = await program.get(address)
            told = ProtectedResourceMetadata.model_validate_json(answer.content)
            assert str(told.resource) == RESOURCE and told.scopes_supported == ["openid", "profile", "email"]
            assert answer.json()["authorization_servers"] == [provider.url]
        bare, wrong = await resource.send(None), await resource.send("argot_wrong")
    named = f'Bearer realm="Argot", resource_metadata="{METADATA}/mcp", scope="openid profile email"'
    assert (bare.status_code, bare.headers["www-authenticate"]) == (401, named)
    assert (wrong.status_code, wrong.headers["www-authenticate"]) == (401, f'{named}, error="invalid_token"')


async def test_keys_go_on_working_and_without_provider_or_address_nothing_changes(
    opened: Callable[..., Any], provider: IdentityProvider, resource: Resource
) -> None:
    assert (await resource.send(resource.site.key("ann"))).status_code == 200
    await resource.kb.close()
    for more in ({"public_url": ""}, {"oidc_issuer": ""}):
        closed = await opened(provider, **more)
        closed.kb.people.set_password("ann", "tilted copper llama 9")
        async with closed.site.program(None) as program:
            assert (await program.get(METADATA)).status_code == 404
        refused = await closed.enter()
        assert (refused.status_code, refused.headers["www-authenticate"]) == (401, 'Bearer realm="Argot"')
        assert "requires a key" in refused.text
        assert (await closed.send(closed.site.key("ann"))).status_code == 200
        await closed.kb.close()


async def test_a_token_opens_nothing_but_mcp(resource: Resource) -> None:
    token = resource.provider.make_access_token("zoe", RESOURCE)
    headers = {"Authorization": f"Bearer {token}"}
    assert (await resource.send(token)).status_code == 200
    async with resource.site.program(None, **headers) as program:
        for path in ("/api/me", "/v1/models", "/scim/v2/Users", "/account", "/library"):
            assert (await program.get(path)).status_code in (303, 401), path
        # Neither in the address nor in the body (RFC 6750, 2.2 and 2.3; the specification of MCP forbids the former).
        for more in ({"params": {"access_token": token}}, {"json": {**LIST_TOOLS, "access_token": token}}):
            sent: dict[str, Any] = {"json": LIST_TOOLS, **more}
            del program.headers["authorization"]
            assert (await program.post("/mcp", headers=ACCEPT, **sent)).status_code == 401
            program.headers.update(headers)
        assert (
            await program.post("/mcp", json=LIST_TOOLS, headers={"Origin": "https://evil.example"})
        ).status_code == 403
    # Clients send back the cookie by which a load balancer knows them.
    assert (await resource.send(token, Cookie="balancer=7")).status_code == 200
    # A wrong token is not answered on behalf of the cookie that comes with it.
    resource.kb.people.set_password("ann", "tilted copper llama 9")
    cookie = f"{resource.site.authenticator.cookie}={resource.kb.people.sessions.begin('ann')}"
    assert (await resource.send("x.y.z", Cookie=cookie)).status_code == 401
    assert (await resource.send("x.y.z", Cookie=cookie, Origin=URL)).status_code == 401
    # Elsewhere a token is none, so that the page which sends the cookie has to be one of ours.
    async with resource.site.program(None, **headers, Cookie=cookie) as program:
        assert (await program.post("/api/search", json={"query": VAULT})).status_code == 403


# -- tokens that are not valid here -----------------------------------------------------------------------------------


def list_wrong_claims(provider: IdentityProvider) -> list[dict[str, Any]]:
    now = int(time.time())
    return [
        # Another resource, another client of the same provider, Argot's own client, and a mere beginning.
        {"aud": "https://other.example/mcp"}, {"aud": "another"}, {"aud": CLIENT}, {"aud": URL},
        {"aud": f"{RESOURCE}/x"}, {"aud": ["another", CLIENT]}, {"aud": None}, {"aud": []}, {"aud": ""},
        {"aud": {RESOURCE: 1}}, {"aud": [7, RESOURCE]},
        {"iss": "https://evil.example"}, {"iss": f"{provider.url}/x"}, {"iss": None}, {"iss": [provider.url]},
        {"exp": now - 600}, {"exp": None}, {"exp": "soon"}, {"exp": float("inf")}, {"exp": True}, {"nbf": now + 600},
        {"iat": now + 600}, {"iat": None}, {"iat": "x"}, {"iat": -(10**400)}, {"iat": now - 13 * 3600},
        {"sub": None}, {"sub": ""}, {"sub": 7}, {"sub": "s" * 256}, {"sub": "s\0"},
        # ID tokens, sign-outs, refresh tokens, and tokens of which another proof is required.
        {"nonce": "n"}, {"at_hash": "h"}, {"scope": None}, {"scope": ""}, {"typ": "ID"}, {"typ": "Refresh"}, {"typ": 7},
        {"events": {}}, {"cnf": {"jkt": "k"}},
    ]  # fmt: skip


async def test_a_token_with_a_wrong_claim_is_refused(resource: Resource) -> None:
    wrong = list_wrong_claims(resource.provider)
    for claims in wrong:
        answer = await resource.enter(**claims)
        assert answer.status_code == 401 and "is not valid here" in answer.text, (claims, answer.text)
        assert 'error="invalid_token"' in answer.headers["www-authenticate"]
    assert resource.list_sign_ins() == [("", "401")] * len(wrong)
    assert resource.kb.people.find("zoe") is None
    assert (await resource.enter(aud=["account", RESOURCE])).status_code == 200


async def test_a_token_that_the_provider_did_not_sign_is_refused(resource: Resource) -> None:
    key, stranger = resource.provider.keys[0], RSAKey.generate_key(2048)
    now = int(time.time())
    claims = {
        "iss": resource.provider.url, "sub": "sub-zoe", "aud": RESOURCE, "iat": now, "exp": now + 300,
        "scope": "openid", "preferred_username": "zoe",
    }  # fmt: skip
    good = jwt.encode({"alg": "RS256", "kid": key.kid}, claims, key)
    head, body, signature = good.split(".")
    unknown = [
        {"kid": "unknown"}, {"kid": "https://evil.example/keys"}, {"kid": "../../../../etc/passwd"},
        {"kid": "' OR 1=1 --"}, {"kid": ""}, {"jwk": stranger.as_dict(private=False)},
        {"kid": key.kid, "jku": "https://evil.example/keys"}, {"kid": key.kid, "x5u": "https://evil.example/x"},
    ]  # fmt: skip
    forged = [
        make_unsigned_token(claims), make_unsigned_token(claims, "NONE"), sign_with_public_key(claims, key),
        *(jwt.encode({"alg": "RS256", **header}, claims, stranger) for header in unknown),
        make_unsigned_token(claims, "RS256", kid=key.kid), f"{head}.{body}.", f"{head}..{signature}", f"{head}.{body}",
        f"{good}.a.b", good[:-4], "a.b.c", "...", "at-zoe", "é", "{}", "[" * 5000, "x" * 60_000, f"{good} {good}",
    ]  # fmt: skip
    asked = len(resource.provider.asked)
    for token in forged:
        answer = await resource.send(token)
        assert answer.status_code == 401, token[:80]
        assert len(answer.text) < 500 and token[-20:] not in answer.text, answer.text
    assert resource.kb.people.find("zoe") is None
    # The provider was asked for its description, and for its keys once more at most.
    assert [path for path, _ in resource.provider.asked[asked:]].count("/keys") <= 2
    assert (await resource.send(good)).status_code == 200


async def test_the_type_of_a_token_counts(resource: Resource) -> None:
    key, now = resource.provider.keys[0], int(time.time())
    claims = {
        "iss": resource.provider.url, "sub": "sub-zoe", "aud": RESOURCE, "iat": now, "exp": now + 300,
        "preferred_username": "zoe",
    }  # fmt: skip
    for kind, status in {
        "at+jwt": 200,
        "application/AT+JWT": 200,
        "JWT": 401,
        "logout+jwt": 401,
        "dpop+jwt": 401,
    }.items():
        token = jwt.encode({"alg": "RS256", "kid": key.kid, "typ": kind}, claims, key)
        assert (await resource.send(token)).status_code == status, kind


async def test_an_id_token_is_refused_even_if_its_audience_is_the_one_of_the_settings(
    opened: Callable[..., Any], provider: IdentityProvider
) -> None:
    resource = await opened(provider, oidc_audience=CLIENT)
    assert (await resource.enter(aud=CLIENT, scope=None)).status_code == 401
    assert (await resource.enter(aud=CLIENT, scope=None, scp="use")).status_code == 200
    # The address of /mcp is no audience any more.
    assert (await resource.enter()).status_code == 401


# -- keys of the provider ---------------------------------------------------------------------------------------------


async def test_a_new_key_is_accepted_but_unknown_ones_do_not_flood_the_provider(
    resource: Resource, monkeypatch: pytest.MonkeyPatch
) -> None:
    provider = resource.provider
    old = provider.make_access_token("zoe", RESOURCE)
    assert (await resource.send(old)).status_code == 200
    stranger = RSAKey.generate_key(2048)
    flood = [jwt.encode({"alg": "RS256", "kid": f"k{n}"}, {"sub": "x"}, stranger) for n in range(50)]
    answers = await asyncio.gather(*(resource.send(token) for token in flood))
    assert {answer.status_code for answer in answers} == {401}
    assert [path for path, _ in provider.asked].count("/keys") == 1
    provider.rotate()
    new = provider.make_access_token("zoe", RESOURCE)
    assert (await resource.send(new)).status_code == 401
    monkeypatch.setattr(access_tokens, "RETRY_SECONDS", 0.0)
    assert (await resource.send(new)).status_code == 200
    assert (await resource.send(old)).status_code == 401
    # While the provider is down, wrong tokens do not shut out those whose key is known.
    provider.down = True
    assert (await resource.send(flood[0])).status_code == 503
    assert (await resource.send(new)).status_code == 200


async def test_a_provider_that_is_down_is_not_asked_for_every_token(resource: Resource) -> None:
    resource.provider.down = True
    for _ in range(3):
        answer = await resource.enter()
        assert answer.status_code == 503 and "cannot be checked" in answer.text
    assert len(resource.provider.asked) == 1
    assert resource.list_sign_ins() == [("", "503")] * 3


async def test_tokens_that_wait_for_a_provider_fail_together_when_it_does_not_answer(
    resource: Resource, monkeypatch: pytest.MonkeyPatch
) -> None:
    good = resource.provider.make_access_token("zoe", RESOURCE)
    assert (await resource.send(good)).status_code == 200
    monkeypatch.setattr(access_tokens, "RETRY_SECONDS", 0.0)
    # It answers later than Argot waits, which is longer than Argot considers it down.
    monkeypatch.setattr(openid_connect, "SECONDS", 0.5)
    monkeypatch.setattr(openid_connect, "DOWN_SECONDS", 0.3)
    resource.provider.delay = 1
    asked = len(resource.provider.asked)
    stranger = RSAKey.generate_key(2048)
    wrong = [jwt.encode({"alg": "RS256", "kid": f"k{n}"}, {"sub": "x"}, stranger) for n in range(5)]
    *refused, let_in = await asyncio.gather(*(resource.send(token) for token in (*wrong, good)))
    assert [answer.status_code for answer in refused] == [503] * 5 and let_in.status_code == 200
    assert len(resource.provider.asked) == asked + 1


# -- people and their rights ------------------------------------------------------------------------------------------


async def test_unknown_and_suspended_people_are_refused_as_at_the_sign_in(
    opened: Callable[..., Any], provider: IdentityProvider
) -> None:
    resource = await opened(provider, unknown_people="refuse")
    people = resource.kb.people
    for answer, words in (
        (await resource.enter(), "argot user link NAME --subject sub-zoe"),
        (await resource.enter(preferred_username="Ann"), "argot user link ann --subject sub-zoe"),
        (await resource.enter(preferred_username=None), "Sign in once in Argot's chat window"),
        (await resource.enter(preferred_username="local"), "does not know"),
    ):
        assert answer.status_code == 403 and words in answer.text, answer.text
    assert [one.name for one in people.users()] == ["ann", "vera"]
    people.link("ann", provider.url, "sub-zoe")
    token = provider.make_access_token("zoe", RESOURCE)
    assert (await resource.send(token)).status_code == 200
    people.suspend("ann")
    for again in (token, provider.make_access_token("zoe", RESOURCE, iat=int(time.time()) + 60)):
        answer = await resource.send(again)
        assert answer.status_code == 403 and "suspended" in answer.text
    assert resource.list_sign_ins() == [*[("", "403")] * 4, ("ann", ""), *[("", "403")] * 2]


async def test_groups_come_from_the_newest_token_alone(resource: Resource) -> None:
    provider, people = resource.provider, resource.kb.people
    now = int(time.time())
    first = provider.make_access_token("zoe", RESOURCE, iat=now - 60)
    assert "14 days" in await resource.search(first)
    second = provider.make_access_token("zoe", RESOURCE, iat=now - 30, groups=[])
    assert "14 days" not in await resource.search(second)
    # The older one, which still names the group, is valid, but gives it back to nobody.
    assert "14 days" not in await resource.search(first)
    assert people.user("zoe").groups == ()
    third = provider.make_access_token("zoe", RESOURCE, groups=["vault", "managers"])
    assert "14 days" in await resource.search(third)
    assert people.user("zoe").groups == ("vault",)
    unsaid = provider.make_access_token("zoe", RESOURCE, iat=now + 60, groups=None)
    assert "14 days" not in await resource.search(unsaid)
    assert [name for name, _ in resource.list_sign_ins()] == ["zoe"] * 4  # once for each token


async def test_a_token_without_groups_does_not_take_those_that_argot_asks_for_itself(resource: Resource) -> None:
    provider, links = resource.provider, resource.kb.people.links
    later = int(time.time()) + 60
    await resource.enter()
    link = links.of("zoe")
    assert link is not None and links.confirm(link, Confirmed(frozenset({"vault"}), None, "refresh"))
    bare = provider.make_access_token("zoe", RESOURCE, groups=None, preferred_username=None, iat=later)
    assert "14 days" in await resource.search(bare)
    # A list without the group is a statement, and so is any token while Argot has nothing to ask with.
    empty = provider.make_access_token("zoe", RESOURCE, groups=[], iat=later)
    assert "14 days" not in await resource.search(empty)
    link = links.of("zoe")
    assert link is not None and links.confirm(link, Confirmed(frozenset({"vault"}), None, None))
    assert "14 days" not in await resource.search(bare)


async def test_the_first_requests_of_a_person_may_come_at_once(resource: Resource) -> None:
    token = resource.provider.make_access_token("zoe", RESOURCE)
    answers = await asyncio.gather(*(resource.send(token) for _ in range(5)))
    assert [answer.status_code for answer in answers] == [200] * 5
    assert resource.list_sign_ins() == [("zoe", "")] and resource.kb.people.user("zoe").groups == ("vault",)


async def test_a_new_person_may_sign_in_in_a_browser_and_an_assistant_at_once(resource: Resource) -> None:
    kb, provider = resource.kb, resource.provider

    def sign_in_browser(subject: str, name: str) -> str:
        try:
            return find_account(kb, {"sub": subject, "preferred_username": name})[0].subject
        except ProviderRefusal as refusal:
            return str(refusal)

    for name in (f"new{n}" for n in range(10)):
        provider.people[name] = Account()
        own, *others = (kb.blocking(sign_in_browser, f"sub-{one}", name) for one in (name, name, f"not-{name}"))
        answers = await asyncio.gather(own, resource.enter(name), *others)
        # Of the two accounts under this name, the first has it, and the other is told so.
        link = kb.people.links.of(name)
        assert link is not None
        if link.subject == f"sub-{name}":
            assert answers[:1] + answers[2:3] == [link.subject] * 2 and answers[1].status_code == 200
        else:
            assert answers[3] == link.subject and answers[1].status_code == 403 and "not linked" in answers[0]


async def test_a_token_keeps_what_argot_asks_the_provider_with(resource: Resource) -> None:
    provider, links = resource.provider, resource.kb.people.links
    await resource.enter()
    link = links.of("zoe")
    assert link is not None
    assert links.confirm(link, Confirmed(frozenset({"vault"}), None, "refresh"))
    signed_in = links.of("zoe")
    assert signed_in is not None
    await resource.enter(iat=int(time.time()) + 60)
    newer = links.of("zoe")
    assert newer is not None and newer.refresh_token == "refresh" and newer.confirmed_at != signed_in.confirmed_at
    # The answer to a refresh token that was sent before is kept, for that token is spent.
    assert links.confirm(signed_in, Confirmed(frozenset(), None, "next"))
    kept = links.of("zoe")
    assert kept == replace(newer, refresh_token="next", confirmed_at=kept.confirmed_at if kept else "")
    assert provider.people["zoe"].groups == ["vault"]


async def test_a_person_who_lapsed_comes_in_again_with_a_newer_token_only(resource: Resource) -> None:
    people, now = resource.kb.people, int(time.time())
    token = resource.provider.make_access_token("zoe", RESOURCE)
    assert (await resource.send(token)).status_code == 200
    ended: list[Ended] = []
    people.watchers.append(ended.append)
    await resource.confirm(13 * 60)
    assert people.user("zoe").lapsed_at and Ended("zoe") in ended  # answers in progress are cut off
    for issued in (0, 120):  # within the difference of the clocks it may be from before
        answer = await resource.enter(iat=now + issued)
        assert answer.status_code == 401 and "no longer confirms" in answer.text
    lapsed = people.links.of("zoe")
    assert lapsed is not None and lapsed.lapsed_at
    earlier = (utc_now() - timedelta(minutes=10)).isoformat()
    people.database.write("UPDATE provider_links SET lapsed_at = ?", earlier)
    assert (await resource.enter()).status_code == 200
    assert people.user("zoe").groups == ("vault",)


async def test_an_answer_in_progress_ends_when_its_person_is_suspended(
    resource: Resource, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = asyncio.Event()

    async def think(*_: Any, **__: Any) -> AsyncIterator[AskEvent]:
        begun.set()
        await asyncio.Event().wait()
        yield  # type: ignore[misc]  # never reached

    answer_with(monkeypatch, think)
    call = {"name": "ask", "arguments": {"question": VAULT}}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
    asking = asyncio.create_task(resource.send(resource.provider.make_access_token("zoe", RESOURCE), message))
    await begun.wait()
    resource.kb.people.suspend("zoe")
    assert "suspended, during this answer" in (await asking).text


# -- audit and log ----------------------------------------------------------------------------------------------------


async def test_no_token_is_written_to_the_audit_or_the_log(
    opened: Callable[..., Any], provider: IdentityProvider, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    resource = await opened(provider, audit_reads=True, log_level="DEBUG")
    good = provider.make_access_token("zoe", RESOURCE, client="desk-assistant")
    wrong = [provider.make_access_token("zoe", "another"), make_unsigned_token({"sub": "zoe"}), good[:-9] + "AAAAAAAAA"]
    call = {"name": "open_document", "arguments": {"document": "vault-handbook.md"}}
    opening = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
    assert (await resource.send(good, opening)).status_code == 200
    for token in wrong:
        assert (await resource.send(token)).status_code == 401
    events = resource.list_events()
    written = caplog.text + json.dumps(events)
    for token in (good, *wrong):
        assert not any(part and part in written for part in token.split("."))
    read = next(one for one in events if one["class_name"] == "Web Resources Activity")
    assert read["actor"]["session"] == {"issuer": "token", "credential_uid": "desk-assistant"}
    assert (read["actor"]["app_name"], read["actor"]["user"]["name"]) == ("mcp", "zoe")
    refused = [one for one in events if one["api"]["operation"] == "access_token" and one["status"] == "Failure"]
    assert len(refused) == len(wrong) and "InvalidClaimError: aud" in refused[0]["status_detail"]


async def test_the_first_use_of_each_token_is_recorded_with_its_program(resource: Resource) -> None:
    provider, now = resource.provider, int(time.time())
    newest = provider.make_access_token("zoe", RESOURCE, client="desk-assistant")
    older = provider.make_access_token("zoe", RESOURCE, client="another", iat=now - 60)
    for token in (newest, older, newest, older):
        assert (await resource.send(token)).status_code == 200
    used = [one for one in resource.list_events() if one["api"]["operation"] == "access_token"]
    assert [one["user"]["name"] for one in used] == ["zoe", "zoe"]
    assert [one["actor"]["session"]["credential_uid"] for one in used] == ["desk-assistant", "another"]


async def test_the_log_says_why_a_token_of_the_provider_is_refused(
    resource: Resource, caplog: pytest.LogCaptureFixture
) -> None:
    await resource.enter(aud=["account", "x\n" * 500])
    await resource.send(make_unsigned_token({"aud": "forged"}))
    await resource.enter(exp=int(time.time()) - 600)
    await resource.enter(nonce="n")
    await resource.enter(preferred_username=None)
    await resource.send("opaque-token")
    audience, kind, name, opaque = [one for one in caplog.messages if one.startswith("an assistant")]
    assert "InvalidClaimError: aud" in audience and audience.endswith(f"has to be for '{RESOURCE}'.")
    assert "is for ['account', 'x\\nx" in audience and "\n" not in audience and len(audience) < 500
    assert "of another kind" in kind and "does not have your name ('preferred_username')" in name
    assert "is no signed JWT, so that Argot cannot check it" in opaque and RESOURCE in opaque


async def test_a_token_that_is_no_signed_jwt_is_refused_with_the_remedy(resource: Resource) -> None:
    # What only the provider can read, and an encrypted token.
    for token in ("x7Qh1n0ZrL", "a.b.c.d.e"):
        answer = await resource.send(token)
        assert answer.status_code == 401 and 'error="invalid_token"' in answer.headers["www-authenticate"]
        assert f"let the provider issue JWT access tokens for {RESOURCE}" in answer.text
    # No stranger can have the provider asked by such a token.
    assert resource.provider.asked == []


# -- settings ---------------------------------------------------------------------------------------------------------


def test_an_audience_without_an_address_is_refused() -> None:
    given = {"oidc_issuer": "https://login.example.com", "oidc_client_id": "argot", "oidc_client_secret": "s"}
    with pytest.raises(InvalidSettings, match="'public_url' is missing"):
        require_consistent(Settings(**given, oidc_audience="argot"), signing_in=True)  # type: ignore[arg-type]
