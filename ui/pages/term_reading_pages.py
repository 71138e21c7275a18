"""The glossary for everybody: the list of terms from A to Z, search while somebody types, and the entry of a term."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote, urlencode

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse
from pydantic import BaseModel

from argot.service.json_values import convert_to_json
from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases.glossary.contexts import context_list
from argot.service.usecases.glossary.senses import glossary_passage
from argot.service.usecases.glossary.term_marks import meaning_report, terms_mark
from argot.service.usecases.glossary.terms import term_show, terms_list
from argot.ui.pages.page_base import BoundedRoute, redirect_to_address, render_part, show_page
from argot.ui.web.authorization import Visitor, Who, needs
from argot.ui.web.routers import make_router

TERMS = "/terms"
LISTED_TERMS = 50
MAX_TEXTS_BYTES = 4 * 1024 * 1024
MAX_ADDRESS_CHARS = {"q": 500, "context": 200, "after": 1000, "initial": 1}


class TextsShown(BaseModel):
    """The texts of a page on which terms are to be underlined. The use case checks their length."""

    texts: list[str]
    document: str = ""
    passages: list[str] = []
    context: str = ""


class WrongMeaning(BaseModel):
    """A meaning that a term does not have where it is read."""

    sense_id: int
    term: str
    document: str = ""
    page: str = ""
    said: str = ""
    of_several: bool = False


class ReadingRoute(BoundedRoute):
    most = MAX_TEXTS_BYTES


def build_term_reading_pages(kb: KnowledgeBase) -> APIRouter:
    router = make_router(prefix=TERMS, route_class=ReadingRoute)

    @router.get("")
    @needs("asker")
    async def terms(request: Request, who: Who) -> Response:
        return await render_list(request, who)

    @router.get("/search")
    @needs("asker")
    async def search(request: Request, who: Who) -> Response:
        """Render the list alone, while somebody types."""
        if "hx-request" not in request.headers:
            return await render_list(request, who)
        asked = _read_search(request)
        found = await _find_terms(kb, who, asked)
        return render_part("terms_list.html", {"HX-Replace-Url": link_terms("", **asked)}, who=who, **found)

    @router.get("/term")
    @needs("asker")
    async def term(request: Request, who: Who, t: str = "") -> Response:
        # Without a term, as from an edited address, the list.
        if not t.strip():
            return redirect_to_address(TERMS)
        found = await term_show(kb, who.principal, term=t.strip()[:200])
        return show_page("terms_entry.html", request, who, found=found, terms_link=link_terms)

    # The chat window's page has no token against forgery, so the guard checks the origin of these two.
    @router.post("/marks")
    @needs("asker", csrf=False, framed=True)
    async def marks(who: Who, given: TextsShown) -> Response:
        found = await terms_mark(kb, who.principal, **given.model_dump())
        return JSONResponse(convert_to_json(found), headers={"Cache-Control": "no-store"})

    @router.post("/reports")
    @needs("asker", csrf=False, framed=True)
    async def report(who: Who, given: WrongMeaning) -> Response:
        done = await meaning_report(kb, who.principal, **given.model_dump())
        return JSONResponse(convert_to_json(done), headers={"Cache-Control": "no-store"})

    @router.get("/passage/{passage_id}")
    @needs("asker")
    async def passage(request: Request, who: Who, passage_id: str, mark: str = "") -> Response:
        """Show the passage of a defining sentence, with the term marked."""
        found = await glossary_passage(kb, who.principal, passage_id=passage_id, phrase=mark)
        return show_page("passage.html", request, who, found=found, frame="terms_base.html")

    async def render_list(request: Request, who: Visitor) -> Response:
        asked = _read_search(request)
        contexts = await context_list(kb, who.principal)
        found = await _find_terms(kb, who, asked)
        return show_page("terms.html", request, who, contexts=contexts, **found)

    return router


def link_terms(path: str, **query: str) -> str:
    """Build an address under /terms. Empty parameters are left out."""
    parameters = {name: value for name, value in query.items() if value}
    return f"{TERMS}{path}" + (f"?{urlencode(parameters, quote_via=quote)}" if parameters else "")


def _read_search(request: Request) -> dict[str, str]:
    """Read the search from the address, which anybody can edit."""
    return {name: request.query_params.get(name, "")[:most] for name, most in MAX_ADDRESS_CHARS.items()}


async def _find_terms(kb: KnowledgeBase, who: Visitor, asked: dict[str, str]) -> dict[str, Any]:
    found = await terms_list(
        kb,
        who.principal,
        query=asked["q"],
        initial=asked["initial"],
        context=asked["context"] or None,
        after=asked["after"],
        limit=LISTED_TERMS,
    )
    return {**asked, "found": found, "terms_link": link_terms, "initial_names": INITIAL_NAMES}


INITIAL_NAMES = {"#": "0–9 and signs", "…": "other letters"}
