"""Tests of SCIM: the protocol's own tester, the requests of Entra and Okta, and requests that must be refused."""

import asyncio
import json
import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import httpx2
import pytest
from api_site import URL, Site

from argot.service.knowledge_base import KnowledgeBase
from argot.settings import Settings

USER = "urn:ietf:params:scim:schemas:core:2.0:User"
GROUP = "urn:ietf:params:scim:schemas:core:2.0:Group"
ERROR = "urn:ietf:params:scim:api:messages:2.0:Error"
PATCH = "urn:ietf:params:scim:api:messages:2.0:PatchOp"


@pytest.fixture
async def site(tiny_home: Path, tmp_path: Path) -> AsyncIterator[Site]:
    home = Path(shutil.copytree(tiny_home, tmp_path / "kb"))
    async with KnowledgeBase.open(home, Settings(home=home, oidc_groups="CN=Legal=legal, Bosses=managers")) as kb:
        for name in ("ann", "root"):
            kb.people.add(name)
        kb.people.set_role("root", "admin")
        yield Site(kb)


class Provider:
    """An identity provider that sends requests with an administrator's key."""

    def __init__(self, site: Site, who: str = "root") -> None:
        self.people = site.kb.people
        transport = httpx.ASGITransport(site.guard, raise_app_exceptions=False)
        headers = {"Authorization": f"Bearer {site.key(who)}", "Content-Type": "application/scim+json; charset=utf-8"}
        self.http = httpx.AsyncClient(transport=transport, base_url=f"{URL}/scim/v2", headers=headers)

    async def send(self, method: str, path: str, body: Any = None, expect: int = 200) -> Any:
        answer = await self.http.request(method, path, content=None if body is None else json.dumps(body))
        assert answer.status_code == expect, answer.text
        assert not answer.content or answer.headers["content-type"] == "application/scim+json"
        return answer.json() if answer.content else None

    async def user(self, user_name: str, **more: Any) -> str:
        made = await self.send("POST", "/Users", {"schemas": [USER], "userName": user_name, **more}, 201)
        return str(made["id"])

    async def group(self, name: str, *members: str) -> str:
        sent = {"schemas": [GROUP], "displayName": name, "members": [{"value": one} for one in members]}
        return str((await self.send("POST", "/Groups", sent, 201))["id"])

    async def patch(self, path: str, *operations: dict[str, Any], expect: int = 200) -> Any:
        return await self.send("PATCH", path, {"schemas": [PATCH], "Operations": operations}, expect)

    def groups_of(self, name: str) -> tuple[str, ...]:
        return self.people.user(name).groups


class FromThread(httpx2.BaseTransport):
    """A transport for a client in a thread to an application in the event loop."""

    def __init__(self, site: Site) -> None:
        self._loop, self._to = asyncio.get_running_loop(), httpx2.ASGITransport(site.guard)

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        async def answered() -> httpx2.Response:
            answer = await self._to.handle_async_request(request)
            return httpx2.Response(answer.status_code, headers=answer.headers, content=await answer.aread())

        return asyncio.run_coroutine_threadsafe(answered(), self._loop).result()


async def test_the_scim_protocol_tester_finds_no_fault(site: Site) -> None:
    # Imported here, because every process that shares the tests collects this file, and these take three seconds.
    from scim2_client.engines.httpx2 import SyncSCIMClient
    from scim2_tester import Status, check_server

    headers = {"Authorization": f"Bearer {site.key('root')}"}
    http = httpx2.Client(transport=FromThread(site), base_url=f"{URL}/scim/v2", headers=headers)
    results = await asyncio.to_thread(check_server, SyncSCIMClient(http))
    amiss = [(one.title, one.reason) for one in results if one.status not in (Status.SUCCESS, Status.SKIPPED)]
    # A user without a state is active: there is no third state.
    known = ("check_remove_attribute", "PATCH modify() did not remove attribute 'active'")
    amiss = [one for one in amiss if one != known]
    assert not amiss, "\n".join(map(str, amiss))
    assert len(results) > 50


async def test_users_and_groups_of_entra_are_provisioned(site: Site) -> None:
    entra = Provider(site)
    found = await entra.send("GET", '/Users?filter=userName eq "Bea@example.com"')
    assert found["totalResults"] == 0
    bea = await entra.user(
        "bea@example.com", externalId="b-1", active=True, name={"givenName": "Bea"}, displayName="Bea <b>B</b>",
        emails=[{"primary": True, "type": "work", "value": "bea@example.com"}],
    )  # fmt: skip
    found = await entra.send("GET", '/Users?filter=userName eq "BEA@EXAMPLE.COM"')
    assert [one["id"] for one in found["Resources"]] == [bea]
    legal = await entra.group("CN=Legal")
    await entra.patch(f"/Groups/{legal}", {"op": "Add", "path": "members", "value": [{"value": bea}]})
    assert entra.groups_of("bea@example.com") == ("legal",)
    shown = await entra.send("GET", f"/Groups/{legal}?excludedAttributes=members")
    assert "members" not in shown and shown["displayName"] == "CN=Legal"
    assert (await entra.send("GET", f"/Users/{bea}"))["groups"][0]["display"] == "CN=Legal"
    await entra.patch(f"/Groups/{legal}", {"op": "Remove", "path": "members", "value": [{"value": bea}]})
    assert entra.groups_of("bea@example.com") == ()
    await entra.patch(f"/Users/{bea}", {"op": "Replace", "path": "active", "value": "False"})
    assert entra.people.user("bea@example.com").suspended_at
    await entra.patch(f"/Users/{bea}", {"op": "replace", "value": {"active": "True", "displayName": "B"}})
    user = entra.people.user("bea@example.com")
    assert not user.suspended_at and user.display_name == "B"


