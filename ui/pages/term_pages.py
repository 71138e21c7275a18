"""Searching for terms, the page of a term, and the passages in which it occurs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, get_args

from fastapi import APIRouter, Request, Response

from argot.errors import ArgotError, Conflict, InvalidInput, NotAllowed
from argot.service.json_values import read_dataclass_fields
from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases.glossary.contexts import context_list
from argot.service.usecases.glossary.history import glossary_history, glossary_roll_back, glossary_use
from argot.service.usecases.glossary.proposals import glossary_misses, glossary_proposals, glossary_to_do
from argot.service.usecases.glossary.sense_results import TermSenses
from argot.service.usecases.glossary.senses import (
    glossary_list,
    glossary_occurrences,
    glossary_passage,
    glossary_search,
    glossary_term,
)
from argot.service.usecases.usecase_registry import find_choice
from argot.types import Sense, SenseStatus
from argot.ui.pages.page_base import (
    HOME,
    BoundedRoute,
    Pages,
    link_glossary,
    parse_integer,
    read_form,
    redirect,
    render_part,
    show_page,
)
from argot.ui.web.authorization import Visitor, Who, needs
from argot.ui.web.routers import make_router

PAGE_ROWS = 50
SEARCH_ROWS = 20
MAX_RESULTS = 200
"""Results of a search that asks for more."""
MAX_CHANGES = 30
STATUSES: tuple[SenseStatus, ...] = get_args(SenseStatus)


def build_term_pages(kb: KnowledgeBase) -> APIRouter:
    router = make_router(prefix=HOME, route_class=BoundedRoute)
    pages = Pages(kb)
    _add_home(router, pages)
    _add_term(router, pages)
    return router


def _add_home(router: APIRouter, pages: Pages) -> None:
    @router.get("")
    @needs("manager")
    async def home(request: Request, who: Who) -> Response:
        return await _render_home(pages, request, who)

    @router.get("/search")
    @needs("manager")
    async def search(request: Request, who: Who) -> Response:
        """Show results while somebody types: HTMX gets the list alone, and the browser's address follows."""
        # Without a script, and on a reload, a whole page.
        if "hx-request" not in request.headers:
            return await _render_home(pages, request, who)
        wanted = _read_search(request)
        found = await _find_senses(pages, who, **wanted)
        return render_part(
            "results.html",
            # Replaced, not pushed: else each letter typed would be an entry in the browser's history.
            {"HX-Replace-Url": link_glossary("", **{**wanted, "start": wanted["start"] or None})},
            **wanted,
            **found,
        )

    @router.get("/to-do")
    @needs("manager")
    async def to_do(who: Who) -> Response:
        return render_part("to_do.html", todo=await glossary_to_do(pages.kb, who.principal), who=who)

    @router.get("/me")
    @needs("asker", framed=True)
    async def me(who: Who) -> dict[str, bool]:
        """Tell the chat window whether to link to these pages, and whether nobody had to sign in."""
        return {"manages": who.principal.is_manager, "local": who.auth_method == "local"}


async def _render_home(pages: Pages, request: Request, who: Visitor) -> Response:
    wanted = _read_search(request)
    found = await _find_senses(pages, who, **wanted)
    contexts = [one.name for one in await context_list(pages.kb, who.principal)]
    return show_page("home.html", request, who, contexts=contexts, **wanted, **found)


