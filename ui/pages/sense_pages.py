"""Writing a sense down, changing it, and letting it answer: with warnings as one types, and nothing typed ever lost."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response

from argot.errors import Conflict, InvalidInput, NotAllowed
from argot.service.knowledge_base import KnowledgeBase
from argot.ui.pages.form_fields import EMPTY, FIELDS, compared, merged, parameters, typed, values_of
from argot.ui.pages.page_base import HOME, BoundedRoute, Pages, Who, form_of, number, page, part, sent_to
from argot.ui.web.authorization import Visitor, needs

EFFECTS = "glossary_effects"
EDIT_EFFECTS = "glossary_edit_effects"


def sense_pages(kb: KnowledgeBase) -> APIRouter:
    router = APIRouter(prefix=HOME, route_class=BoundedRoute)
    pages = Pages(kb)
    _writing(router, pages)
    _changing(router, pages)
    _deciding(router, pages)
    return router


def _writing(router: APIRouter, pages: Pages) -> None:
    @router.get("/new")
    @needs("manager")
    async def new(request: Request, who: Who, term: str = "", context: str = "", expansion: str = "") -> Response:
        given = {**EMPTY, "term": term, "context": context, "expansion": expansion, "owner": who.name}
        return await form_page(pages, request, who, given, action="/new")

    @router.post("/new")
    @needs("manager")
    async def add(request: Request, who: Who) -> Response:
        given = typed(await form_of(request))
        try:
            sense = await pages.call(who, "glossary_draft", **parameters(given))
        except (InvalidInput, Conflict, NotAllowed) as error:
            return await form_page(pages, request, who, given, action="/new", error=error)
        return sent_to(f"/sense/{sense['id']}", done="draft")

    @router.post("/warnings")
    @needs("manager")
    async def warnings(request: Request, who: Who) -> Response:
        form = await form_of(request)
        given = typed(form)
        found = await _warnings(pages, who, given, number(form.get("sense_id")))
        return part("warnings.html", warnings=found, typed=bool(given["term"].strip()))


def _changing(router: APIRouter, pages: Pages) -> None:
    @router.get("/sense/{sense_id}/edit")
    @needs("manager")
    async def edit(request: Request, who: Who, sense_id: int) -> Response:
        sense = await pages.call(who, "glossary_sense", sense_id=sense_id)
        return await form_page(pages, request, who, values_of(sense), action=action_of(sense_id), sense=sense)

    @router.post("/sense/{sense_id}/edit")
    @needs("manager")
    async def save(request: Request, who: Who, sense_id: int) -> Response:
        form = await form_of(request)
        given, version = typed(form), number(form.get("version"))
        try:
            told = {**whole(given), "why": given["why"]}
            saved = await pages.call(who, "glossary_save", sense_id=sense_id, version=version, **told)
        except (Conflict, InvalidInput, NotAllowed) as error:
            return await not_saved(pages, request, who, given, error, sense_id=sense_id, version=version)
        if saved["status"] == "approved":
            return sent_to("/term", t=saved["term"], done="saved")
        return sent_to(f"/sense/{sense_id}", done="saved")

    @router.post("/sense/{sense_id}/preview")
    @needs("manager")
    async def preview(request: Request, who: Who, sense_id: int) -> Response:
        """What saving the form would change in past questions, and in one typed there. Nothing is stored."""
        form = await form_of(request)
        given, version, q = typed(form), number(form.get("version")), form.get("q", "")[:4000]
        try:
            told = {**whole(given), "questions": [q] if q.strip() else []}
            found = await pages.call(who, EDIT_EFFECTS, sense_id=sense_id, version=version, **told)
        except (Conflict, InvalidInput, NotAllowed) as error:
            if "hx-request" in request.headers:
                return part("effects_error.html", error=str(error))
            return await not_saved(pages, request, who, given, error, sense_id=sense_id, version=version)
        sense = await pages.call(who, "glossary_sense", sense_id=sense_id)
        shown = {"effects": found, "q": q, "after": "Once saved", "form": "sense-form"}
        if "hx-request" in request.headers:
            return part("effects.html", sense={**sense, "term": given["term"]}, **shown)
        here = {**sense, "version": version}
        return await form_page(pages, request, who, given, action=action_of(sense_id), sense=here, tried=shown)


def _deciding(router: APIRouter, pages: Pages) -> None:
    @router.get("/sense/{sense_id}")
    @needs("manager")
    async def review(request: Request, who: Who, sense_id: int) -> Response:
        return await review_page(pages, request, who, sense_id)

    @router.get("/sense/{sense_id}/effects")
    @needs("manager")
    async def effects(request: Request, who: Who, sense_id: int, q: str = "", change: str = "approve") -> Response:
        """What approving (or retiring) would change in past questions, and in one typed here. It takes a moment."""
        given = [q[:4000]] if q.strip() else []
        change = "retire" if change == "retire" else "approve"
        sense = await pages.call(who, "glossary_sense", sense_id=sense_id)
        found = await pages.call(who, EFFECTS, sense_id=sense_id, questions=given, change=change)
        shown = {"effects": found, "sense": sense, "q": q, "after": f"Once {change}d", "change": change}
        if "hx-request" not in request.headers:
            return page("effects_page.html", request, who, **shown)
        return part("effects.html", **shown)

    @router.post("/sense/{sense_id}/approve")
    @needs("manager")
    async def approve(request: Request, who: Who, sense_id: int) -> Response:
        return await decide(request, who, sense_id, "approve", "approved")

    @router.post("/sense/{sense_id}/retire")
    @needs("manager")
    async def retire(request: Request, who: Who, sense_id: int) -> Response:
        return await decide(request, who, sense_id, "retire", "retired")

    async def decide(request: Request, who: Visitor, sense_id: int, what: str, done: str) -> Response:
        form = await form_of(request)
        version, why = number(form.get("version")), form.get("why", "")
        try:
            sense = await pages.call(who, f"glossary_{what}", sense_id=sense_id, version=version, why=why)
        except (Conflict, InvalidInput) as error:
            return await review_page(pages, request, who, sense_id, error=error, why=why)
        return sent_to("/term", t=sense["term"], done=done)


async def form_page(
    pages: Pages,
    request: Request,
    who: Visitor,
    given: dict[str, str],
    *,
    action: str,
    sense: dict[str, Any] | None = None,
    error: Exception | None = None,
    both: dict[str, Any] | None = None,
    proposal: dict[str, Any] | None = None,
    tried: dict[str, Any] | None = None,
) -> Response:
    """The form of a sense, filled in; after an error or a conflict with all that was typed."""
    found = await _warnings(pages, who, given, sense["id"] if sense else -1)
    other = error.current if isinstance(error, Conflict) and both is None else None
    return page(
        "sense_form.html",
        request,
        who,
        error=error,
        given=given,
        fields=FIELDS,
        action=action,
        sense=sense,
        other=other,
        both=both,
        proposal=proposal,
        tried=tried,
        contexts=[one for one in await pages.contexts(who) if one["may_manage"]],
        warnings=found,
    )


async def review_page(
    pages: Pages, request: Request, who: Visitor, sense_id: int, *, error: Exception | None = None, why: str = ""
) -> Response:
    """A sense before it is approved: what it says, what speaks against it, what it would change."""
    sense = await pages.call(who, "glossary_sense", sense_id=sense_id)
    return page(
        "review.html",
        request,
        who,
        error=error,
        sense=sense,
        why=why,
        warnings=await _warnings(pages, who, values_of(sense), sense_id),
        places=await pages.call(who, "glossary_occurrences", phrase=sense["expansion"], limit=4),
    )


async def not_saved(
    pages: Pages,
    request: Request,
    who: Visitor,
    given: dict[str, str],
    error: Exception,
    *,
    sense_id: int,
    version: int,
) -> Response:
    """The form again; where somebody else saved in between, with what differs."""
    action = action_of(sense_id)
    if isinstance(error, Conflict):
        since = await pages.call(who, "glossary_since", sense_id=sense_id, version=version)
        current = since["current"]
        if current["version"] != version:
            both = {"since": since, "compared": compared(since, given)}
            kept = merged(since, given)
            return await form_page(pages, request, who, kept, action=action, sense=current, error=error, both=both)
    sense = await pages.call(who, "glossary_sense", sense_id=sense_id)
    shown = {**sense, "version": version}
    return await form_page(pages, request, who, given, action=action, sense=shown, error=error)


def action_of(sense_id: int) -> str:
    return f"/sense/{sense_id}/edit"


def whole(given: dict[str, str]) -> dict[str, Any]:
    """All fields of a form that shows a stored sense: what was emptied there is to be empty."""
    told = parameters(given)
    del told["why"]
    return {**told, "review_by": given["review_by"].strip(), "audience": told["audience"] or []}


async def _warnings(pages: Pages, who: Visitor, given: dict[str, str], sense_id: int) -> list[dict[str, Any]]:
    told = parameters(given)
    named = {name: told[name] for name in ("term", "context", "expansion", "aliases")}
    if not named["term"].strip():
        return []
    found: list[dict[str, Any]] = await pages.call(
        who, "glossary_warnings", **named, sense_id=sense_id if sense_id >= 0 else None
    )
    return found
