"""People and their rights, for administrators."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from fastapi import APIRouter, Request, Response
from pydantic import SecretStr

from argot.errors import Conflict, InvalidInput
from argot.service.json_values import read_dataclass_fields
from argot.service.knowledge_base import KnowledgeBase
from argot.service.sign_in.password_sign_in import SignInRefused
from argot.service.usecases.people.users import (
    EVERY_CONTEXT,
    ROLES,
    Role,
    UserWithPassword,
    user_add,
    user_end_sessions,
    user_list,
    user_password,
    user_restore,
    user_roles,
    user_sessions,
    user_set,
    user_suspend,
)
from argot.service.usecases.usecase_registry import find_choice
from argot.ui.pages.account_pages import Confirmation
from argot.ui.pages.form_fields import split_commas
from argot.ui.pages.page_base import BoundedRoute, Pages, link_person, read_form, redirect_to_address, show_page
from argot.ui.web.authorization import Visitor, Who, needs
from argot.ui.web.routers import make_router

PEOPLE = "/people"
MAX_PEOPLE = 200
FIELDS = ("name", "display_name", "groups", "role")
EMPTY_FORM: dict[str, Any] = {**dict.fromkeys(FIELDS, ""), "role": "asker", "manages": []}


class PeoplePages(Pages):
    """Access to the pages of people. Letting somebody in, or giving them rights, requires one's own password."""

    def __init__(self, kb: KnowledgeBase, confirmation: Confirmation) -> None:
        super().__init__(kb)
        self.confirmation = confirmation


def build_people_pages(kb: KnowledgeBase, confirmation: Confirmation) -> APIRouter:
    router = make_router(prefix=PEOPLE, route_class=BoundedRoute)
    pages = PeoplePages(kb, confirmation)
    _add_list(router, pages)
    _add_person(router, pages)
    return router


def _add_list(router: APIRouter, pages: PeoplePages) -> None:
    @router.get("")
    @needs("admin")
    async def people(request: Request, who: Who, q: str = "") -> Response:
        return await _render_list(pages, request, who, q=q)

    @router.post("")
    @needs("admin")
    async def add(request: Request, who: Who) -> Response:
        """Add a person. A generated password is shown on this page alone."""
        form = await read_form(request)
        person = await _read_person(request)
        password = _read_password(form)
        try:
            _require_contexts(person)
            await pages.confirmation.require(request, who)
            made = await user_add(
                pages.kb,
                who.principal,
                name=person["name"],
                display_name=person["display_name"],
                groups=_read_groups(person),
                role=_read_role(person),
                manages=person["manages"] if person["role"] == "manager" else None,
                password=password,
                # A typed password takes precedence over "make one up".
                make_password=form.get("way") == "made" and password is None,
                new=True,
                in_window=True,
            )
        except (InvalidInput, Conflict, SignInRefused) as error:
            return await _render_list(pages, request, who, person=person, error=error)
        if isinstance(made, UserWithPassword):
            return show_page("password.html", request, who, user=made, password=made.password, new=True)
        return redirect_to_address(link_person(made.name, done="person"))


