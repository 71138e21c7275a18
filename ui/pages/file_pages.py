"""Import and export of the glossary as files; an import is previewed first."""

from __future__ import annotations

import base64
import codecs
import csv
import io
import secrets
import time
from collections import OrderedDict
from dataclasses import dataclass, replace
from typing import Any, cast, get_args
from urllib.parse import quote

from fastapi import APIRouter, Request, Response
from starlette.datastructures import UploadFile

from argot.errors import ArgotError, Conflict, InvalidInput, NotAllowed, NotFound
from argot.service.json_values import read_dataclass_fields
from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases.glossary.files import (
    FIELDS,
    FORMATS,
    EverydayChoice,
    ImportReport,
    decode_export,
    find_format,
    glossary_export_file,
    glossary_import_file,
    glossary_preview,
)
from argot.service.usecases.usecase_registry import get_outcome
from argot.ui.pages.page_base import HOME, MAX_BODY_BYTES, BoundedRoute, Pages, read_form, redirect, show_page
from argot.ui.web.authorization import Visitor, Who, needs
from argot.ui.web.routers import make_router

# Rows shown of each kind of change. The counts include all of them.
MAX_ROWS = 50
MAX_COLUMNS = 200
KEEP_SECONDS = 30 * 60
MAX_KEPT_BYTES = 4 * MAX_BODY_BYTES


@dataclass(frozen=True, slots=True)
class Upload:
    """A file between its preview and its import.

    `context` and `language`: defaults for values missing in the file; `format`: empty to detect it; `columns`: the
    corrected ones; `contexts`: a list of contexts; `partial`: what is right is imported; `seen`: stamp of the preview.
    """

    who: str
    name: str
    data: bytes
    at: float
    context: str = ""
    language: str = ""
    format: str = ""
    columns: str = ""
    everyday: EverydayChoice = "draft"
    contexts: bytes = b""
    seen: str = ""