async def test_users_and_groups_of_okta_are_provisioned(site: Site) -> None:
    okta = Provider(site)
    ids = [await okta.user(f"person{number}") for number in range(3)]
    crew = await okta.group("Crew", *ids)
    assert okta.groups_of("person1") == ("Crew",)
    sent = {"schemas": [GROUP], "id": crew, "displayName": "Night crew", "members": [{"value": ids[1]}]}
    await okta.send("PUT", f"/Groups/{crew}", sent)
    assert [okta.groups_of(f"person{number}") for number in range(3)] == [(), ("Night crew",), ()]
    await okta.patch(f"/Groups/{crew}", {"op": "remove", "path": f'members[value eq "{ids[1]}"]'})
    assert okta.groups_of("person1") == ()
    page = await okta.send("GET", "/Users?startIndex=2&count=1")
    assert (page["totalResults"], page["startIndex"], page["itemsPerPage"]) == (3, 2, 1)
    assert page["Resources"][0]["userName"] == "person1"
    await okta.send("PUT", f"/Users/{ids[0]}", {"schemas": [USER], "userName": "person0", "active": False})
    assert okta.people.user("person0").suspended_at
    await okta.send("PUT", f"/Users/{ids[0]}", {"schemas": [USER], "userName": "person0", "displayName": "P"})
    assert okta.people.user("person0").suspended_at


async def test_a_removed_user_is_suspended_at_once_and_keeps_their_data(site: Site) -> None:
    provider = Provider(site)
    ann = await provider.user("ann")  # ann already exists here and has a key
    group = await provider.group("Crew", ann)
    key = {"Authorization": f"Bearer {site.key('ann')}"}
    transport = httpx.ASGITransport(site.guard)
    async with httpx.AsyncClient(transport=transport, base_url=URL, headers=key) as hers:
        assert (await hers.get("/api/me")).json()["groups"] == ["Crew"]
        await provider.patch(f"/Groups/{group}", {"op": "replace", "path": "members", "value": []})
        assert (await hers.get("/api/me")).json()["groups"] == []
        await provider.send("DELETE", f"/Users/{ann}", expect=204)
        assert (await hers.get("/api/me")).status_code == 401
    await provider.send("GET", f"/Users/{ann}", expect=404)
    assert provider.people.user("ann").suspended_at
    again = await provider.user("ann")
    assert again != ann and not provider.people.user("ann").suspended_at


async def test_a_user_suspended_here_stays_suspended_whatever_the_provider_says(site: Site) -> None:
    provider = Provider(site)
    provider.people.suspend("ann")
    ann = await provider.user("ann", active=True)
    for active in (False, True):
        await provider.patch(f"/Users/{ann}", {"op": "replace", "path": "active", "value": active})
    assert provider.people.user("ann").suspended_at


@pytest.mark.parametrize("restored_here", [False, True])
async def test_a_user_suspended_here_after_the_provider_did_stays_suspended(site: Site, restored_here: bool) -> None:
    provider = Provider(site)
    ann = await provider.user("ann", active=False)
    if restored_here:
        provider.people.restore("ann")
    await asyncio.sleep(0.002)  # times have a resolution of one millisecond
    provider.people.suspend("ann")
    await provider.patch(f"/Users/{ann}", {"op": "replace", "path": "active", "value": True})
    assert provider.people.user("ann").suspended_at


async def test_user_names_that_differ_in_case_are_matched_exactly(site: Site) -> None:
    provider = Provider(site)
    # Such names could be added before they were refused.
    provider.people.database.write("INSERT INTO users (name, created_at) VALUES ('Ann', '2026-01-01')")
    await provider.user("ann", active=False)
    assert provider.people.user("ann").suspended_at and not provider.people.user("Ann").suspended_at


async def test_concurrent_changes_of_one_group_lose_no_member(site: Site) -> None:
    provider = Provider(site)
    ids = [await provider.user(f"person{number}") for number in range(8)]
    crew = await provider.group("Crew")
    add = [{"op": "add", "path": "members", "value": [{"value": one}]} for one in ids]
    await asyncio.gather(*(provider.patch(f"/Groups/{crew}", one) for one in add))
    assert len((await provider.send("GET", f"/Groups/{crew}"))["members"]) == 8


