"""The documents, for managers: the list, putting files in, and the dustbin."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import quote

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse
from starlette.datastructures import UploadFile

from argot.errors import ArgotError, Conflict, InvalidInput, NotAllowed
from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases.document_dustbin import document_restore, removed_erase, removed_list
from argot.service.usecases.uploads import UploadReport, upload
from argot.ui.pages.document_list import CHOICES, documents_listed
from argot.ui.pages.form_fields import between_commas
from argot.ui.pages.page_base import BoundedRoute, Pages, form_of, page, part, sent_to_address
from argot.ui.web.authorization import Visitor, Who, needs

DOCUMENTS = "/documents"
DUSTBIN = f"{DOCUMENTS}/dustbin"
AROUND = 2**20
"""Bytes that a form may have besides its files."""
MOST_TOGETHER = 100
"""Files of one form without a script; with one, each is sent by itself."""
_ID = re.compile(r"d[0-9a-f]{16}")


def document_link(document: str, rest: str = "") -> str:
    """The address of a document's page, or of something below it."""
    return f"{DOCUMENTS}/{quote(document, safe='')}{rest}"


def document_pages(kb: KnowledgeBase) -> APIRouter:
    router = APIRouter(prefix=DOCUMENTS, route_class=upload_route(kb))
    pages = Pages(kb)
    _list(router, pages)
    _dustbin(router, pages)
    return router


def upload_route(kb: KnowledgeBase) -> type[BoundedRoute]:
    """Routes whose forms may hold a file of the largest size."""

    class UploadRoute(BoundedRoute):
        most = int(kb.settings.max_file_mb * 1_000_000) + AROUND

    return UploadRoute


def _list(router: APIRouter, pages: Pages) -> None:
    @router.get("")
    @needs("manager")
    async def documents(request: Request, who: Who) -> Response:
        return await list_page(request, who)

    @router.get("/rows")
    @needs("manager")
    async def rows(request: Request, who: Who) -> Response:
        """The list alone, as one types."""
        if "hx-request" not in request.headers:
            return await list_page(request, who)
        found = await documents_listed(pages.kb, request, who, DOCUMENTS)
        return part("document_rows.html", {"HX-Replace-Url": found.link()}, who=who, listed=found, **CHOICES)

    @router.post("/upload")
    @needs("manager")
    async def put_in(request: Request, who: Who) -> Response:
        """One file of a script, answered with JSON; or all files of a form, answered with the page."""
        form = await form_of(request)
        files = [one for one in (await request.form()).getlist("files") if isinstance(one, UploadFile) and one.filename]
        readers = between_commas(form.get("audience", "")) or None
        labels: dict[str, Any] = {"audience": readers, "tags": between_commas(form.get("tags", "")) or None}
        if request.headers.get("accept") == "application/json":
            if len(files) != 1:
                raise InvalidInput("Send one file at a time.")
            return JSONResponse(_told(await _uploaded(pages.kb, who, files[0], labels)))
        if not files or len(files) > MOST_TOGETHER:
            reason = f"At most {MOST_TOGETHER} files can be sent together." if files else "No file was chosen."
            return await list_page(request, who, error=InvalidInput(reason), given=form)
        outcomes = []
        for file in files:
            try:
                outcomes.append(_told(await _uploaded(pages.kb, who, file, labels)))
            except (InvalidInput, NotAllowed) as error:
                outcomes.append({"kind": "failed", "name": file.filename or "", "detail": str(error), "href": ""})
        return await list_page(request, who, given=form, outcomes=outcomes)

    async def list_page(
        request: Request,
        who: Visitor,
        *,
        error: ArgotError | None = None,
        given: dict[str, str] | None = None,
        outcomes: list[dict[str, str]] | None = None,
    ) -> Response:
        found = await documents_listed(pages.kb, request, who, DOCUMENTS)
        removed = request.query_params.get("removed", "")
        shown = {
            "listed": found,
            "given": {name: (given or {}).get(name, "") for name in ("tags", "audience")},
            "outcomes": outcomes or [],
            # An address may name what can be taken back, but holds no text that is shown.
            "removed": removed if _ID.fullmatch(removed) else "",
            "most_mb": pages.kb.settings.max_file_mb,
        }
        return page("documents.html", request, who, error=error, **shown, **CHOICES)


def _dustbin(router: APIRouter, pages: Pages) -> None:
    @router.get("/dustbin")
    @needs("manager")
    async def dustbin(request: Request, who: Who) -> Response:
        return await dustbin_page(request, who)

    @router.post("/dustbin/erase")
    @needs("manager")
    async def erase(request: Request, who: Who) -> Response:
        """Erase one for good; without `document` all of them."""
        document = (await form_of(request)).get("document") or None
        await removed_erase(pages.kb, who.principal, document=document)
        return sent_to_address(f"{DUSTBIN}?done=erased")

    @router.post("/dustbin/{document}/restore")
    @needs("manager")
    async def restore(request: Request, who: Who, document: str) -> Response:
        try:
            report = await document_restore(pages.kb, who.principal, document=document)
        except (Conflict, InvalidInput) as error:
            return await dustbin_page(request, who, error)
        return sent_to_address(document_link(report.document.id if report.document else "", "?done=brought-back"))

    async def dustbin_page(request: Request, who: Visitor, error: ArgotError | None = None) -> Response:
        found = await removed_list(pages.kb, who.principal)
        return page("dustbin.html", request, who, error=error, removed=found, days=pages.kb.settings.keep_removed_days)


async def _uploaded(kb: KnowledgeBase, who: Visitor, file: UploadFile, labels: dict[str, Any]) -> UploadReport:
    return await upload(kb, who.principal, name=file.filename or "", data=await file.read(), **labels)


def _told(report: UploadReport) -> dict[str, str]:
    href = document_link(report.document.id) if report.document else ""
    return {"kind": report.kind, "name": report.name, "detail": report.detail, "href": href}
