"""Contexts: making one, and saving one that somebody else may be saving too."""

from __future__ import annotations

from dataclasses import replace

from fastapi import APIRouter, Request, Response

from argot.errors import ArgotError, Conflict, InvalidInput, NotAllowed, NotFound
from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases.contexts import context_add, context_save, context_since
from argot.types import Context
from argot.ui.pages.form_fields import OF_CONTEXT, SavedByBoth, between_commas, differing_fields, merged, values_of
from argot.ui.pages.page_base import HOME, BoundedRoute, Pages, form_of, number, page, sent_to
from argot.ui.web.authorization import Visitor, Who, needs

_KEPT = ("id", "version", "name")
_NEW = dict.fromkeys((*_KEPT, *OF_CONTEXT, "why"), "")


def context_pages(kb: KnowledgeBase) -> APIRouter:
    router = APIRouter(prefix=HOME, route_class=BoundedRoute)
    pages = Pages(kb)

    @router.get("/contexts")
    @needs("manager")
    async def contexts(request: Request, who: Who, edit: str = "") -> Response:
        found = [one for one in await pages.contexts(who) if one.name == edit and one.may_manage]
        return await _contexts_page(pages, request, who, _shown(found[0]) if found else _NEW)

    @router.post("/contexts")
    @needs("manager")
    async def save(request: Request, who: Who) -> Response:
        form = await form_of(request)
        given = {name: form.get(name, "").strip() for name in _NEW}
        try:
            await _save(pages, who, given)
        except Conflict as error:
            return await _both_page(pages, request, who, given, error)
        # Deleted meanwhile: the same form makes it anew.
        except NotFound as error:
            return await _contexts_page(pages, request, who, {**given, "id": "", "version": ""}, error=error)
        except (InvalidInput, NotAllowed) as error:
            return await _contexts_page(pages, request, who, given, error=error)
        return sent_to("/contexts", done="context")

    return router


async def _save(pages: Pages, who: Visitor, given: dict[str, str]) -> None:
    # The form holds all of a stored context: a field that was emptied there is to be empty.
    description, contact, audience = given["description"], given["contact"], between_commas(given["audience"])
    if given["id"]:
        await context_save(
            pages.kb,
            who.principal,
            context_id=number(given["id"]),
            version=number(given["version"]),
            description=description,
            contact=contact,
            audience=audience,
            why=given["why"],
        )
        return
    await context_add(
        pages.kb,
        who.principal,
        name=given["name"],
        description=description,
        contact=contact,
        audience=audience,
        # Adding must not change one of the same name that somebody else has just made.
        new=True,
    )


async def _both_page(pages: Pages, request: Request, who: Visitor, given: dict[str, str], error: Conflict) -> Response:
    """What is stored beside what was typed. Of one meant as new every field counts as changed."""
    assert error.current is not None
    version = max(number(given["version"]), 0)
    since = await context_since(pages.kb, who.principal, context_id=error.current.id, version=version)
    if not given["id"]:
        since = replace(since, base={"description": "", "contact": "", "audience": []})
    differ = differing_fields(since, given, OF_CONTEXT)
    # A button that was pressed twice, or two people who wrote the same.
    if not differ:
        return sent_to("/contexts", done="context")
    kept = {**merged(since, given, OF_CONTEXT), **_shown_as(since.current)}
    return await _contexts_page(pages, request, who, kept, error=error, both=SavedByBoth(since, differ))


async def _contexts_page(
    pages: Pages,
    request: Request,
    who: Visitor,
    given: dict[str, str],
    *,
    error: ArgotError | None = None,
    both: SavedByBoth[Context] | None = None,
) -> Response:
    found = await pages.contexts(who)
    return page("contexts.html", request, who, contexts=found, given=given, error=error, both=both)


def _shown(stored: Context) -> dict[str, str]:
    return {**values_of(stored, OF_CONTEXT), **_shown_as(stored)}


def _shown_as(stored: Context) -> dict[str, str]:
    return {"id": str(stored.id), "version": str(stored.version), "name": stored.name}
