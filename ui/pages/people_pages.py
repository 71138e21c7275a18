"""People and what they may do: for administrators."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response

from argot.errors import Conflict, InvalidInput
from argot.service.identity.password_sign_in import SignInRefused
from argot.service.identity.people import EVERY_CONTEXT
from argot.service.knowledge_base import KnowledgeBase
from argot.ui.pages.account import Confirmation
from argot.ui.pages.form_fields import between_commas
from argot.ui.pages.page_base import BoundedRoute, Pages, Who, form_of, page, person_link, sent_to_address
from argot.ui.web.authorization import Visitor, needs

PEOPLE = "/people"
SHOWN = 200
FIELDS = ("name", "display_name", "groups", "role")
CONFIRMED = frozenset({"user_add", "user_set", "user_password", "user_restore"})
"""What lets somebody in, or further in. Shutting out is never held up."""
EMPTY: dict[str, Any] = {**dict.fromkeys(FIELDS, ""), "role": "asker", "manages": []}


class PeoplePages(Pages):
    """Use cases of people, on behalf of a visitor."""

    def __init__(self, kb: KnowledgeBase, confirmation: Confirmation) -> None:
        super().__init__(kb)
        self.confirmation = confirmation

    async def change(self, request: Request, who: Visitor, name: str, /, **parameters: Any) -> Any:
        """A use case that changes something; some take one's own password once more.

        Raises:
            SignInRefused: that is missing or wrong.
        """
        if name in CONFIRMED:
            await self.confirmation.require(request, who)
        return await self.call(who, name, **parameters)


def people_pages(kb: KnowledgeBase, confirmation: Confirmation) -> APIRouter:
    router = APIRouter(prefix=PEOPLE, route_class=BoundedRoute)
    pages = PeoplePages(kb, confirmation)
    _everybody(router, pages)
    _somebody(router, pages)
    return router


def _everybody(router: APIRouter, pages: PeoplePages) -> None:
    @router.get("")
    @needs("admin")
    async def people(request: Request, who: Who, q: str = "") -> Response:
        return await _list_page(pages, request, who, q=q)

    @router.post("")
    @needs("admin")
    async def add(request: Request, who: Who) -> Response:
        """A new person. A password that was made up is shown on this page alone."""
        form = await form_of(request)
        given = await _given(request)
        typed = _typed_password(form)
        chosen: dict[str, Any] = {"make_password": form.get("way") == "made" and not typed, **typed}
        try:
            _require_contexts(given)
            told = {"name": given["name"], "display_name": given["display_name"], "groups": _groups(given)}
            rights = {"role": given["role"], "manages": given["manages"] if given["role"] == "manager" else None}
            more = {**told, **rights, **chosen, "new": True, "in_window": True}
            made = await pages.change(request, who, "user_add", **more)
        except (InvalidInput, Conflict, SignInRefused) as error:
            return await _list_page(pages, request, who, given=given, error=error)
        if "password" in made:
            return page("password.html", request, who, user=made, password=made["password"], new=True)
        return sent_to_address(person_link(made["name"], done="person"))


def _somebody(router: APIRouter, pages: PeoplePages) -> None:
    @router.get("/{name}")
    @needs("admin")
    async def person(request: Request, who: Who, name: str) -> Response:
        return await _person_page(pages, request, who, name)

    @router.post("/{name}")
    @needs("admin")
    async def save(request: Request, who: Who, name: str) -> Response:
        given = await _given(request)
        told = {"display_name": given["display_name"], "groups": _groups(given), "role": given["role"]}
        return await done(request, who, name, "person", "user_set", **told, manages=given["manages"])

    @router.post("/{name}/password")
    @needs("admin")
    async def password(request: Request, who: Who, name: str) -> Response:
        form = await form_of(request)
        try:
            more = {**_typed_password(form), "in_window": True}
            made = await pages.change(request, who, "user_password", name=name, **more)
        except (InvalidInput, SignInRefused) as error:
            return await _person_page(pages, request, who, name, error)
        if "password" in made:
            return page("password.html", request, who, user=made, password=made["password"], new=False)
        return sent_to_address(person_link(name, done="password"))

    @router.post("/{name}/suspend")
    @needs("admin")
    async def suspend(request: Request, who: Who, name: str) -> Response:
        return await done(request, who, name, "suspended", "user_suspend")

    @router.post("/{name}/restore")
    @needs("admin")
    async def restore(request: Request, who: Who, name: str) -> Response:
        return await done(request, who, name, "restored", "user_restore")

    @router.post("/{name}/sign-out")
    @needs("admin")
    async def sign_out(request: Request, who: Who, name: str) -> Response:
        return await done(request, who, name, "signed-out", "user_end_sessions")

    async def done(request: Request, who: Visitor, name: str, what: str, case: str, **more: Any) -> Response:
        try:
            await pages.change(request, who, case, name=name, **more)
        except (InvalidInput, SignInRefused) as error:
            return await _person_page(pages, request, who, name, error)
        return sent_to_address(person_link(name, done=what))


async def _list_page(
    pages: PeoplePages,
    request: Request,
    who: Visitor,
    *,
    q: str = "",
    given: dict[str, Any] | None = None,
    error: Exception | None = None,
) -> Response:
    every = await pages.call(who, "user_list")
    wanted = q.strip().casefold()
    found = [one for one in every if wanted in " ".join((one["name"], one["display_name"], *one["groups"])).casefold()]
    first = not any(one["has_password"] for one in every)
    shown = {"people": found[:SHOWN], "found": len(found), "total": len(every), "q": q, "first": first}
    values = given or {**EMPTY, "role": "admin" if first else "asker"}
    contexts = [one["name"] for one in await pages.contexts(who)]
    confirms = pages.confirmation.asked_of(who)
    return page("people.html", request, who, **shown, given=values, error=error, contexts=contexts, confirms=confirms)


async def _person_page(
    pages: PeoplePages, request: Request, who: Visitor, name: str, error: Exception | None = None
) -> Response:
    user = await pages.call(who, "user_roles", name=name)
    values = {**user, "groups": ", ".join(user["groups"])}
    contexts = [one["name"] for one in await pages.contexts(who)]
    confirms = pages.confirmation.asked_of(who)
    shown = {"user": user, "given": values, "contexts": contexts, "confirms": confirms}
    sessions = await pages.call(who, "user_sessions", name=name)
    return page("person.html", request, who, error=error, **shown, sessions=sessions)


async def _given(request: Request) -> dict[str, Any]:
    """What was typed; `manages` holds the ticked contexts, `*` alone if all were chosen."""
    form = await form_of(request)
    ticked = [str(one) for one in (await request.form()).getlist("manages")]
    given = {name: form.get(name, "").strip() for name in FIELDS}
    return {**given, "manages": [EVERY_CONTEXT] if EVERY_CONTEXT in ticked else ticked}


def _typed_password(form: dict[str, str]) -> dict[str, str]:
    """What was typed counts, also where its button was not pressed, unless none at all is wanted."""
    given, way = form.get("password", ""), form.get("way")
    return {"password": given} if way == "typed" or (given and way != "none") else {}


def _groups(given: dict[str, Any]) -> list[str]:
    return between_commas(given["groups"])


def _require_contexts(given: dict[str, Any]) -> None:
    if given["role"] == "manager" and not given["manages"]:
        raise InvalidInput("Choose what this manager is to manage: some contexts, or all of them.")
