"""Tests of the pages of people and roles, for administrators, without a browser."""

import re
import shutil
from collections.abc import AsyncIterator
from html import unescape
from pathlib import Path
from typing import Any

import httpx
import pytest
from desk import CSRF, at_desk
from fastapi import APIRouter

from argot.errors import NotAllowed
from argot.service.identity.people import make_local_principal
from argot.service.knowledge_base import KnowledgeBase
from argot.service.sign_in.password_sign_in import SignIn
from argot.service.usecases import catalogue
from argot.settings import Settings
from argot.types import Principal
from argot.ui.pages.account_pages import Confirmation
from argot.ui.pages.people_pages import build_people_pages

GOOD = "tilted copper llama 9"
MADE_UP = r"<code>([a-z2-9]{4}(?:-[a-z2-9]{4}){3})</code>"


@pytest.fixture
async def kb(tiny_home: Path, tmp_path: Path) -> AsyncIterator[KnowledgeBase]:
    home = shutil.copytree(tiny_home, tmp_path / "kb")
    async with KnowledgeBase.open(home, Settings(home=home)) as opened:
        yield opened


def pages_of(kb: KnowledgeBase) -> APIRouter:
    return build_people_pages(kb, Confirmation(kb, SignIn(kb), lambda request: "192.0.2.7"))


@pytest.fixture
async def local(kb: KnowledgeBase) -> AsyncIterator[httpx.AsyncClient]:
    """Provide a client of the local user, before anybody has a password."""
    async with at_desk(pages_of(kb), make_local_principal()) as client:
        yield client


async def post(client: httpx.AsyncClient, path: str = "", /, **fields: Any) -> httpx.Response:
    return await client.post(f"/people{path}", data={"csrf": CSRF, **fields})


async def test_the_first_user_with_a_password_must_be_an_administrator(
    kb: KnowledgeBase, local: httpx.AsyncClient
) -> None:
    assert "Nobody has a password yet" in (await local.get("/people")).text
    locked = await post(local, name="ann", role="asker", way="made")
    assert locked.status_code == 400 and "has to be an administrator" in locked.text
    assert kb.people.find("ann") is None
    assert (await post(local, name="ann", role="asker", way="none")).status_code == 303
    assert "has to be an administrator" in (await post(local, "/ann/password", way="made")).text
    made = await post(local, name="ada", role="admin", way="made")
    assert re.search(MADE_UP, made.text)
    assert (await post(local, "/ann/password", way="made")).status_code == 200


async def test_a_generated_password_is_shown_once_and_is_valid(kb: KnowledgeBase, local: httpx.AsyncClient) -> None:
    made = await post(local, name="ada", display_name="Ada L.", role="admin", way="made", groups="hr, legal")
    found = re.search(MADE_UP, made.text)
    assert found and made.headers["cache-control"] == "no-store"
    assert kb.people.check_password("ada", found[1])
    user = kb.people.user("ada")
    assert (user.display_name, user.groups, user.role) == ("Ada L.", ("hr", "legal"), "admin")
    for path in ("/people", "/people/ada"):
        assert found[1] not in (await local.get(path)).text
    again = re.search(MADE_UP, (await post(local, "/ada/password", way="made")).text)
    assert again and again[1] != found[1] and not kb.people.check_password("ada", found[1])
    weak = await post(local, "/ada/password", way="typed", password="short")
    assert weak.status_code == 400 and "short" not in re.sub("<input[^>]*>", "", weak.text)


async def test_roles_contexts_and_groups_are_set_by_the_form(kb: KnowledgeBase, local: httpx.AsyncClient) -> None:
    await post(local, name="leo", role="manager", manages=["NAND", "Legal"], groups="a, b", way="none")
    assert kb.people.user("leo").manages == ("Legal", "NAND")
    page = (await local.get("/people/leo")).text
    assert re.findall(r'value="(\S+)" checked', page.split("Password")[0]) == ["manager", "Legal", "NAND"]
    assert (await post(local, "/leo", role="manager", manages=["Legal"], groups="b, c")).status_code == 303
    user = kb.people.user("leo")
    assert (user.manages, user.groups) == (("Legal",), ("b", "c"))
    assert "Choose the contexts that leo manages" in (await post(local, "/leo", role="manager")).text
    assert "There is no context" in unescape((await post(local, "/leo", role="manager", manages=["Nowhere"])).text)
    await post(local, "/leo", role="manager", manages=["*", "Legal"], groups="b")
    assert kb.people.user("leo").manages == ("*",)
    await post(local, "/leo", role="asker", manages=["*"])
    assert (kb.people.user("leo").role, kb.people.user("leo").groups) == ("asker", ())


async def test_suspending_restoring_and_signing_out_take_effect_at_once(
    kb: KnowledgeBase, local: httpx.AsyncClient
) -> None:
    await post(local, name="ada", role="admin", way="typed", password=GOOD)
    token = kb.people.sessions.begin("ada", "10.0.0.9", "<b>Browser")
    page = (await local.get("/people/ada")).text
    assert "10.0.0.9" in page and "&lt;b&gt;Browser" in page
    assert (await post(local, "/ada/sign-out")).headers["location"] == "/people/ada?done=signed-out"
    assert kb.people.sessions.find(token) is None
    token = kb.people.sessions.begin("ada")
    await post(local, "/ada/suspend")
    assert kb.people.sessions.find(token) is None and kb.people.user("ada").suspended_at
    assert "suspended" in (await local.get("/people")).text
    await post(local, "/ada/restore")
    assert not kb.people.user("ada").suspended_at


