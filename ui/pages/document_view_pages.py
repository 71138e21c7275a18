"""One document, for managers: the text that was read of it beside the file, its labels and its revisions."""

from __future__ import annotations

import base64
from collections.abc import Awaitable
from typing import Any
from urllib.parse import quote

from fastapi import APIRouter, Request, Response
from fastapi.responses import PlainTextResponse
from starlette.datastructures import UploadFile

from argot.errors import ArgotError, Conflict, InvalidInput, NotAllowed, NotFound
from argot.languages.catalogues import translate
from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases.documents.documents import OriginalFile, PagePicture, read_original, read_source, remove
from argot.service.usecases.documents.listing import document_near
from argot.service.usecases.documents.passages import document_page, document_part, document_use
from argot.service.usecases.documents.revisions import (
    document_bring_back,
    document_compare,
    document_label,
    document_replace,
    document_reread,
    document_revisions,
)
from argot.ui.pages.document_list import describe_derivation
from argot.ui.pages.document_pages import DOCUMENTS, link_document, make_upload_route
from argot.ui.pages.form_fields import parse_field_lines, split_commas
from argot.ui.pages.page_base import Pages, parse_integer, read_form, redirect_to_address, show_page
from argot.ui.pages.source_pages import INERT_HEADERS
from argot.ui.translation.page_errors import translate_error
from argot.ui.web.authorization import Visitor, Who, needs
from argot.ui.web.routers import make_router

MAX_DIFFERENCES = 200
PICTURE_TYPES = ("image/png", "image/jpeg", "image/gif", "image/webp")
"""Types that every browser shows and that cannot hold a script."""


def build_document_view_pages(kb: KnowledgeBase) -> APIRouter:
    router = make_router(prefix=f"{DOCUMENTS}/{{document}}", route_class=make_upload_route(kb))
    pages = Pages(kb)
    _add_reading(router, pages)
    _add_changes(router, pages)
    _add_revisions(router, pages)
    return router


def _add_reading(router: APIRouter, pages: Pages) -> None:
    @router.get("")
    @needs("manager")
    async def document(request: Request, who: Who, document: str) -> Response:
        return await _render_document(pages, request, who, document)

    @router.get("/page-{number}.png")
    @needs("manager")
    async def picture(who: Who, document: str, number: int) -> Response:
        try:
            drawn = await document_page(pages.kb, who.principal, document=document, page=number)
        except ArgotError as error:
            return PlainTextResponse(translate_error(error), status_code=404, headers=INERT_HEADERS)
        return send_page_picture(drawn)

    @router.get("/picture")
    @needs("manager")
    async def whole_picture(who: Who, document: str) -> Response:
        """Return a picture file, to be shown beside the text that was read from it."""
        found = await read_original(pages.kb, who.principal, document=document)
        if found.media_type not in PICTURE_TYPES:
            raise NotFound(translate("This document is not a picture that browsers can show."))
        return Response(base64.b64decode(found.base64), media_type=found.media_type, headers=INERT_HEADERS)

    @router.get("/markdown")
    @needs("manager")
    async def markdown(who: Who, document: str) -> Response:
        found = await read_source(pages.kb, who.principal, document=document)
        return PlainTextResponse(found.markdown, headers=INERT_HEADERS)

    @router.get("/original")
    @needs("manager")
    async def original(who: Who, document: str) -> Response:
        """Return the file as it was put in, for saving: an untrusted file is never shown as a page of ours."""
        return send_original(await read_original(pages.kb, who.principal, document=document))


def send_original(found: OriginalFile) -> Response:
    """Send the file as it was put in, for saving."""
    name = quote(found.document.name, safe="")
    headers = {**INERT_HEADERS, "Content-Disposition": f"attachment; filename*=UTF-8''{name}"}
    return Response(base64.b64decode(found.base64), media_type="application/octet-stream", headers=headers)


def send_page_picture(drawn: PagePicture) -> Response:
    return Response(base64.b64decode(drawn.base64), media_type=drawn.media_type, headers=INERT_HEADERS)