def _add_term(router: APIRouter, pages: Pages) -> None:
    """Add the page of a term, and the passages in which it occurs."""

    @router.get("/term")
    @needs("manager")
    async def term(request: Request, who: Who, t: str = "") -> Response:
        # An empty term, as from an empty search, shows the list instead of an error.
        if not t.strip():
            return redirect("")
        return await _render_term(pages, request, who, t)

    @router.get("/occurrences")
    @needs("manager")
    async def occurrences(who: Who, phrase: str = "") -> Response:
        found = await glossary_occurrences(pages.kb, who.principal, phrase=phrase, limit=20)
        return render_part("occurrences.html", found=found, all=True)

    @router.post("/term/roll-back")
    @needs("manager")
    async def roll_back(request: Request, who: Who) -> Response:
        form = await read_form(request)
        term, moment = form.get("term", ""), parse_integer(form.get("moment"))
        try:
            await glossary_roll_back(pages.kb, who.principal, term=term, moment=moment, why=form.get("why", ""))
        except (Conflict, InvalidInput, NotAllowed) as error:
            return await _render_term(pages, request, who, term, error)
        return redirect("/term", t=term, done="rolled-back")

    @router.get("/passage/{passage_id}")
    @needs("manager")
    async def passage(request: Request, who: Who, passage_id: str, mark: str = "") -> Response:
        found = await glossary_passage(pages.kb, who.principal, passage_id=passage_id, phrase=mark)
        return show_page("passage.html", request, who, found=found)


async def _render_term(
    pages: Pages, request: Request, who: Visitor, term: str, error: ArgotError | None = None
) -> Response:
    found = await glossary_term(pages.kb, who.principal, term=term)
    around = await _load_surroundings(pages, who, found)
    return show_page("term.html", request, who, error=error, **read_dataclass_fields(found), **around)


def _read_search(request: Request) -> dict[str, Any]:
    """Read the search from the address: the text, status, context, and start of the page."""
    asked = request.query_params
    status = asked.get("status", "")
    return {
        "q": asked.get("q", ""),
        # Anybody can edit an address: an unknown status counts as none.
        "status": status if status in STATUSES else "",
        "context": asked.get("context", ""),
        # `parse_integer` returns -1 for anything else.
        "start": max(parse_integer(asked.get("start")), 0),
    }


async def _find_senses(pages: Pages, who: Visitor, *, q: str, status: str, context: str, start: int) -> dict[str, Any]:
    """Find the senses of a page, whether there are more, and the start of the next page."""
    of = find_choice(STATUSES, status, "the status") if status else None
    senses: Sequence[Sense]
    if q.strip():
        # A search is ranked as a whole, so it has at most two pages: the best results, and the rest.
        most = MAX_RESULTS if start else SEARCH_ROWS
        senses = await glossary_search(
            pages.kb, who.principal, text=q, status=of, context=context or None, limit=most + 1
        )
        return {"senses": senses[:most], "more": len(senses) > most, "step": SEARCH_ROWS}
    senses = await glossary_list(
        pages.kb, who.principal, status=of, context=context or None, start=start, limit=PAGE_ROWS + 1
    )
    # One row more than is shown was requested, to know whether there is another page.
    return {"senses": senses[:PAGE_ROWS], "more": len(senses) > PAGE_ROWS, "step": PAGE_ROWS}


async def _load_surroundings(pages: Pages, who: Who, found: TermSenses) -> dict[str, Any]:
    """Load everything else on a term's page: documents, questions, history, proposals."""
    name = found.term
    places = {
        sense.id: await glossary_occurrences(pages.kb, who.principal, phrase=sense.expansion or sense.term, limit=3)
        for sense in found.senses[:PAGE_ROWS]
    }
    use = await glossary_use(pages.kb, who.principal, term=name)
    return {
        "occurrences": await glossary_occurrences(pages.kb, who.principal, phrase=name, limit=4),
        "places": places,
        "weeks": use.weeks,
        "used": use.used,
        "history": await glossary_history(pages.kb, who.principal, term=name, limit=MAX_CHANGES),
        "proposals": await glossary_proposals(pages.kb, who.principal, term=name),
        # Also dismissed and defined ones: the page shows the term's whole history.
        "misses": await glossary_misses(pages.kb, who.principal, term=name, status=None),
        "may_manage": any(sense.may_manage for sense in found.senses) or who.principal.manages_all,
    }
