"""Pages of the glossary's history, its conflicts, its drafts and its use."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from argot.errors import ArgotError, Conflict, InvalidInput, NotAllowed, NotFound
from argot.service.json_values import read_dataclass_fields
from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases.glossary.history import glossary_changes, glossary_history, glossary_roll_back, glossary_use
from argot.service.usecases.glossary.impact import glossary_effects_together
from argot.service.usecases.glossary.proposal_results import LeftSense
from argot.service.usecases.glossary.proposals import glossary_approve_many
from argot.service.usecases.glossary.sense_results import show_sense
from argot.service.usecases.glossary.senses import (
    glossary_accept_conflict,
    glossary_conflicts,
    glossary_list,
    glossary_reopen_conflict,
)
from argot.ui.pages.page_base import (
    HOME,
    BoundedRoute,
    Pages,
    parse_integer,
    read_form,
    redirect,
    show_effects,
    show_page,
)
from argot.ui.web.authorization import Visitor, Who, needs
from argot.ui.web.routers import make_router

MAX_CHANGES = 200
# An import may have thousands of rows in one change.
MAX_ROWS = 100


def change_pages(kb: KnowledgeBase) -> APIRouter:
    router = make_router(prefix=HOME, route_class=BoundedRoute)
    pages = Pages(kb)
    _add_history(router, pages)
    _add_conflicts(router, pages)
    _add_drafts(router, pages)
    _use(router, pages)
    return router


def _add_history(router: APIRouter, pages: Pages) -> None:
    @router.get("/history")
    @needs("manager")
    async def history(request: Request, who: Who) -> Response:
        return show_page(
            "history.html", request, who, changes=await glossary_changes(pages.kb, who.principal, limit=MAX_CHANGES)
        )

    @router.get("/history/{change}")
    @needs("manager")
    async def change(request: Request, who: Who, change: int) -> Response:
        return await _change_page(pages, request, who, change)

    @router.post("/history/{change}/roll-back")
    @needs("manager")
    async def roll_back(request: Request, who: Who, change: int) -> Response:
        form = await read_form(request)
        force = form.get("force") == "yes"
        try:
            done = await glossary_roll_back(
                pages.kb, who.principal, change=change, why=form.get("why", ""), force=force
            )
        except (Conflict, NotAllowed) as error:
            return await _change_page(pages, request, who, change, error)
        return redirect(f"/history/{done.id}", done="rolled-back")


async def _change_page(
    pages: Pages, request: Request, who: Who, change: int, error: Conflict | NotAllowed | None = None
) -> Response:
    # One more row than is shown tells whether there are more.
    rows = await glossary_history(pages.kb, who.principal, change=change, limit=MAX_ROWS + 1)
    changes = await glossary_changes(pages.kb, who.principal, limit=1000)
    found = next((one for one in changes if one.id == change), None)
    blocking = error.changes if isinstance(error, Conflict) else ()
    shown = {"rows": rows[:MAX_ROWS], "more": len(rows) > MAX_ROWS, "number": change, "found": found}
    return show_page("change.html", request, who, 200 if rows else 404, **shown, error=error, blocking=blocking)


def _add_conflicts(router: APIRouter, pages: Pages) -> None:
    @router.get("/conflicts")
    @needs("manager")
    async def conflicts(request: Request, who: Who, status: str = "") -> Response:
        return await _render_conflicts(pages, request, who, accepted=status == "accepted")

    @router.post("/conflicts/accept")
    @needs("manager")
    async def accept(request: Request, who: Who) -> Response:
        form = await read_form(request)
        kind, senses, why = form.get("kind", ""), await _read_ticked(request), form.get("why", "")
        try:
            await glossary_accept_conflict(pages.kb, who.principal, kind=kind, senses=senses, why=why)
        except (Conflict, InvalidInput, NotAllowed, NotFound) as error:
            return await _render_conflicts(pages, request, who, error=error)
        return redirect("/conflicts", done="conflict-accepted")

    @router.post("/conflicts/reopen")
    @needs("manager")
    async def reopen(request: Request, who: Who) -> Response:
        try:
            await glossary_reopen_conflict(
                pages.kb, who.principal, change=max(parse_integer((await read_form(request)).get("change")), 0)
            )
        except (Conflict, InvalidInput, NotAllowed, NotFound) as error:
            return await _render_conflicts(pages, request, who, accepted=True, error=error)
        return redirect("/conflicts", done="conflict-reopened")


def _add_drafts(router: APIRouter, pages: Pages) -> None:
    @router.get("/drafts")
    @needs("manager")
    async def drafts(request: Request, who: Who) -> Response:
        return await _render_drafts(pages, request, who)

    @router.post("/drafts/effects")
    @needs("manager")
    async def effects(request: Request, who: Who) -> Response:
        """Show how approving the ticked drafts would change past questions."""
        found = await glossary_effects_together(pages.kb, who.principal, senses=await _read_ticked(request))
        return show_effects(request, who, found, back="/drafts")

    @router.post("/drafts/approve")
    @needs("manager")
    async def approve(request: Request, who: Who) -> Response:
        senses = await _read_ticked(request)
        if not senses:
            return redirect("/drafts", done="none-ticked")
        done = await glossary_approve_many(pages.kb, who.principal, senses=senses)
        if not done.left:
            return redirect("/drafts", done="all-approved")
        return await _render_drafts(pages, request, who, left=done.left, made=len(done.senses))


def _use(router: APIRouter, pages: Pages) -> None:
    @router.get("/use")
    @needs("manager")
    async def use(request: Request, who: Who) -> Response:
        found = await glossary_use(pages.kb, who.principal)
        used, missed = found.used[:MAX_ROWS], found.missed[:MAX_ROWS]
        return show_page("use.html", request, who, weeks=found.weeks, used=used, missed=missed)


async def _render_conflicts(
    pages: Pages, request: Request, who: Visitor, *, accepted: bool = False, error: ArgotError | None = None
) -> Response:
    found = await glossary_conflicts(pages.kb, who.principal, limit=MAX_CHANGES, accepted=accepted)
    return show_page("conflicts.html", request, who, error=error, **read_dataclass_fields(found), of_accepted=accepted)


async def _read_ticked(request: Request) -> list[tuple[int, int]]:
    """Read the ticked drafts, each with the version that was seen."""
    ticked = [str(one).partition(":") for one in (await request.form()).getlist("sense")]
    senses = [(parse_integer(sense), parse_integer(version)) for sense, _, version in ticked]
    # `parse_integer` returns -1 for anything else.
    return [one for one in senses if min(one) >= 0]


async def _render_drafts(
    pages: Pages, request: Request, who: Who, *, left: list[LeftSense] | None = None, made: int = 0
) -> Response:
    found = await glossary_list(pages.kb, who.principal, status="draft", limit=MAX_CHANGES)
    mine = [show_sense(who.principal, one) for one in found]
    picked = request.query_params.get("pick") == "all"
    # `picked`: all are ticked by a link that reloads the page, because pages work without a script.
    return show_page(
        "drafts.html", request, who, 409 if left else 200, drafts=mine, left=left or [], made=made, picked=picked
    )
