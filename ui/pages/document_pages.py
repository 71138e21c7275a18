"""The documents, for managers: the list, uploads, and the removed documents."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, get_args
from urllib.parse import quote, urlencode

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse
from starlette.datastructures import UploadFile

from argot.errors import ArgotError, Conflict, InvalidInput, NotAllowed, NotFound
from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases.documents.bulk_changes import Change, document_change
from argot.service.usecases.documents.dustbin import document_restore, removed_erase, removed_list
from argot.service.usecases.documents.fetch import document_fetch
from argot.service.usecases.documents.read_faults import translate_read_fault
from argot.service.usecases.documents.uploads import MemberReport, UploadReport, upload
from argot.service.usecases.operations.job_queue import JobShown, job_list, job_retry
from argot.service.usecases.usecase_registry import get_outcome
from argot.ui.pages.document_list import CHOICES, PAGE_ROWS, list_documents
from argot.ui.pages.form_fields import split_commas
from argot.ui.pages.page_base import BoundedRoute, Pages, read_form, redirect_to_address, render_part, show_page
from argot.ui.translation.finding_texts import translate_finding
from argot.ui.translation.page_errors import translate_error
from argot.ui.web.authorization import Visitor, Who, needs
from argot.ui.web.open_connections import FORM_OVERHEAD_BYTES
from argot.ui.web.routers import make_router
from argot.ui.web.sent_files import read_sent_name

DOCUMENTS = "/documents"
DUSTBIN = f"{DOCUMENTS}/dustbin"
MAX_TICKED = 100
"""Files of one form without a script; a script sends each file by itself."""
CHANGES: tuple[Change, ...] = get_args(Change)
_ID = re.compile(r"d[0-9a-f]{16}")


def link_document(document: str, rest: str = "") -> str:
    """Build the address of a document's page, or of something below it."""
    return f"{DOCUMENTS}/{quote(document, safe='')}{rest}"


def build_document_pages(kb: KnowledgeBase) -> APIRouter:
    router = make_router(prefix=DOCUMENTS, route_class=make_upload_route(kb))
    pages = Pages(kb)
    _add_list(router, pages)
    _add_dustbin(router, pages)
    return router


def make_upload_route(kb: KnowledgeBase) -> type[BoundedRoute]:
    """Make a route class whose forms may hold a file of the largest size."""

    class UploadRoute(BoundedRoute):
        most = int(kb.settings.limits.max_file_mb * 1_000_000) + FORM_OVERHEAD_BYTES

    return UploadRoute


def _add_list(router: APIRouter, pages: Pages) -> None:
    @router.get("")
    @needs("manager")
    async def documents(request: Request, who: Who) -> Response:
        return await _render_list(pages, request, who)

    @router.get("/rows")
    @needs("manager")
    async def rows(request: Request, who: Who) -> Response:
        """Render the list alone, while somebody types."""
        if "hx-request" not in request.headers:
            return await _render_list(pages, request, who)
        found = await list_documents(pages.kb, request, who, DOCUMENTS)
        return render_part("document_rows.html", {"HX-Replace-Url": found.link()}, who=who, listed=found, **CHOICES)

    @router.post("/upload")
    @needs("manager")
    async def put_in(request: Request, who: Who) -> Response:
        """Put in one file or web address sent by a script, and answer with JSON; or all of a form, and answer with the
        page.
        """
        form = await read_form(request)
        files = [one for one in (await request.form()).getlist("files") if isinstance(one, UploadFile) and one.filename]
        wanted: list[UploadFile | str] = [*files, *([form["address"]] if form.get("address", "").strip() else [])]
        if request.headers.get("accept") == "application/json":
            return await _put_in_one(pages.kb, who, wanted, form)
        if not wanted or len(wanted) > MAX_TICKED:
            reason = f"At most {MAX_TICKED} files can be sent together." if wanted else "No file was chosen."
            return await _render_list(pages, request, who, error=InvalidInput(reason), given=form)
        outcomes = await _put_in_all(pages.kb, who, wanted, form)
        return await _render_list(pages, request, who, given=form, outcomes=outcomes)

    @router.post("/change")
    @needs("manager")
    async def change(request: Request, who: Who) -> Response:
        """Apply the same change to all ticked documents; the list stays filtered as the address says."""
        given = await request.form()
        chosen = [one for one in given.getlist("document") if isinstance(one, str)][:PAGE_ROWS]
        what = next((one for one in CHANGES if one == given.get("change")), None)
        values = split_commas(str(given.get("tags" if what in ("tag", "untag") else "audience", "")))
        if not chosen or what is None:
            error = InvalidInput("Nothing selected. Tick documents first.")
            return await _render_list(pages, request, who, error=error)
        return await _change_documents(pages, request, who, documents=chosen, change=what, values=values)

    @router.post("/jobs/{job}/retry")
    @needs("manager")
    async def retry(request: Request, who: Who, job: int) -> Response:
        """Retry a job that was put aside."""
        try:
            await job_retry(pages.kb, who.principal, job=job)
        except (InvalidInput, NotFound, Conflict) as error:
            return await _render_list(pages, request, who, error=error)
        return redirect_to_address(DOCUMENTS)


