"""Pages to make a context, and to save one that somebody else may be saving too."""

from __future__ import annotations

from dataclasses import replace

from fastapi import APIRouter, Request, Response

from argot.errors import ArgotError, Conflict, InvalidInput, NotAllowed, NotFound
from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases.glossary.contexts import context_add, context_save, context_since
from argot.types import Context
from argot.ui.pages.form_fields import (
    CONTEXT_FIELDS,
    EditComparison,
    compare_fields,
    merge_fields,
    read_values,
    split_commas,
)
from argot.ui.pages.page_base import HOME, BoundedRoute, Pages, parse_integer, read_form, redirect, show_page
from argot.ui.web.authorization import Visitor, Who, needs
from argot.ui.web.routers import make_router

_HIDDEN_FIELDS = ("id", "version", "name")
_NEW_CONTEXT = dict.fromkeys((*_HIDDEN_FIELDS, *CONTEXT_FIELDS, "why"), "")


def build_context_pages(kb: KnowledgeBase) -> APIRouter:
    router = make_router(prefix=HOME, route_class=BoundedRoute)
    pages = Pages(kb)

    @router.get("/contexts")
    @needs("manager")
    async def contexts(request: Request, who: Who, edit: str = "") -> Response:
        found = [one for one in await pages.contexts(who) if one.name == edit and one.may_manage]
        return await _render_contexts(pages, request, who, _make_form(found[0]) if found else _NEW_CONTEXT)

    @router.post("/contexts")
    @needs("manager")
    async def save(request: Request, who: Who) -> Response:
        form = await read_form(request)
        fields = {name: form.get(name, "").strip() for name in _NEW_CONTEXT}
        try:
            await _save(pages, who, fields)
        except Conflict as error:
            return await _render_both(pages, request, who, fields, error)
        # Deleted meanwhile: the same form creates it again.
        except NotFound as error:
            return await _render_contexts(pages, request, who, {**fields, "id": "", "version": ""}, error=error)
        except (InvalidInput, NotAllowed) as error:
            return await _render_contexts(pages, request, who, fields, error=error)
        return redirect("/contexts", done="context")

    return router


async def _save(pages: Pages, who: Visitor, fields: dict[str, str]) -> None:
    # The form holds all fields of a stored context, so an emptied field is meant to be empty.
    description, contact, audience = fields["description"], fields["contact"], split_commas(fields["audience"])
    if fields["id"]:
        await context_save(
            pages.kb,
            who.principal,
            context_id=parse_integer(fields["id"]),
            version=parse_integer(fields["version"]),
            description=description,
            contact=contact,
            audience=audience,
            why=fields["why"],
        )
        return
    await context_add(
        pages.kb,
        who.principal,
        name=fields["name"],
        description=description,
        contact=contact,
        audience=audience,
        # Adding must not change a context of the same name that somebody else has just made.
        new=True,
    )


async def _render_both(
    pages: Pages, request: Request, who: Visitor, fields: dict[str, str], error: Conflict
) -> Response:
    """Show the stored context beside the typed one. For a new context every field counts as changed."""
    assert error.current is not None
    version = max(parse_integer(fields["version"]), 0)
    since = await context_since(pages.kb, who.principal, context_id=error.current.id, version=version)
    if not fields["id"]:
        since = replace(since, base={"description": "", "contact": "", "audience": []})
    differ = compare_fields(since, fields, CONTEXT_FIELDS)
    # A button was pressed twice, or two people wrote the same.
    if not differ:
        return redirect("/contexts", done="context")
    kept = {**merge_fields(since, fields, CONTEXT_FIELDS), **_name_fields(since.current)}
    return await _render_contexts(pages, request, who, kept, error=error, both=EditComparison(since, differ))


async def _render_contexts(
    pages: Pages,
    request: Request,
    who: Visitor,
    fields: dict[str, str],
    *,
    error: ArgotError | None = None,
    both: EditComparison[Context] | None = None,
) -> Response:
    found = await pages.contexts(who)
    return show_page("contexts.html", request, who, contexts=found, given=fields, error=error, both=both)


def _make_form(stored: Context) -> dict[str, str]:
    return {**read_values(stored, CONTEXT_FIELDS), **_name_fields(stored)}


def _name_fields(stored: Context) -> dict[str, str]:
    return {"id": str(stored.id), "version": str(stored.version), "name": stored.name}
