"""Pages to write, change, approve and retire senses: they warn while somebody types, and never lose typed text."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

from fastapi import APIRouter, Request, Response

from argot.errors import Conflict, InvalidInput, NotAllowed
from argot.languages.catalogues import translate
from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases.glossary.history import glossary_since
from argot.service.usecases.glossary.impact import glossary_edit_effects, glossary_effects
from argot.service.usecases.glossary.proposal_results import ProposalShown
from argot.service.usecases.glossary.sense_results import SenseShown, WarningShown
from argot.service.usecases.glossary.senses import (
    NewSense,
    SenseFields,
    glossary_approve,
    glossary_draft,
    glossary_occurrences,
    glossary_retire,
    glossary_save,
    glossary_sense,
    glossary_warnings,
)
from argot.service.usecases.usecase_registry import UseCase
from argot.types import Sense
from argot.ui.pages.form_fields import (
    EMPTY_FORM,
    FIELDS,
    EditComparison,
    compare_fields,
    make_sense_input,
    merge_fields,
    read_typed,
    read_values,
    split_lines,
)
from argot.ui.pages.page_base import (
    HOME,
    BoundedRoute,
    Pages,
    parse_integer,
    read_form,
    redirect,
    render_part,
    show_page,
)
from argot.ui.translation.page_errors import translate_error
from argot.ui.web.authorization import Visitor, Who, needs
from argot.ui.web.routers import make_router

Decision = UseCase[..., SenseShown]


def build_sense_pages(kb: KnowledgeBase) -> APIRouter:
    router = make_router(prefix=HOME, route_class=BoundedRoute)
    pages = Pages(kb)
    _add_writing(router, pages)
    _add_changing(router, pages)
    _add_decisions(router, pages)
    return router


def _add_writing(router: APIRouter, pages: Pages) -> None:
    @router.get("/new")
    @needs("manager")
    async def new(request: Request, who: Who, term: str = "", context: str = "", expansion: str = "") -> Response:
        # Links fill in the form, as with a missed term and its likely context.
        typed = {**EMPTY_FORM, "term": term, "context": context, "expansion": expansion, "owner": who.name}
        return await render_form(pages, request, who, typed, action="/new")

    @router.post("/new")
    @needs("manager")
    async def add(request: Request, who: Who) -> Response:
        typed = read_typed(await read_form(request))
        try:
            sense = await glossary_draft(
                pages.kb, who.principal, sense=NewSense(**make_sense_input(typed)), why=typed["why"]
            )
        except (InvalidInput, Conflict, NotAllowed) as error:
            return await render_form(pages, request, who, typed, action="/new", error=error)
        return redirect(f"/sense/{sense.id}", done="draft")

    @router.post("/warnings")
    @needs("manager")
    async def warnings(request: Request, who: Who) -> Response:
        form = await read_form(request)
        typed = read_typed(form)
        # Without its id a stored sense would collide with itself.
        found = await _list_warnings(pages, who, typed, parse_integer(form.get("sense_id")))
        return render_part("warnings.html", warnings=found, typed=bool(typed["term"].strip()))


def _add_changing(router: APIRouter, pages: Pages) -> None:
    @router.get("/sense/{sense_id}/edit")
    @needs("manager")
    async def edit(request: Request, who: Who, sense_id: int) -> Response:
        sense = await glossary_sense(pages.kb, who.principal, sense_id=sense_id)
        return await render_form(pages, request, who, read_values(sense), action=make_action(sense_id), sense=sense)

    @router.post("/sense/{sense_id}/edit")
    @needs("manager")
    async def save(request: Request, who: Who, sense_id: int) -> Response:
        form = await read_form(request)
        typed, version = read_typed(form), parse_integer(form.get("version"))
        try:
            saved = await glossary_save(
                pages.kb, who.principal, sense_id=sense_id, version=version, sense=make_fields(typed), why=typed["why"]
            )
        except (Conflict, InvalidInput, NotAllowed) as error:
            return await render_unsaved(pages, request, who, typed, error, sense_id=sense_id, version=version)
        if saved.status == "approved":
            return redirect("/term", t=saved.term, done="saved")
        return redirect(f"/sense/{sense_id}", done="saved")

    @router.post("/sense/{sense_id}/preview")
    @needs("manager")
    async def preview(request: Request, who: Who, sense_id: int) -> Response:
        """Show how saving the form would change past questions, and one typed there. Nothing is stored."""
        form = await read_form(request)
        # The version that the form was opened with, so that a change since then is still noticed when it is saved.
        typed, version, q = read_typed(form), parse_integer(form.get("version")), form.get("q", "")[:4000]
        try:
            found = await glossary_edit_effects(
                pages.kb,
                who.principal,
                sense_id=sense_id,
                version=version,
                sense=make_fields(typed),
                questions=[q] if q.strip() else [],
            )
        except (Conflict, InvalidInput, NotAllowed) as error:
            if "hx-request" in request.headers:
                return render_part("effects_error.html", error=translate_error(error))
            return await render_unsaved(pages, request, who, typed, error, sense_id=sense_id, version=version)
        sense = await glossary_sense(pages.kb, who.principal, sense_id=sense_id)
        shown: dict[str, Any] = {"effects": found, "q": q, "after": translate("Once saved"), "form": "sense-form"}
        if "hx-request" in request.headers:
            return render_part("effects.html", sense=replace(sense, term=typed["term"]), **shown)
        here = replace(sense, version=version)
        return await render_form(pages, request, who, typed, action=make_action(sense_id), sense=here, tried=shown)


def _add_decisions(router: APIRouter, pages: Pages) -> None:
    @router.get("/sense/{sense_id}")
    @needs("manager")
    async def review(request: Request, who: Who, sense_id: int) -> Response:
        return await review_page(pages, request, who, sense_id)

    @router.get("/sense/{sense_id}/effects")
    @needs("manager")
    async def effects(request: Request, who: Who, sense_id: int, q: str = "", change: str = "approve") -> Response:
        """Show how approving (or retiring) would change past questions, and one typed here. This takes a moment."""
        questions = [q[:4000]] if q.strip() else []
        tried: Literal["approve", "retire"] = "retire" if change == "retire" else "approve"
        sense = await glossary_sense(pages.kb, who.principal, sense_id=sense_id)
        found = await glossary_effects(pages.kb, who.principal, sense_id=sense_id, questions=questions, change=tried)
        after = translate("Once retired") if tried == "retire" else translate("Once approved")
        shown: dict[str, Any] = {"effects": found, "sense": sense, "q": q, "after": after, "change": tried}
        if "hx-request" not in request.headers:
            return show_page("effects_page.html", request, who, **shown)
        return render_part("effects.html", **shown)

    @router.post("/sense/{sense_id}/approve")
    @needs("manager")
    async def approve(request: Request, who: Who, sense_id: int) -> Response:
        return await decide(request, who, sense_id, glossary_approve, "approved")

    @router.post("/sense/{sense_id}/retire")
    @needs("manager")
    async def retire(request: Request, who: Who, sense_id: int) -> Response:
        return await decide(request, who, sense_id, glossary_retire, "retired")

    async def decide(request: Request, who: Visitor, sense_id: int, decision: Decision, done: str) -> Response:
        form = await read_form(request)
        version, why = parse_integer(form.get("version")), form.get("why", "")
        try:
            sense = await decision(pages.kb, who.principal, sense_id=sense_id, version=version, why=why)
        except (Conflict, InvalidInput) as error:
            return await review_page(pages, request, who, sense_id, error=error, why=why)
        return redirect("/term", t=sense.term, done=done)


async def render_form(
    pages: Pages,
    request: Request,
    who: Visitor,
    typed: dict[str, str],
    *,
    action: str,
    sense: Sense | None = None,
    error: Exception | None = None,
    both: EditComparison[Sense] | None = None,
    proposal: ProposalShown | None = None,
    tried: dict[str, Any] | None = None,
) -> Response:
    """Render the form of a sense; after an error or a conflict it holds everything that was typed."""
    found = await _list_warnings(pages, who, typed, sense.id if sense else -1)
    other = error.current if isinstance(error, Conflict) and both is None else None
    return show_page(
        "sense_form.html",
        request,
        who,
        error=error,
        given=typed,
        fields=FIELDS,
        action=action,
        sense=sense,
        other=other,  # the sense that the error is about
        both=both,
        proposal=proposal,
        tried=tried,
        contexts=[one for one in await pages.contexts(who) if one.may_manage],
        warnings=found,
    )


async def review_page(
    pages: Pages, request: Request, who: Visitor, sense_id: int, *, error: Exception | None = None, why: str = ""
) -> Response:
    """Show a sense before it is approved: its fields, warnings about it, and its effect."""
    sense = await glossary_sense(pages.kb, who.principal, sense_id=sense_id)
    return show_page(
        "review.html",
        request,
        who,
        error=error,
        sense=sense,
        why=why,
        warnings=await _list_warnings(pages, who, read_values(sense), sense_id),
        places=await glossary_occurrences(pages.kb, who.principal, phrase=sense.expansion or sense.term, limit=4),
    )


async def render_unsaved(
    pages: Pages,
    request: Request,
    who: Visitor,
    typed: dict[str, str],
    error: Exception,
    *,
    sense_id: int,
    version: int,
) -> Response:
    """Render the form again; if somebody else has saved the sense meanwhile, with the fields that differ."""
    action = make_action(sense_id)
    if isinstance(error, Conflict):
        # Two kinds of conflict come here: somebody else saved this sense, or another sense has the same meaning.
        since = await glossary_since(pages.kb, who.principal, sense_id=sense_id, version=version)
        current = since.current
        if current.version != version:
            both = EditComparison(since, compare_fields(since, typed))
            kept = merge_fields(since, typed)
            return await render_form(pages, request, who, kept, action=action, sense=current, error=error, both=both)
    sense = await glossary_sense(pages.kb, who.principal, sense_id=sense_id)
    shown = replace(sense, version=version)
    return await render_form(pages, request, who, typed, action=action, sense=shown, error=error)


def make_action(sense_id: int) -> str:
    return f"/sense/{sense_id}/edit"


def make_fields(typed: dict[str, str]) -> SenseFields:
    # The form holds all fields of a sense: an emptied field must not become `None`, which means "unchanged".
    sense_fields = SenseFields(**make_sense_input(typed))
    return replace(sense_fields, review_by=sense_fields.review_by or "", audience=sense_fields.audience or [])


async def _list_warnings(pages: Pages, who: Visitor, typed: dict[str, str], sense_id: int) -> list[WarningShown]:
    # Called while somebody types, and so also before there is a term.
    if not typed["term"].strip():
        return []
    return await glossary_warnings(
        pages.kb,
        who.principal,
        term=typed["term"],
        context=typed["context"],
        expansion=typed["expansion"],
        aliases=split_lines(typed["aliases"]),
        sense_id=sense_id if sense_id >= 0 else None,
    )