async def _render_list(
    pages: Pages,
    request: Request,
    who: Visitor,
    *,
    error: ArgotError | None = None,
    given: dict[str, str] | None = None,
    outcomes: list[dict[str, str]] | None = None,
) -> Response:
    found = await list_documents(pages.kb, request, who, DOCUMENTS)
    removed = request.query_params.get("removed", "")
    shown = {
        "listed": found,
        "given": {name: (given or {}).get(name, "") for name in ("tags", "audience", "address")},
        "outcomes": outcomes or [],
        # The address may name the document that can be restored, but holds no text that is shown.
        "removed": removed if _ID.fullmatch(removed) else "",
        "most_mb": pages.kb.settings.limits.max_file_mb,
        "aside": await _list_put_aside(pages, who),
    }
    return show_page("documents.html", request, who, error=error, **shown, **CHOICES)


async def _list_put_aside(pages: Pages, who: Visitor) -> list[JobShown]:
    """List the jobs that failed so often that they were put aside."""
    if not who.principal.manages_all:
        return []
    return [one for one in await job_list(pages.kb, who.principal) if one.state == "aside"]


async def _put_in_one(
    kb: KnowledgeBase, who: Visitor, wanted: Sequence[UploadFile | str], form: Mapping[str, str]
) -> Response:
    """Put in the only file or address that a script sent, and report it as JSON."""
    if len(wanted) != 1:
        raise InvalidInput("Send one file at a time.")
    report = await _put_in(kb, who, wanted[0], form, form.get("folder", ""))
    detail = "; ".join(filter(None, (translate_read_fault(report.detail), *map(translate_finding, report.notices))))
    return JSONResponse(
        {**_describe_report(report), "detail": detail, "files": list(map(_describe_report, report.files))}
    )


async def _put_in_all(
    kb: KnowledgeBase, who: Visitor, wanted: Sequence[UploadFile | str], form: Mapping[str, str]
) -> list[dict[str, str]]:
    """Put in everything of a form, and describe what became of each."""
    outcomes: list[dict[str, str]] = []
    for one in wanted:
        try:
            report = await _put_in(kb, who, one, form)
            outcomes += map(_describe_report, report.files or [report])
            outcomes += [
                {"kind": "notice", "name": report.name, "detail": translate_finding(notice), "href": ""}
                for notice in report.notices
            ]
        except (InvalidInput, NotAllowed) as error:
            name = one if isinstance(one, str) else read_sent_name(one)
            outcomes.append({"kind": "failed", "name": name, "detail": translate_error(error), "href": ""})
    return outcomes


async def _put_in(
    kb: KnowledgeBase, who: Visitor, one: UploadFile | str, form: Mapping[str, str], folder: str = ""
) -> UploadReport:
    """Put in a file of a form, or the content of a web address, with the form's readers and tags."""
    readers = split_commas(form.get("audience", "")) or None
    labels: dict[str, Any] = {"audience": readers, "tags": split_commas(form.get("tags", "")) or None}
    if isinstance(one, str):
        return await document_fetch(kb, who.principal, address=one, **labels)
    return await upload(kb, who.principal, name=read_sent_name(one), data=await one.read(), folder=folder, **labels)


def _describe_report(report: MemberReport) -> dict[str, str]:
    href = link_document(report.document.id) if report.document else ""
    return {"kind": report.kind, "name": report.name, "detail": translate_read_fault(report.detail), "href": href}


async def _change_documents(
    pages: Pages, request: Request, who: Visitor, *, documents: list[str], change: Change, values: list[str]
) -> Response:
    try:
        changing = document_change(pages.kb, who.principal, documents=documents, change=change, values=values)
        done = await get_outcome(changing)
    except InvalidInput as error:
        return await _render_list(pages, request, who, error=error)
    if done.problems:
        failed = [{"kind": "failed", "name": one.document, "detail": one.detail, "href": ""} for one in done.problems]
        return await _render_list(pages, request, who, outcomes=failed)
    notice = f"all-{change}-unknown" if done.notices else f"all-{change}"
    query = urlencode({**dict(request.query_params), "done": notice}, quote_via=quote)
    return redirect_to_address(f"{DOCUMENTS}?{query}")


def _add_dustbin(router: APIRouter, pages: Pages) -> None:
    @router.get("/dustbin")
    @needs("manager")
    async def dustbin(request: Request, who: Who) -> Response:
        return await render_dustbin(request, who)

    @router.post("/dustbin/erase")
    @needs("manager")
    async def erase(request: Request, who: Who) -> Response:
        """Erase one removed document for good; without `document` all of them."""
        document = (await read_form(request)).get("document") or None
        await removed_erase(pages.kb, who.principal, document=document)
        return redirect_to_address(f"{DUSTBIN}?done=erased")

    @router.post("/dustbin/{document}/restore")
    @needs("manager")
    async def restore(request: Request, who: Who, document: str) -> Response:
        try:
            report = await document_restore(pages.kb, who.principal, document=document)
        except (Conflict, InvalidInput) as error:
            return await render_dustbin(request, who, error)
        return redirect_to_address(link_document(report.document.id if report.document else "", "?done=brought-back"))

    async def render_dustbin(request: Request, who: Visitor, error: ArgotError | None = None) -> Response:
        found = await removed_list(pages.kb, who.principal)
        return show_page(
            "dustbin.html", request, who, error=error, removed=found, days=pages.kb.settings.retention.removed_days
        )
