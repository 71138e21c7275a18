"""The router of all pages (glossary, documents, library, insight and the wings'), and the files they load."""

from __future__ import annotations

from pathlib import Path

from fastapi import APIRouter, HTTPException
from fastapi.responses import FileResponse, Response

from argot.service.knowledge_base import KnowledgeBase
from argot.ui.pages.administration_pages import build_administration_pages
from argot.ui.pages.context_pages import build_context_pages
from argot.ui.pages.document_pages import build_document_pages
from argot.ui.pages.document_source_pages import build_document_source_pages
from argot.ui.pages.document_view_pages import build_document_view_pages
from argot.ui.pages.file_pages import build_file_pages
from argot.ui.pages.history_pages import change_pages
from argot.ui.pages.insight_pages import build_insight_pages
from argot.ui.pages.library_pages import build_library_pages
from argot.ui.pages.page_base import HOME, load_templates
from argot.ui.pages.proposal_pages import build_proposal_pages
from argot.ui.pages.queue_pages import build_queue_pages
from argot.ui.pages.reader_pages import build_reader_pages
from argot.ui.pages.sense_pages import build_sense_pages
from argot.ui.pages.shared_pages import build_shared_pages
from argot.ui.pages.suggestion_pages import build_suggestion_pages
from argot.ui.pages.term_pages import build_term_pages
from argot.ui.pages.term_reading_pages import build_term_reading_pages
from argot.ui.pages.text_check_pages import build_text_check_pages
from argot.ui.pages.verified_pages import build_verified_pages
from argot.ui.web.authorization import needs
from argot.ui.web.routers import add_routes, make_router
from argot.wings import load_parts

STATIC_FOLDER = Path(__file__).parent / "static"
# The files that are served from the folder. A list, so that no path leads out of it.
MEDIA_TYPES = {
    "pages.css": "text/css",
    "htmx.min.js": "text/javascript",
    "uploads.js": "text/javascript",
    "readers.js": "text/javascript",
}


def build_pages(kb: KnowledgeBase) -> APIRouter:
    router = make_router()
    load_templates()  # loaded now: before the first page is shown, an update may replace the files

    @router.get(f"{HOME}/static/{{name}}")
    @needs("anonymous")
    async def static(name: str) -> Response:
        # Open to everybody: a page may still need these when its reader has been signed out.
        if name not in MEDIA_TYPES:
            raise HTTPException(404, "There is nothing here.")
        # `no-cache`: the browser asks each time, so an update shows at once; an unchanged file is not sent again.
        return FileResponse(STATIC_FOLDER / name, media_type=MEDIA_TYPES[name], headers={"Cache-Control": "no-cache"})

    glossary = (
        build_term_pages,
        build_sense_pages,
        build_queue_pages,
        build_proposal_pages,
        change_pages,
        build_context_pages,
        build_reader_pages,
        build_file_pages,
    )
    # In this order, because any name below /documents may be that of a document.
    documents = (build_document_pages, build_document_source_pages, build_document_view_pages)
    beside = (
        build_library_pages,
        build_term_reading_pages,
        build_text_check_pages,
        build_shared_pages,
        build_suggestion_pages,
        build_verified_pages,
        build_insight_pages,
        build_administration_pages,
    )
    for made in (*glossary, *documents, *beside, *load_parts("pages")):
        add_routes(router, made(kb))
    return router
