"""All pages of the glossary in one router, and the files they need."""

from __future__ import annotations

from pathlib import Path

from fastapi import APIRouter, HTTPException
from fastapi.responses import FileResponse, Response

from argot.service.owner import KnowledgeBase
from argot.ui.access import needs
from argot.ui.pages.base import HOME
from argot.ui.pages.changes import change_pages
from argot.ui.pages.contexts import context_pages
from argot.ui.pages.files import file_pages
from argot.ui.pages.queue import queue_pages
from argot.ui.pages.senses import sense_pages
from argot.ui.pages.terms import term_pages

STATIC = Path(__file__).parent / "static"
TYPES = {"pages.css": "text/css", "htmx.min.js": "text/javascript"}


def glossary_pages(kb: KnowledgeBase) -> APIRouter:
    router = APIRouter()

    @router.get(f"{HOME}/static/{{name}}")
    @needs("anonymous")
    async def static(name: str) -> Response:
        """Looks and no secrets: a page may still need them when its reader has just been signed out."""
        if name not in TYPES:
            raise HTTPException(404, "There is nothing here.")
        return FileResponse(STATIC / name, media_type=TYPES[name], headers={"Cache-Control": "no-cache"})

    for made in (term_pages, sense_pages, queue_pages, change_pages, context_pages, file_pages):
        router.include_router(made(kb))
    return router