class Uploads:
    """Files that were previewed and not imported yet: in memory, one for each manager, for half an hour."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, Upload] = OrderedDict()

    def keep(self, upload: Upload) -> str:
        """Keep a file, and return the token that finds it again."""
        old = [token for token, one in self._kept.items() if one.who == upload.who or one.at < upload.at - KEEP_SECONDS]
        for token in old:
            del self._kept[token]
        token = secrets.token_urlsafe(16)
        self._kept[token] = upload
        # The oldest are dropped first. The newest stays, however large: the size of a request limits it.
        while (
            len(self._kept) > 1
            and sum(len(one.data) + len(one.contexts) for one in self._kept.values()) > MAX_KEPT_BYTES
        ):
            self._kept.popitem(last=False)
        return token

    def take(self, token: str, who: str) -> Upload:
        """Return the file of this token, and keep it no longer.

        Raises:
            NotFound: the file has expired, was imported already, or is somebody else's.
        """
        found = self.look_at(token, who)
        del self._kept[token]
        return found

    def look_at(self, token: str, who: str) -> Upload:
        """Return the file of this token, which stays.

        Raises:
            NotFound: as for `take`.
        """
        found = self._kept.get(token)
        if found is None or found.who != who or time.monotonic() - found.at > KEEP_SECONDS:
            raise NotFound("This file is no longer stored. Choose it again.")
        return found


def build_file_pages(kb: KnowledgeBase) -> APIRouter:
    router = make_router(prefix=HOME, route_class=BoundedRoute)
    pages, uploads = Pages(kb), Uploads()

    @router.get("/files")
    @needs("manager")
    async def files(request: Request, who: Who) -> Response:
        return await _render_files(pages, request, who)

    @router.post("/files/preview")
    @needs("manager")
    async def preview(request: Request, who: Who) -> Response:
        try:
            form = await read_form(request)
            if token := form.get("token", ""):
                upload = _correct_upload(uploads.take(token, who.name), form)
            else:
                upload = await _read_upload(request, who)
            return await show_preview(request, who, upload)
        except (InvalidInput, NotAllowed, NotFound) as error:
            return await _render_files(pages, request, who, error)

    @router.get("/files/rest")
    @needs("manager")
    async def rest(who: Who, token: str = "") -> Response:
        """Return the rows of a previewed file that stay out, each with its reason."""
        upload = uploads.look_at(token, who.name)
        found = await glossary_preview(pages.kb, who.principal, **_make_parameters(upload), limit=1)
        return _send_file(f"{upload.name.rsplit('.', 1)[0]}-rest.csv", ("\ufeff" + found.rest).encode(), "text/csv")

    @router.post("/files/import")
    @needs("manager")
    async def import_(request: Request, who: Who) -> Response:
        form = await read_form(request)
        try:
            upload = uploads.take(form.get("token", ""), who.name)
            done = await import_upload(who, upload, form.get("why", ""), partial=bool(form.get("partial")))
        except Conflict as error:
            # The glossary has changed since the preview: the file is kept again, and a new preview is shown.
            return await show_preview(
                request, who, replace(upload, at=time.monotonic()), error, why=form.get("why", "")
            )
        except (InvalidInput, NotAllowed, NotFound) as error:
            return await _render_files(pages, request, who, error)
        # Nothing in the file was new, so there is no change to show.
        if done.change is None:
            return redirect("", done="imported")
        return redirect(f"/history/{done.change}", done="imported")

    async def import_upload(who: Visitor, upload: Upload, why: str, *, partial: bool) -> ImportReport:
        """Import the file exactly as it was previewed, and return the result."""
        parameters = {**_make_parameters(upload), "partial": partial, "seen": upload.seen, "why": why}
        return await get_outcome(glossary_import_file(pages.kb, who.principal, **parameters))

    async def show_preview(
        request: Request, who: Visitor, upload: Upload, error: Conflict | None = None, why: str = ""
    ) -> Response:
        """Show the changes that the file would make now; importing it makes exactly these."""
        found = await glossary_preview(pages.kb, who.principal, **_make_parameters(upload), limit=MAX_ROWS)
        token = uploads.keep(replace(upload, seen=found.stamp))
        parameters = {"name": upload.name, "context": upload.context, "token": token, "why": why, "fields": FIELDS}
        parameters["choice"] = upload.everyday
        return show_page("preview.html", request, who, error=error, **parameters, **read_dataclass_fields(found))

    @router.get("/files/export")
    @needs("manager")
    async def export(who: Who, format: str = "csv") -> Response:
        found = find_format(format)
        exported = await glossary_export_file(pages.kb, who.principal, format=found.name)
        # A table from here is opened in a spreadsheet, and some recognise UTF-8 only by its byte order mark.
        mark = codecs.BOM_UTF8 if found.name in ("csv", "tsv") else b""
        return _send_file(f"glossary{found.suffixes[0]}", mark + decode_export(exported, found.name), found.media_type)

    return router


def _send_file(name: str, data: bytes, media_type: str) -> Response:
    headers = {"Content-Disposition": f"attachment; filename*=UTF-8''{quote(name, safe='')}"}
    return Response(data, media_type=media_type, headers={**headers, "Cache-Control": "no-store"})


async def _render_files(pages: Pages, request: Request, who: Visitor, error: ArgotError | None = None) -> Response:
    contexts = [one.name for one in await pages.contexts(who) if one.may_manage]
    return show_page("files.html", request, who, formats=FORMATS, error=error, contexts=contexts)


async def _read_upload(request: Request, who: Visitor) -> Upload:
    file = (await request.form()).get("file")
    if not isinstance(file, UploadFile) or not file.filename:
        raise InvalidInput("No file was chosen.")
    # Some browsers send the whole path. The format depends on the name alone.
    name = file.filename.replace("\\", "/").rsplit("/", 1)[-1][:200]
    form = await read_form(request)
    context, language, format_ = (form.get(field, "").strip() for field in ("context", "language", "format"))
    listed = (await request.form()).get("contexts")
    contexts = await listed.read() if isinstance(listed, UploadFile) and listed.filename else b""
    at, data = time.monotonic(), await file.read()
    return Upload(who.name, name, data, at, contexts=contexts, context=context, language=language, format=format_)


def _correct_upload(upload: Upload, form: dict[str, str]) -> Upload:
    """Return the file with the columns and the decision that the form of the preview holds."""
    pairs = [
        (form[f"column-{at}"], form.get(f"field-{at}", "-")) for at in range(MAX_COLUMNS) if form.get(f"column-{at}")
    ]
    out = io.StringIO()
    # As `--map` is written: a name that holds a comma stands in quotes.
    csv.writer(out, lineterminator="").writerow([f"{name}={field}" for name, field in pairs])
    choice = form.get("everyday", upload.everyday)
    if choice not in get_args(EverydayChoice):
        raise InvalidInput(f"There is no decision '{choice[:40]}'. Decisions: {', '.join(get_args(EverydayChoice))}.")
    columns = out.getvalue() if pairs else upload.columns
    return replace(upload, at=time.monotonic(), columns=columns, everyday=cast(EverydayChoice, choice))


def _make_parameters(upload: Upload) -> dict[str, Any]:
    data = base64.b64encode(upload.data).decode("ascii")
    open_ = {"context": upload.context, **({"language": upload.language} if upload.language else {})}
    contexts = base64.b64encode(upload.contexts).decode("ascii")
    decided = {"columns": upload.columns, "everyday": upload.everyday, "contexts": contexts}
    return {"data": data, "name": upload.name, "format": upload.format, **open_, **decided}
