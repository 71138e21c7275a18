"""The library: the documents that somebody may read, their text by pages, and links to ask about one."""

from __future__ import annotations

from urllib.parse import urlencode

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse, PlainTextResponse

from argot.errors import ArgotError
from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases.documents.documents import page_picture, read_original
from argot.service.usecases.documents.listing import DocumentFilter, document_find
from argot.service.usecases.documents.passages import document_page, document_text
from argot.service.usecases.glossary.contexts import context_list
from argot.ui.pages.document_list import CHOICES, list_documents
from argot.ui.pages.document_view_pages import send_original, send_page_picture
from argot.ui.pages.page_base import BoundedRoute, parse_integer, render_part, show_page
from argot.ui.pages.source_pages import INERT_HEADERS
from argot.ui.rendering.document_text import render_document_text
from argot.ui.rendering.source_addresses import parse_spans
from argot.ui.translation.page_errors import translate_error
from argot.ui.web.authorization import Visitor, Who, needs
from argot.ui.web.routers import make_router

LIBRARY = "/library"
MAX_HEADINGS = 500
MAX_CONTACTS = 5
MAX_ID_CHARS = 100
MAX_TYPED_CHARS = 100
MAX_CHOICES = 7
MAX_RANKED = 200
"""Documents of which the nearest are offered."""


def build_library_pages(kb: KnowledgeBase) -> APIRouter:
    router = make_router(prefix=LIBRARY, route_class=BoundedRoute)

    @router.get("")
    @needs("asker")
    async def library(request: Request, who: Who) -> Response:
        return await render_list(request, who)

    @router.get("/rows")
    @needs("asker")
    async def rows(request: Request, who: Who) -> Response:
        """Render the list alone, while somebody types."""
        if "hx-request" not in request.headers:
            return await render_list(request, who)
        found = await list_documents(kb, request, who, LIBRARY, "name")
        return render_part("document_rows.html", {"HX-Replace-Url": found.link()}, who=who, listed=found, **CHOICES)

    async def render_list(request: Request, who: Visitor) -> Response:
        found = await list_documents(kb, request, who, LIBRARY, "name")
        # The contacts to ask for documents, where there are none.
        named = [] if found.found.total else [one.contact for one in await context_list(kb, who.principal)]
        contacts = list(dict.fromkeys(filter(None, named)))[:MAX_CONTACTS]
        return show_page("library.html", request, who, listed=found, contacts=contacts, **CHOICES)

    @router.get("/choices")
    @needs("asker", framed=True)
    async def choices(request: Request, who: Who) -> Response:
        """List the documents and tags that fit what somebody types after "@" in the field of the chat window."""
        text = request.query_params.get("q", "").strip()[:MAX_TYPED_CHARS]
        found = await document_find(kb, who.principal, wanted=DocumentFilter(text=text), limit=MAX_RANKED)
        # The place of a document may contain the words as well, which is seldom meant.
        nearest = sorted(found.documents, key=lambda one: rank_name(text, one.listed_name, one.title))
        tags = [tag for tag in found.tags if text.casefold() in tag.casefold()]
        listed = [{"id": one.id, "name": one.listed_name, "title": one.title} for one in nearest[:MAX_CHOICES]]
        return JSONResponse({"documents": listed, "tags": tags[:MAX_CHOICES]}, headers={"Cache-Control": "no-store"})

    _add_reading(router, kb)
    return router


def rank_name(typed: str, *names: str) -> int:
    """Return 0 for a document one of whose names begins with what was typed, 1 if it has it, 2 if it has not."""
    wanted = typed.casefold()
    return min(
        0 if name.startswith(wanted) else 1 if wanted in name else 2 for name in (one.casefold() for one in names)
    )


def _add_reading(router: APIRouter, kb: KnowledgeBase) -> None:
    @router.get("/{document}")
    @needs("asker")
    async def read(request: Request, who: Who, document: str) -> Response:
        """Show a part of a document, with the passage marked that the address names."""
        query = request.query_params
        part, passage = parse_integer(query.get("part")), query.get("passage", "")[:MAX_ID_CHARS]
        wanted = part if part > 0 else None
        found = await document_text(kb, who.principal, document=document, part=wanted, passage=passage)
        text, left = render_document_text(found, passage, parse_spans(query.getlist("span")))
        here = next((one.id for one in found.passages if one.id == passage), "")
        # The original tells where the cited sentences are on the page.
        cited = urlencode([("passage", here), *(("span", one) for one in query.getlist("span"))]) if here else ""
        marked = {"here": here, "cited": cited, "left": left}
        return show_page(
            "library_document.html", request, who, read=found, text=text, shown=MAX_HEADINGS, marked=marked
        )

    @router.get("/{document}/original")
    @needs("asker")
    async def original(who: Who, document: str) -> Response:
        """Return the file as it was put in, for saving: an untrusted file is never shown as a page of ours."""
        return send_original(await read_original(kb, who.principal, document=document))

    @router.get("/{document}/page-{number}.png")
    @needs("asker")
    async def picture(request: Request, who: Who, document: str, number: int) -> Response:
        """Return a page of a PDF; with `passage` in the address, the one that contains it, with its place marked."""
        passage = request.query_params.get("passage", "")[:MAX_ID_CHARS]
        spans = parse_spans(request.query_params.getlist("span"))
        try:
            drawn = (
                await page_picture(kb, who.principal, passage_id=passage, spans=spans)
                if passage
                else await document_page(kb, who.principal, document=document, page=number, outlined=False)
            )
        except ArgotError as error:
            return PlainTextResponse(translate_error(error), status_code=404, headers=INERT_HEADERS)
        return send_page_picture(drawn)