async def test_an_administrator_cannot_lock_themselves_out(kb: KnowledgeBase) -> None:
    kb.people.add("ada")
    kb.people.set_role("ada", "admin")
    async with at_desk(pages_of(kb), kb.people.principal("ada")) as ada:
        for path, fields in (("/suspend", {}), ("", {"role": "asker"}), ("", {"role": "manager", "manages": "*"})):
            refused = await post(ada, f"/ada{path}", **fields)
            assert refused.status_code == 400 and "another administrator" in refused.text
        assert (await post(ada, "/ada", role="admin", groups="hr")).status_code == 303
    user = kb.people.user("ada")
    assert (user.role, user.suspended_at, user.groups) == ("admin", None, ("hr",))


async def test_an_invalid_name_is_reported_and_the_form_kept(kb: KnowledgeBase, local: httpx.AsyncClient) -> None:
    hostile = "<script>alert(1)</script>"
    for name in (hostile, "", "@x", "a/b", "x" * 65, "\x00", "a\nb", "local"):
        answer = await post(local, name=name, display_name=hostile, groups="hr", role="asker", way="none")
        assert answer.status_code == 400, name
        assert "<script>alert" not in answer.text and 'value="hr"' in answer.text
    assert (await post(local, name="ann", role="king", way="none")).status_code == 400
    await post(local, name="ann", display_name=hostile, role="asker", way="none")
    assert (await post(local, name="ann", role="asker", way="none")).status_code == 409
    for path in ("/people", "/people/ann", "/people?q=%3Cscript%3E"):
        answer = await local.get(path)
        assert answer.status_code == 200 and "<script>alert" not in answer.text
    for name in ("nobody", "%00", "x" * 500):
        assert (await local.get(f"/people/{name}")).status_code in (400, 404)
        for what in ("", "/suspend", "/password", "/restore", "/sign-out"):
            assert (await post(local, f"/{name}{what}", role="asker", way="made")).status_code in (400, 404)


async def test_use_cases_of_people_require_an_administrator(kb: KnowledgeBase) -> None:
    kb.people.add("ann")
    for case in ("user_set", "user_password", "user_add", "user_suspend"):
        with pytest.raises(NotAllowed):
            await catalogue.get_result(kb, Principal("leo", frozenset({"managers"})), case, name="ann", role="asker")


async def test_giving_a_person_more_access_requires_ones_own_password(kb: KnowledgeBase) -> None:
    """Check that a session alone is not enough, since a foreign page may use it together with the CSRF token."""
    for name, role in (("ada", "admin"), ("eve", "asker")):
        kb.people.add(name)
        kb.people.set_role(name, role)
    kb.people.set_password("ada", GOOD)
    kb.people.suspend("eve")
    dangerous: tuple[tuple[str, dict[str, Any]], ...] = (
        ("", {"name": "mal", "role": "admin", "way": "none"}),
        ("/eve", {"role": "admin", "groups": "vault"}),
        ("/eve/password", {"way": "typed", "password": "seven quiet harbours"}),
        ("/eve/restore", {}),
    )
    async with at_desk(pages_of(kb), kb.people.principal("ada")) as ada:
        for path, fields in dangerous:
            for given in ({}, {"your_password": ""}):
                refused = await post(ada, path, **fields, **given)
                assert refused.status_code == 403 and "Type your own password too" in refused.text, path
        assert "is wrong" in (await post(ada, "/eve", role="admin", your_password="wrong")).text
        eve = kb.people.user("eve")
        assert (eve.role, eve.groups, eve.has_password, kb.people.find("mal")) == ("asker", (), False, None)
        assert eve.suspended_at
        for path, fields in dangerous:
            done = await post(ada, path, **fields, your_password=GOOD)
            assert done.status_code == 303 and GOOD not in done.text, path
        eve = kb.people.user("eve")
        assert (eve.role, eve.groups, eve.has_password, eve.suspended_at) == ("admin", ("vault",), True, None)
        assert (await post(ada, "/eve/suspend")).status_code == 303  # suspending needs no password
        page = (await ada.get("/people/eve")).text
        assert page.count('name="your_password"') == 3 and GOOD not in page
        for _ in range(9):
            last = await post(ada, "/eve/restore", your_password="guessed")
        assert "Too many attempts" in last.text and kb.people.user("eve").suspended_at


async def test_an_administrator_without_a_password_is_not_asked_for_one(
    kb: KnowledgeBase, local: httpx.AsyncClient
) -> None:
    """Check the local user, and administrators signed in by a proxy."""
    kb.people.add("pia")
    kb.people.set_role("pia", "admin")
    async with at_desk(pages_of(kb), kb.people.principal("pia")) as pia:
        for client in (local, pia):
            assert "your_password" not in (await client.get("/people/pia")).text
            name = f"new-{client is pia}".lower()
            assert (await post(client, name=name, role="admin", way="none")).status_code == 303