async def test_two_administrators_cannot_remove_each_other_at_once(site: Site) -> None:
    site.kb.people.add("boss")
    site.kb.people.set_role("boss", "admin")
    one, other = Provider(site), Provider(site, "boss")
    root, boss = await one.user("root"), await one.user("boss")
    await asyncio.gather(one.http.delete(f"/Users/{boss}"), other.http.delete(f"/Users/{root}"))
    assert [bool(one.people.user(name).suspended_at) for name in ("root", "boss")].count(True) == 1


async def test_two_provider_groups_with_one_name_keep_their_own_members(site: Site) -> None:
    provider = Provider(site)
    ann = await provider.user("ann")
    one, other = await provider.group("CN=Legal", ann), await provider.group("legal", ann)
    await provider.send("DELETE", f"/Groups/{one}", expect=204)
    assert provider.groups_of("ann") == ("legal",)
    await provider.send("DELETE", f"/Groups/{other}", expect=204)
    assert provider.groups_of("ann") == ()


async def test_invalid_scim_requests_are_refused(site: Site) -> None:
    provider = Provider(site)
    ann, root = await provider.user("ann"), await provider.user("root")
    for method, path, body, expect, said in (
        ("POST", "/Users", {"schemas": [USER], "userName": "ANN"}, 409, "uniqueness"),
        ("POST", "/Users", {"schemas": [USER], "userName": "<script>"}, 400, "cannot be the name"),
        ("POST", "/Users", {"schemas": [USER]}, 400, "userName"),
        ("POST", "/Users", [1], 400, ""),
        ("PUT", f"/Users/{ann}", {"schemas": [USER], "userName": "eve"}, 400, "mutability"),
        (
            "PATCH",
            f"/Users/{ann}",
            {"schemas": [PATCH], "Operations": [{"op": "replace", "value": {"active": "yes?"}}]},
            400,
            "boolean",
        ),
        ("DELETE", f"/Users/{root}", None, 403, "is the owner of this key"),
        ("POST", "/Groups", {"schemas": [GROUP], "displayName": "managers"}, 400, "oidc_groups"),
        ("POST", "/Groups", {"schemas": [GROUP], "displayName": "A", "members": [{"value": "x"}]}, 404, "before their"),
        ("GET", "/Users?filter=userName%20eq", None, 400, "invalidFilter"),
        ("GET", "/Users/nobody", None, 404, "nobody"),
        ("GET", "/Schemas/nothing", None, 404, "nothing"),
    ):
        told = await provider.send(method, path, body, expect)
        assert said in json.dumps(told) and told["status"] == str(expect)
    assert not provider.people.user("ann").suspended_at
    broken = await provider.http.post("/Users", content=b"{")
    assert broken.status_code == 400 and broken.json()["scimType"] == "invalidSyntax"
    assert provider.people.find("eve") is None and not provider.people.user("root").suspended_at
    assert {one.name for one in provider.people.users()} == {"ann", "root"}


@pytest.mark.parametrize(
    "text",
    [
        b"[" * 200_000,
        b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
        b'{"schemas": ["%s"], "userName": "eve", "displayName": "\\ud800"}' % USER.encode(),
        b'{"schemas": ["%s"], "userName": "eve", "externalId": "\\u0000"}' % USER.encode(),
    ],
)
async def test_text_that_cannot_be_read_or_stored_is_refused(site: Site, text: bytes) -> None:
    provider = Provider(site)
    answer = await provider.http.post("/Users", content=text)
    assert answer.status_code == 400 and answer.json()["scimType"] == "invalidSyntax"
    assert provider.people.find("eve") is None


async def test_requests_that_would_take_minutes_are_refused(site: Site) -> None:
    provider = Provider(site)
    group = await provider.group("Crew")
    one = {"op": "add", "path": "members", "value": [{"value": "x"}]}
    assert "operations" in (await provider.patch(f"/Groups/{group}", *[one] * 1001, expect=400))["detail"]
    long = {"filter": " or ".join(['userName eq "ann"'] * 1000)}
    assert (await provider.send("POST", "/Users/.search", long, 400))["scimType"] == "tooMany"


async def test_scim_needs_an_administrators_key_and_errors_have_its_form(site: Site) -> None:
    provider = Provider(site)
    assert (await Provider(site, "ann").send("GET", "/Users", expect=403))["status"] == "403"
    assert "PATCH" in (await provider.send("PATCH", "/Users", {}, expect=405))["detail"]
    plain = await provider.http.post("/Users", content=b"x", headers={"Content-Type": "text/plain"})
    assert plain.status_code == 415 and plain.json()["schemas"] == [ERROR] and "json" in plain.json()["detail"]
    provider.http.headers["Authorization"] = "Bearer argot_x"
    told = await provider.send("GET", "/Users", expect=401)
    assert told["schemas"] == [ERROR] and told["detail"]
