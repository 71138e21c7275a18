"""What a citation opens: the passage, and for a PDF its original. Rights are checked at each click."""

from __future__ import annotations

import base64
import re
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import quote, unquote

from fastapi import APIRouter, Request
from fastapi.responses import PlainTextResponse, Response

from argot.errors import ArgotError, NotFound
from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases.documents import PassageShown, page_picture, read_original, read_passage
from argot.service.usecases.threads import thread_export
from argot.service.usecases.usecase_registry import one_of
from argot.ui.rendering.chat_markdown import PASSAGES, TERMS, THREADS, is_pdf, panel_title, passage_panel
from argot.ui.rendering.safe_markdown import plain
from argot.ui.web.asker_identity import current_principal
from argot.ui.web.authorization import needs

NOT_STORED = {"Cache-Control": "no-store"}
INERT = {**NOT_STORED, "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox"}
"""For files that come from people: opened by themselves they may do nothing."""
MAX_SPANS = 50
EXPORTED: dict[str, Literal["markdown", "json"]] = {"md": "markdown", "json": "json"}
"""In which form a conversation is exported, by the ending of the file's name."""
_SPAN = re.compile(r"([0-9]{1,11})-([0-9]{1,11})")

# /argot/passages/ID?span=12-80&span=90-95, and for a PDF /argot/passages/ID/original#page=3.
_ADDRESS = re.compile(re.escape(PASSAGES) + r"/([\w-]{1,64})(/original)?(?:\?[\w=&-]{0,2000})?(?:#page=(\d{1,6}))?")


_TERM = re.compile(re.escape(TERMS) + r"/(\d{1,6})\?term=([\w%.~-]{1,2000})")


@dataclass(frozen=True, slots=True)
class CitedSource:
    """What a mark opens: a passage, or the original of its document at a page."""

    passage_id: str
    address: str
    original: bool
    page: int | None


def source_of(address: object) -> CitedSource | None:
    """The source at an address of ours; None for anything else a page might send."""
    found = _ADDRESS.fullmatch(address) if isinstance(address, str) else None
    if found is None:
        return None
    return CitedSource(found[1], found[0].partition("#")[0], bool(found[2]), int(found[3]) if found[3] else None)


def reported_term(address: object) -> tuple[int, str] | None:
    """The turn and the term of a "not what I meant"; None for anything else a page might send."""
    found = _TERM.fullmatch(address) if isinstance(address, str) else None
    return (int(found[1]), unquote(found[2])) if found else None


async def opened_elements(kb: KnowledgeBase, source: CitedSource, thread: str) -> tuple[str, list[dict[str, Any]]]:
    """The title of the side panel and what it shows: for a PDF the page with the place marked, then the words."""
    import chainlit as cl

    page = False
    try:
        found = await _passage(kb, source.passage_id)
        title, page = panel_title(found), is_pdf(found)
    except ArgotError:
        # Alike for one that is gone and one that may not be read; the text below says it in a sentence.
        title = "No longer there"
    common = {"name": title, "display": "side", "thread_id": thread}
    if source.original:
        return title, [cl.Pdf(page=source.page, url=source.address, **common).to_dict()]
    elements: list[Any] = []
    if page:
        path, _, spans = source.address.partition("?")
        address = f"{path}/page.png{'?' * bool(spans)}{spans}"
        elements.append(cl.Image(mime="image/png", url=address, size="large", **common))
    # Chainlit's page fetches the text at this address: with the rights its reader has by then.
    elements.append(cl.Text(mime="text/plain", url=source.address, **common))
    return title, [element.to_dict() for element in elements]


def sources(kb: KnowledgeBase) -> APIRouter:
    router = APIRouter()

    @router.get(f"{THREADS}/{{thread}}/export.{{ending}}")
    @needs("asker")
    async def export(thread: str, ending: str) -> Response:
        """One's own conversation as a file."""
        try:
            principal = await current_principal(kb)
            form = EXPORTED[one_of(list(EXPORTED), ending, "the ending of the file")]
            file = await thread_export(kb, principal, thread=thread, form=form)
        except ArgotError as error:
            return PlainTextResponse(str(error), status_code=404, headers=INERT)
        headers = {**INERT, "Content-Disposition": f'attachment; filename="{file.name}"'}
        return Response(file.text, media_type=f"{file.media_type}; charset=utf-8", headers=headers)

    @router.get(f"{PASSAGES}/{{passage_id}}/page.png")
    @needs("asker")
    async def page_image(request: Request, passage_id: str) -> Response:
        """The page of a PDF with the place marked."""
        spans = spans_of(request.query_params.getlist("span"))
        try:
            drawn = await page_picture(kb, await current_principal(kb), passage_id=passage_id, spans=spans)
        except ArgotError as error:
            return PlainTextResponse(str(error), status_code=404, headers=INERT)
        return Response(base64.b64decode(drawn.base64), media_type="image/png", headers=INERT)

    @router.get(f"{PASSAGES}/{{passage_id}}")
    @needs("asker")
    async def passage(request: Request, passage_id: str) -> Response:
        try:
            found = await _passage(kb, passage_id)
            text = passage_panel(found, spans_of(request.query_params.getlist("span")))
        except ArgotError as error:
            # Status 200, because the panel shows the words of nothing else.
            text = plain(error)
        return PlainTextResponse(text, headers=INERT)

    @router.get(f"{PASSAGES}/{{passage_id}}/original")
    @needs("asker")
    async def original(passage_id: str) -> Response:
        try:
            found = await _passage(kb, passage_id)
            source = await read_original(kb, await current_principal(kb), document=found.document_id)
            # A web page that somebody put in as a document would otherwise open at our address.
            if source.media_type != "application/pdf":
                raise NotFound("Only the originals of PDF documents can be shown.")
        except ArgotError as error:
            return PlainTextResponse(str(error), status_code=404, headers=INERT)
        name = quote(source.document.name, safe="")
        headers = {**INERT, "Content-Disposition": f"attachment; filename*=UTF-8''{name}"}
        return Response(base64.b64decode(source.base64), media_type="application/pdf", headers=headers)

    return router


async def _passage(kb: KnowledgeBase, passage_id: str) -> PassageShown:
    return await read_passage(kb, await current_principal(kb), passage_id=passage_id)


def spans_of(texts: list[str]) -> list[tuple[int, int]]:
    """The span (12, 80) of "12-80". Malformed ones are left out: spans only colour the text."""
    found = (_SPAN.fullmatch(text) for text in texts[:MAX_SPANS])
    return [(int(one[1]), int(one[2])) for one in found if one]
