"""The pages of glossary, documents, library, insight and the wings in one router, and the files they need."""

from __future__ import annotations

from pathlib import Path

from fastapi import APIRouter, HTTPException
from fastapi.responses import FileResponse, Response

from argot.service.knowledge_base import KnowledgeBase
from argot.ui.pages.context_pages import context_pages
from argot.ui.pages.document_pages import document_pages
from argot.ui.pages.document_source_pages import document_source_pages
from argot.ui.pages.document_view_pages import document_view_pages
from argot.ui.pages.file_pages import file_pages
from argot.ui.pages.history_pages import change_pages
from argot.ui.pages.insight_pages import insight_pages
from argot.ui.pages.library_pages import library_pages
from argot.ui.pages.page_base import HOME, templates
from argot.ui.pages.queue_pages import queue_pages
from argot.ui.pages.sense_pages import sense_pages
from argot.ui.pages.term_pages import term_pages
from argot.ui.web.authorization import needs
from argot.wings import load_parts

STATIC = Path(__file__).parent / "static"
# All that is served from the folder. A list, so that no path leads out of it.
TYPES = {"pages.css": "text/css", "htmx.min.js": "text/javascript", "uploads.js": "text/javascript"}


def glossary_pages(kb: KnowledgeBase) -> APIRouter:
    router = APIRouter()
    templates()  # read now: by the first page the files may be those of an update

    @router.get(f"{HOME}/static/{{name}}")
    @needs("anonymous")
    async def static(name: str) -> Response:
        # Open to everybody: a page may still need these when its reader has just been signed out.
        if name not in TYPES:
            raise HTTPException(404, "There is nothing here.")
        # `no-cache`: asked for each time, so that an update shows at once; unchanged it is not sent again.
        return FileResponse(STATIC / name, media_type=TYPES[name], headers={"Cache-Control": "no-cache"})

    glossary = (term_pages, sense_pages, queue_pages, change_pages, context_pages, file_pages)
    # In this order: any name below /documents may be a document's.
    documents = (document_pages, document_source_pages, document_view_pages)
    beside = (
        library_pages,
        insight_pages,
    )
    for made in (*glossary, *documents, *beside, *load_parts("pages")):
        router.include_router(made(kb))
    return router