def _add_person(router: APIRouter, pages: PeoplePages) -> None:
    @router.get("/{name}")
    @needs("admin")
    async def person(request: Request, who: Who, name: str) -> Response:
        return await _render_person(pages, request, who, name)

    @router.post("/{name}")
    @needs("admin")
    async def save(request: Request, who: Who, name: str) -> Response:
        person = await _read_person(request)

        async def change_settings() -> None:
            await pages.confirmation.require(request, who)
            await user_set(
                pages.kb,
                who.principal,
                name=name,
                display_name=person["display_name"],
                groups=_read_groups(person),
                role=_read_role(person),
                manages=person["manages"],
            )

        return await apply_change(request, who, name, "person", change_settings)

    @router.post("/{name}/password")
    @needs("admin")
    async def password(request: Request, who: Who, name: str) -> Response:
        form = await read_form(request)
        try:
            await pages.confirmation.require(request, who)
            made = await user_password(
                pages.kb, who.principal, name=name, password=_read_password(form), in_window=True
            )
        except (InvalidInput, SignInRefused) as error:
            return await _render_person(pages, request, who, name, error)
        if isinstance(made, UserWithPassword):
            return show_page("password.html", request, who, user=made, password=made.password, new=False)
        return redirect_to_address(link_person(name, done="password"))

    @router.post("/{name}/suspend")
    @needs("admin")
    async def suspend(request: Request, who: Who, name: str) -> Response:
        # Without a password: shutting somebody out must not be delayed. The same holds for signing them out.
        async def suspend_user() -> None:
            await user_suspend(pages.kb, who.principal, name=name)

        return await apply_change(request, who, name, "suspended", suspend_user)

    @router.post("/{name}/restore")
    @needs("admin")
    async def restore(request: Request, who: Who, name: str) -> Response:
        async def restore_user() -> None:
            await pages.confirmation.require(request, who)
            await user_restore(pages.kb, who.principal, name=name)

        return await apply_change(request, who, name, "restored", restore_user)

    @router.post("/{name}/sign-out")
    @needs("admin")
    async def sign_out(request: Request, who: Who, name: str) -> Response:
        async def end_sessions() -> None:
            await user_end_sessions(pages.kb, who.principal, name=name)

        return await apply_change(request, who, name, "signed-out", end_sessions)

    async def apply_change(
        request: Request, who: Visitor, name: str, what: str, change: Callable[[], Awaitable[object]]
    ) -> Response:
        try:
            await change()
        except (InvalidInput, SignInRefused) as error:
            return await _render_person(pages, request, who, name, error)
        return redirect_to_address(link_person(name, done=what))


async def _render_list(
    pages: PeoplePages,
    request: Request,
    who: Visitor,
    *,
    q: str = "",
    person: dict[str, Any] | None = None,
    error: Exception | None = None,
) -> Response:
    every = await user_list(pages.kb, who.principal)
    wanted = q.strip().casefold()
    found = [one for one in every if wanted in " ".join((one.name, one.display_name, *one.groups)).casefold()]
    first = not any(one.has_password for one in every)
    shown = {"people": found[:MAX_PEOPLE], "found": len(found), "total": len(every), "q": q, "first": first}
    # The first person with a password must be an administrator: from then on nobody gets in without one.
    values = person or {**EMPTY_FORM, "role": "admin" if first else "asker"}
    contexts = [one.name for one in await pages.contexts(who)]
    confirms = pages.confirmation.must_ask(who)
    return show_page(
        "people.html", request, who, **shown, given=values, error=error, contexts=contexts, confirms=confirms
    )


async def _render_person(
    pages: PeoplePages, request: Request, who: Visitor, name: str, error: Exception | None = None
) -> Response:
    user = await user_roles(pages.kb, who.principal, name=name)
    values = {**read_dataclass_fields(user), "groups": ", ".join(user.groups)}
    contexts = [one.name for one in await pages.contexts(who)]
    shown = {"user": user, "given": values, "contexts": contexts, "confirms": pages.confirmation.must_ask(who)}
    sessions = await user_sessions(pages.kb, who.principal, name=name)
    return show_page("person.html", request, who, error=error, **shown, sessions=sessions)


async def _read_person(request: Request) -> dict[str, Any]:
    """Read the fields that were typed; `manages` holds the ticked contexts, or only `*` for all of them."""
    form = await read_form(request)
    # From the form itself: `read_form` keeps only the first of several fields of one name.
    ticked = [str(one) for one in (await request.form()).getlist("manages")]
    person = {name: form.get(name, "").strip() for name in FIELDS}
    return {**person, "manages": [EVERY_CONTEXT] if EVERY_CONTEXT in ticked else ticked}


def _read_password(form: dict[str, str]) -> SecretStr | None:
    # A typed password counts even if its radio button was not chosen, unless "none" was.
    password, way = form.get("password", ""), form.get("way")
    return SecretStr(password) if way == "typed" or (password and way != "none") else None


def _read_groups(person: dict[str, Any]) -> list[str]:
    return split_commas(person["groups"])


def _read_role(person: dict[str, Any]) -> Role:
    return find_choice(ROLES, person["role"], "the role")


def _require_contexts(person: dict[str, Any]) -> None:
    # No tick must not mean all contexts, and a manager of none could do no more than ask.
    if person["role"] == "manager" and not person["manages"]:
        raise InvalidInput("Choose the contexts of this manager: some, or all of them.")