def _add_changes(router: APIRouter, pages: Pages) -> None:
    kb = pages.kb

    @router.post("/labels")
    @needs("manager")
    async def labels(request: Request, who: Who, document: str) -> Response:
        form = await read_form(request)
        labels_given: dict[str, Any] = {name: split_commas(form.get(name, "")) for name in ("tags", "audience")}
        try:
            if "fields" in form:
                labels_given["fields"] = parse_field_lines(form["fields"])
            saved = await document_label(kb, who.principal, document=document, **labels_given)
        except (InvalidInput, NotAllowed) as error:
            return await _render_document(pages, request, who, document, error, at="labels", typed=form)
        if not who.principal.may_read(saved.audience):
            return redirect_to_address(f"{DOCUMENTS}?done=hidden")
        return redirect_to_address(link_document(document, "?done=saved-unknown" if saved.notices else "?done=saved"))

    @router.post("/remove")
    @needs("manager")
    async def take_out(who: Who, document: str) -> Response:
        removed = await remove(kb, who.principal, document=document)
        if not kb.settings.retention.removed_days:
            return redirect_to_address(f"{DOCUMENTS}?done=erased")
        return redirect_to_address(f"{DOCUMENTS}?done=removed&removed={removed.id}")

    @router.post("/reread")
    @needs("manager")
    async def reread(request: Request, who: Who, document: str) -> Response:
        return await apply_change(
            request, who, document, "reread", document_reread(kb, who.principal, document=document)
        )

    @router.post("/replace")
    @needs("manager")
    async def replace(request: Request, who: Who, document: str) -> Response:
        file = (await request.form()).get("file")
        if not isinstance(file, UploadFile) or not file.filename:
            error = InvalidInput("No file was chosen.")
            return await _render_document(pages, request, who, document, error, at="replaced")
        data, name = await file.read(), file.filename
        work = document_replace(kb, who.principal, document=document, name=name, data=data)
        return await apply_change(request, who, document, "replaced", work)

    @router.post("/revisions/{revision}/bring-back")
    @needs("manager")
    async def bring_back(request: Request, who: Who, document: str, revision: str) -> Response:
        work = document_bring_back(kb, who.principal, document=document, revision=revision)
        return await apply_change(request, who, document, "revision-back", work)

    async def apply_change(
        request: Request, who: Visitor, document: str, what: str, work: Awaitable[object]
    ) -> Response:
        try:
            await work
        except (Conflict, InvalidInput, NotAllowed) as error:
            return await _render_document(pages, request, who, document, error, at=what)
        return redirect_to_address(link_document(document, f"?done={what}"))


def _add_revisions(router: APIRouter, pages: Pages) -> None:
    @router.get("/revisions/{revision}")
    @needs("manager")
    async def compare(request: Request, who: Who, document: str, revision: str) -> Response:
        found = await document_compare(pages.kb, who.principal, document=document, revision=revision)
        shown = found.differences[:MAX_DIFFERENCES]
        return show_page("revision.html", request, who, found=found, differences_shown=shown)


async def _render_document(
    pages: Pages,
    request: Request,
    who: Visitor,
    document: str,
    error: ArgotError | None = None,
    *,
    at: str = "",
    typed: dict[str, str] | None = None,
) -> Response:
    """Render the page of a document. `at`: the form that caused the error, which is opened again to show it."""
    part = parse_integer(request.query_params.get("part"))
    passage = request.query_params.get("passage", "")[:100]
    wanted = part if part > 0 else None
    read = await document_part(pages.kb, who.principal, document=document, part=wanted, passage=passage)
    if part > 0 and not read.passages and read.parts:
        raise NotFound(translate("There is no such page in this document."))
    stored = {"tags": ", ".join(read.document.tags), "audience": ", ".join(sorted(read.document.audience))}
    stored["fields"] = "\n".join(f"{one.name}: {one.value}" for one in read.given)
    # Only managers of everything may change documents, and see their former revisions.
    changes = who.principal.manages_all
    revisions = await document_revisions(pages.kb, who.principal, document=document) if changes else []
    derivation = (await describe_derivation(pages.kb, who, [read.document.id])).get(read.document.id, "")
    use = await document_use(pages.kb, who.principal, document=document) if changes else None
    shown = {"read": read, "revisions": revisions, "use": use, "given": {**stored, **(typed or {})}, "at": at}
    shown |= {"raw": request.query_params.get("text") == "raw", "pictures": PICTURE_TYPES}
    shown |= {"derivation": derivation, "near": await document_near(pages.kb, who.principal, document=document)}
    return show_page("document.html", request, who, error=error, may_change=changes, **shown)
