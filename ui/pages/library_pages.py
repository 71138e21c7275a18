"""The library: the documents that somebody may read, their contents, and links to ask about one."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases.documents.passages import document_contents
from argot.service.usecases.glossary.contexts import context_list
from argot.ui.pages.document_list import CHOICES, list_documents
from argot.ui.pages.page_base import BoundedRoute, render_part, show_page
from argot.ui.web.authorization import Visitor, Who, needs

LIBRARY = "/library"
MAX_HEADINGS = 500
MAX_CONTACTS = 5


def build_library_pages(kb: KnowledgeBase) -> APIRouter:
    router = APIRouter(prefix=LIBRARY, route_class=BoundedRoute)

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
        found = await list_documents(kb, request, who, LIBRARY)
        return render_part("document_rows.html", {"HX-Replace-Url": found.link()}, who=who, listed=found, **CHOICES)

    @router.get("/{document}")
    @needs("asker")
    async def contents(request: Request, who: Who, document: str) -> Response:
        found = await document_contents(kb, who.principal, document=document)
        return show_page("library_document.html", request, who, found=found, shown=MAX_HEADINGS)

    async def render_list(request: Request, who: Visitor) -> Response:
        found = await list_documents(kb, request, who, LIBRARY)
        # The contacts to ask for documents, where there are none.
        named = [] if found.found.total else [one.contact for one in await context_list(kb, who.principal)]
        contacts = list(dict.fromkeys(filter(None, named)))[:MAX_CONTACTS]
        return show_page("library.html", request, who, listed=found, contacts=contacts, **CHOICES)

    return router
