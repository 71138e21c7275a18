"""Rating studies, for managers of all contexts: creating them, inviting people, their progress and results."""

from __future__ import annotations

from typing import get_args
from urllib.parse import quote

from fastapi import APIRouter, Request, Response
from starlette.datastructures import UploadFile

from argot.errors import ArgotError, Conflict, InvalidInput, NotAllowed, NotFound
from argot.languages.catalogues import translate
from argot.ratings.pages.rating_charts import draw_mean_bar, draw_shares_bar
from argot.ratings.pages.rating_pages import RATINGS
from argot.ratings.usecases.questions import rating_create_from_thumbs
from argot.ratings.usecases.studies import (
    ASPECTS,
    Aspect,
    RatingForm,
    StudyForm,
    StudyKind,
    StudySummary,
    rating_close,
    rating_create,
    rating_export,
    rating_invite,
    rating_list,
    rating_remove,
    rating_reopen,
    rating_show,
    rating_uninvite,
)
from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases.usecase_registry import find_choice
from argot.ui.pages.form_fields import split_commas
from argot.ui.pages.page_base import BoundedRoute, read_form, redirect_to_address, show_page
from argot.ui.web.authorization import Visitor, Who, needs
from argot.ui.web.routers import make_router

MANAGE = f"{RATINGS}/manage"
FIELDS = ("name", "about", "aspects", "since", "kind")
WIDEST = "\n".join(f"{one.name}: {one.wording}" for one in ASPECTS)


def build_study_pages(kb: KnowledgeBase) -> APIRouter:
    router = make_router(prefix=MANAGE, route_class=BoundedRoute)
    _add_list_routes(router, kb)
    _add_study_routes(router, kb)
    _add_change_routes(router, kb)
    return router


def link_study(study: str, done: str = "") -> str:
    """Return the address of a study's page for managers."""
    return f"{MANAGE}/{quote(study, safe='')}" + (f"?done={done}" if done else "")


def _add_list_routes(router: APIRouter, kb: KnowledgeBase) -> None:
    @router.get("")
    @needs("manager")
    async def studies(request: Request, who: Who) -> Response:
        return await _render_list_page(kb, request, who)

    @router.post("")
    @needs("manager")
    async def make(request: Request, who: Who) -> Response:
        form = await read_form(request)
        typed = {name: form.get(name, "").strip() for name in FIELDS}
        fields: dict[str, object] = {**typed, "ranking": "ranking" in form}
        try:
            made = await _make_study(kb, request, who, form)
        except (InvalidInput, Conflict, NotAllowed) as error:
            return await _render_list_page(kb, request, who, fields, error)
        return redirect_to_address(link_study(made.name, "study-made"))


def _add_study_routes(router: APIRouter, kb: KnowledgeBase) -> None:
    @router.get("/{study}")
    @needs("manager")
    async def show(request: Request, who: Who, study: str) -> Response:
        return await _render_study_page(kb, request, who, study)

    @router.get("/{study}/export")
    @needs("manager")
    async def export(who: Who, study: str, form: str = "csv") -> Response:
        wanted = find_choice(get_args(RatingForm), form, "the form")
        found = await rating_export(kb, who.principal, study=study, form=wanted)
        headers = {"Content-Disposition": f'attachment; filename="{found.name}"', "Cache-Control": "no-store"}
        # Some spreadsheets read UTF-8 by its mark alone.
        mark = "\ufeff" if wanted == "csv" else ""
        return Response((mark + found.text).encode("utf-8"), media_type=found.media_type, headers=headers)


def _add_change_routes(router: APIRouter, kb: KnowledgeBase) -> None:
    @router.post("/{study}/invite")
    @needs("manager")
    async def invite(request: Request, who: Who, study: str) -> Response:
        people = (await read_form(request)).get("people", "")
        try:
            await rating_invite(kb, who.principal, study=study, people=split_commas(people.replace("\n", ",")))
        except (InvalidInput, NotFound) as error:
            return await _render_study_page(kb, request, who, study, error, people)
        return redirect_to_address(link_study(study, "study-invited"))

    @router.post("/{study}/uninvite")
    @needs("manager")
    async def uninvite(request: Request, who: Who, study: str) -> Response:
        person = (await read_form(request)).get("person", "")
        await rating_uninvite(kb, who.principal, study=study, people=[person])
        return redirect_to_address(link_study(study, "study-uninvited"))

    @router.post("/{study}/close")
    @needs("manager")
    async def close(who: Who, study: str) -> Response:
        await rating_close(kb, who.principal, study=study)
        return redirect_to_address(link_study(study, "study-closed"))

    @router.post("/{study}/reopen")
    @needs("manager")
    async def reopen(who: Who, study: str) -> Response:
        await rating_reopen(kb, who.principal, study=study)
        return redirect_to_address(link_study(study, "study-reopened"))

    @router.post("/{study}/remove")
    @needs("manager")
    async def remove(who: Who, study: str) -> Response:
        await rating_remove(kb, who.principal, study=study)
        return redirect_to_address(f"{MANAGE}?done=study-removed")


async def _render_list_page(
    kb: KnowledgeBase,
    request: Request,
    who: Visitor,
    given: dict[str, object] | None = None,
    error: ArgotError | None = None,
) -> Response:
    found = await rating_list(kb, who.principal)
    shown = given or {**dict.fromkeys(FIELDS, ""), "aspects": WIDEST, "ranking": True, "kind": "answers"}
    return show_page(
        "rating_studies.html", request, who, error=error, studies=found, given=shown, manage_link=link_study
    )


async def _render_study_page(  # noqa: PLR0917
    kb: KnowledgeBase, request: Request, who: Visitor, study: str, error: ArgotError | None = None, people: str = ""
) -> Response:
    found = await rating_show(kb, who.principal, study=study)
    tools = {"manage_link": link_study, "mean_bar": draw_mean_bar, "shares_bar": draw_shares_bar, "ratings": RATINGS}
    return show_page("rating_study.html", request, who, error=error, study=found, people=people, **tools)


async def _make_study(kb: KnowledgeBase, request: Request, who: Visitor, form: dict[str, str]) -> StudySummary:
    kind = find_choice(get_args(StudyKind), form.get("kind", "answers"), "what is judged")
    study = StudyForm(
        name=form.get("name", "").strip(),
        about=form.get("about", ""),
        # The field exists for every kind of judgement.
        aspects=_parse_aspects(form.get("aspects", "")) if kind == "answers" else None,
        ranking="ranking" in form,
        kind=kind,
    )
    if form.get("origin") == "thumbs":
        return await rating_create_from_thumbs(kb, who.principal, form=study, since=form.get("since", "").strip())
    file = (await request.form()).get("file")
    if not isinstance(file, UploadFile) or not file.filename:
        raise InvalidInput(translate("No file was chosen."))
    try:
        data = (await file.read()).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InvalidInput(translate("The file is not UTF-8 text. Save it as UTF-8, and choose it again.")) from None
    return await rating_create(kb, who.principal, form=study, data=data, readers_confirmed="confirmed" in form)


def _parse_aspects(text: str) -> list[Aspect]:
    """Parse aspects, one a line: its name, and behind a colon its meaning."""
    lines = [line.partition(":") for line in text.splitlines() if line.strip()]
    return [Aspect(name.strip(), wording.strip()) for name, _, wording in lines]
