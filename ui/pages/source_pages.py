"""The targets of citations: the passage, and for a PDF its original. Rights are checked at each click."""

from __future__ import annotations

import base64
from typing import Literal
from urllib.parse import quote

from fastapi import APIRouter, Request
from fastapi.responses import PlainTextResponse, RedirectResponse, Response

from argot.errors import ArgotError, NotFound
from argot.languages.catalogues import translate
from argot.results import TOOL_RESULT
from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases.documents.documents import PassageShown, page_picture, read_original, read_passage
from argot.service.usecases.documents.pictures import passage_pictures
from argot.service.usecases.questions.threads import thread_export
from argot.service.usecases.usecase_registry import find_choice
from argot.types import THREAD
from argot.ui.rendering.passage_panel import format_passage, link_library
from argot.ui.rendering.safe_markdown import escape_markdown
from argot.ui.rendering.source_addresses import PASSAGES, THREADS, parse_spans
from argot.ui.translation.page_errors import translate_error
from argot.ui.web.asker_identity import get_current_principal
from argot.ui.web.authorization import needs
from argot.ui.web.routers import make_router

NO_STORE_HEADERS = {"Cache-Control": "no-store"}
INERT_HEADERS = {
    **NO_STORE_HEADERS,
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox",
}
"""Headers of files that people uploaded: opened by themselves, nothing in them may act."""
EXPORT_FORMATS: dict[str, Literal["markdown", "json"]] = {"md": "markdown", "json": "json"}
"""The format of an exported conversation, by the ending of the file's name."""


def build_source_pages(kb: KnowledgeBase) -> APIRouter:
    router = make_router()

    @router.get(f"{THREADS}/{{thread}}/export.{{ending}}")
    @needs("asker", framed=True)
    async def export(thread: str, ending: str) -> Response:
        """Return one's own conversation as a file."""
        try:
            principal = await get_current_principal(kb)
            form = EXPORT_FORMATS[find_choice(list(EXPORT_FORMATS), ending, "the ending of the file")]
            file = await thread_export(kb, principal, thread=thread, form=form)
        except ArgotError as error:
            return PlainTextResponse(translate_error(error), status_code=404, headers=INERT_HEADERS)
        headers = {**INERT_HEADERS, "Content-Disposition": f'attachment; filename="{file.name}"'}
        return Response(file.text, media_type=f"{file.media_type}; charset=utf-8", headers=headers)

    @router.get(f"{PASSAGES}/{{passage_id}}/page.png")
    @needs("asker", framed=True)
    async def page_image(request: Request, passage_id: str) -> Response:
        """Return the page of a PDF with the place marked."""
        spans = parse_spans(request.query_params.getlist("span"))
        try:
            drawn = await page_picture(kb, await get_current_principal(kb), passage_id=passage_id, spans=spans)
        except ArgotError as error:
            return PlainTextResponse(translate_error(error), status_code=404, headers=INERT_HEADERS)
        return Response(base64.b64decode(drawn.base64), media_type="image/png", headers=INERT_HEADERS)

    @router.get(f"{PASSAGES}/{{passage_id}}")
    @needs("asker", framed=True)
    async def passage(request: Request, passage_id: str) -> Response:
        """Return a passage for the side panel; a tab of its own is led to the page of the document."""
        spans = parse_spans(request.query_params.getlist("span"))
        try:
            found = await _load_passage(kb, passage_id)
            # A file put into a conversation has no page there, nor has a tool's result.
            in_library = not found.uri.startswith((THREAD, TOOL_RESULT))
            if in_library and "text/html" in request.headers.get("accept", ""):
                address = link_library(found.document_id, found.id, spans)
                return RedirectResponse(address, status_code=303, headers=INERT_HEADERS)
            pictures = await passage_pictures(kb, await get_current_principal(kb), passage_id=passage_id)
            text = format_passage(found, spans, pictures, in_library=in_library)
        except ArgotError as error:
            # Status 200, because the panel shows no text with any other status.
            text = escape_markdown(translate_error(error))
        return PlainTextResponse(text, headers=INERT_HEADERS)

    @router.get(f"{PASSAGES}/{{passage_id}}/original")
    @needs("asker", framed=True)
    async def original(passage_id: str) -> Response:
        try:
            found = await _load_passage(kb, passage_id)
            source = await read_original(kb, await get_current_principal(kb), document=found.document_id)
            # Otherwise a web page that was put in as a document would open at our address.
            if source.media_type != "application/pdf":
                raise NotFound(translate("Only the originals of PDF documents can be shown."))
        except ArgotError as error:
            return PlainTextResponse(translate_error(error), status_code=404, headers=INERT_HEADERS)
        name = quote(source.document.name, safe="")
        headers = {**INERT_HEADERS, "Content-Disposition": f"attachment; filename*=UTF-8''{name}"}
        return Response(base64.b64decode(source.base64), media_type="application/pdf", headers=headers)

    return router


async def _load_passage(kb: KnowledgeBase, passage_id: str) -> PassageShown:
    return await read_passage(kb, await get_current_principal(kb), passage_id=passage_id)
