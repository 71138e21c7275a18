"""API addresses that take or return files: documents and the glossary."""

from __future__ import annotations

import base64
from typing import Annotated, Any, Literal
from urllib.parse import quote

from fastapi import APIRouter, File, Form, HTTPException, Path, Query, UploadFile
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from argot.errors import InvalidInput
from argot.service.json_values import convert_to_json
from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases.documents import documents, pictures, revisions, uploads
from argot.service.usecases.documents.uploads import is_media_type_known
from argot.service.usecases.glossary.files import (
    FORMATS,
    EverydayChoice,
    decode_export,
    find_format,
    glossary_export_file,
    glossary_import_file,
    glossary_preview,
)
from argot.service.usecases.usecase_registry import Text, get_outcome
from argot.ui.api.api_route import FORM_TYPE, MIB, ApiRoute, cancel_on_hang_up, limit_body
from argot.ui.api.openapi import declare_errors, get_operation_id
from argot.ui.api.response_models import Shown, UploadShown
from argot.ui.web.authorization import Who, needs
from argot.ui.web.open_connections import FORM_OVERHEAD_BYTES, INERT_POLICY
from argot.ui.web.routers import add_routes, make_router
from argot.ui.web.sent_files import read_sent_name

MAX_FIELDS = 100
PICTURE_KINDS = ("image/png", "image/jpeg")
TEXT = {"type": "string"}
ATTACHMENT_RESPONSE = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": INERT_POLICY,
    "X-Content-Type-Options": "nosniff",
}
"""Headers of files that people uploaded: a browser saves them, and never shows them as a page of ours."""


def build_file_routes(kb: KnowledgeBase) -> APIRouter:
    router = make_router(route_class=ApiRoute)
    add_routes(router, _build_document_routes(kb))
    add_routes(router, _build_glossary_routes(kb))
    return router


def _build_document_routes(kb: KnowledgeBase) -> APIRouter:
    router = make_router(
        prefix="/api", route_class=ApiRoute, generate_unique_id_function=get_operation_id, tags=["Documents"]
    )
    _add_uploads(router, kb)
    _add_downloads(router, kb)
    return router


def _add_uploads(router: APIRouter, kb: KnowledgeBase) -> None:
    most = _get_max_file_bytes(kb)
    done: dict[int | str, dict[str, Any]] = {
        200: {"model": UploadShown, "description": "It was there: updated, unchanged, or a duplicate."},
        201: {"model": UploadShown, "description": "It is in."},
        **declare_errors(400, 401, 403, 413, 415, 422, 503),
    }
    replaced: dict[int | str, dict[str, Any]] = {
        200: {"model": UploadShown},
        **declare_errors(400, 401, 403, 404, 413, 415, 422, 503),
    }

    @router.post("/documents", response_model=None, status_code=201, responses=done)
    @needs("manager", program=True, case="upload")
    @limit_body(FORM_TYPE, most + FORM_OVERHEAD_BYTES)
    async def upload(
        request: Request,
        who: Who,
        file: Annotated[UploadFile, File(description="the document")],
        audience: Annotated[list[Text] | None, Form(max_length=MAX_FIELDS, description="groups, or @NAME")] = None,
        tags: Annotated[list[Text] | None, Form(max_length=MAX_FIELDS)] = None,
    ) -> Response:
        """Put a document in, or the documents in an archive (ZIP, TAR): `files` says what became of each.

        A name that exists already gets a new revision; an upload that breaks off leaves nothing.

        Without `audience` a new document is for everyone, and a known one keeps its readers. Give each reader, and each
        tag, in a field of its own.
        """
        data = await _read_only_file(kb, request, file)
        # Checked here for a status of its own; the use case would refuse it like any other invalid input.
        name = read_sent_name(file)
        if not is_media_type_known(name, data):
            raise HTTPException(415, "Argot cannot read files of this kind. See docs/managers.md for those it can.")
        putting = uploads.upload(kb, who.principal, name=name, data=data, audience=audience, tags=tags)
        try:
            result = await cancel_on_hang_up(request, putting)
        except InvalidInput as error:
            raise HTTPException(422, str(error)) from error
        return JSONResponse(convert_to_json(result), 201 if result.kind == "added" else 200)

    @router.post("/documents/{document}/file", response_model=None, responses=replaced)
    @needs("manager", program=True, case="document_replace")
    @limit_body(FORM_TYPE, most + FORM_OVERHEAD_BYTES)
    async def document_replace(
        request: Request,
        who: Who,
        document: Annotated[Text, Path()],
        file: Annotated[UploadFile, File(description="the document")],
    ) -> Response:
        """Put in a new revision of a document: another file of the same format, under any name."""
        data = await _read_only_file(kb, request, file)
        name = read_sent_name(file)
        replacing = revisions.document_replace(kb, who.principal, document=document, name=name, data=data)
        try:
            return JSONResponse(convert_to_json(await cancel_on_hang_up(request, replacing)))
        except InvalidInput as error:
            raise HTTPException(422, str(error)) from error


def _get_max_file_bytes(kb: KnowledgeBase) -> int:
    return int(kb.settings.limits.max_file_mb * 1_000_000)


async def _read_only_file(kb: KnowledgeBase, request: Request, file: UploadFile) -> bytes:
    # FastAPI would take one of several files and silently drop the others.
    if len((await request.form()).getlist("file")) > 1:
        raise HTTPException(422, "Send one file at a time.")
    if file.size is not None and file.size > _get_max_file_bytes(kb):
        raise HTTPException(413, f"That is too large: a document may have {kb.settings.limits.max_file_mb:g} MB.")
    return await file.read()


def _add_downloads(router: APIRouter, kb: KnowledgeBase) -> None:
    original: dict[int | str, dict[str, Any]] = {
        200: {"content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}},
        **declare_errors(401, 404, 422, 503),
    }

    @router.get("/documents/{document}/original", response_model=None, response_class=Response, responses=original)
    @needs("asker", program=True)
    async def read_original(request: Request, who: Who, document: Annotated[Text, Path()]) -> Response:
        """Return the bytes of a document as they were put in, for saving."""
        found = await cancel_on_hang_up(request, documents.read_original(kb, who.principal, document=document))
        return _send_attachment(base64.b64decode(found.base64), found.document.name, "application/octet-stream")

    drawn: dict[int | str, dict[str, Any]] = {
        200: {"content": {kind: {"schema": {"type": "string", "format": "binary"}} for kind in PICTURE_KINDS}},
        **declare_errors(401, 404, 422, 503),
    }

    @router.get(
        "/documents/{document}/pictures/{number}", response_model=None, response_class=Response, responses=drawn
    )
    @needs("asker", program=True, framed=True)
    async def read_picture(
        request: Request, who: Who, document: Annotated[Text, Path()], number: Annotated[int, Path(ge=1, le=10_000)]
    ) -> Response:
        """Return a picture of a document, as `pictures` of the document and of passages name it: PNG or JPEG."""
        reading = pictures.document_picture(kb, who.principal, document=document, number=number)
        found = await cancel_on_hang_up(request, reading)
        return Response(base64.b64decode(found.base64), media_type=found.media_type, headers=ATTACHMENT_RESPONSE)


def _build_glossary_routes(kb: KnowledgeBase) -> APIRouter:
    router = make_router(
        prefix="/api/glossary", route_class=ApiRoute, generate_unique_id_function=get_operation_id, tags=["Glossary"]
    )
    _add_export(router, kb)
    _add_import(router, kb)
    return router


def _add_export(router: APIRouter, kb: KnowledgeBase) -> None:
    names = Literal[tuple(one.name for one in FORMATS)]  # type: ignore[valid-type]
    exported: dict[int | str, dict[str, Any]] = {
        200: {"content": {one.media_type: {"schema": {} if "json" in one.media_type else TEXT} for one in FORMATS}},
        **declare_errors(401, 422, 503),
    }

    async def export(request: Request, who: Any, format: str = "csv") -> Response:
        """Export the senses that you may read, as a file that can be imported again."""
        found = find_format(format)
        told = await cancel_on_hang_up(request, glossary_export_file(kb, who.principal, format=found.name))
        return _send_attachment(decode_export(told, found.name), f"glossary{found.suffixes[0]}", found.media_type)

    # The formats are known only at run time, and the module's annotations are strings, which FastAPI looks up globally.
    export.__annotations__ |= {"request": Request, "who": Who, "format": Annotated[names, Query()], "return": Response}
    router.get("/export", response_model=None, response_class=Response, responses=exported)(
        needs("asker", program=True)(export)
    )


def _add_import(router: APIRouter, kb: KnowledgeBase) -> None:
    most = int(kb.settings.limits.max_glossary_mb * MIB)

    @router.post(
        "/import",
        response_model=None,
        responses={200: {"model": Shown}, **declare_errors(400, 401, 403, 409, 413, 415, 422, 503)},
    )
    @needs("manager", program=True, case="glossary_import_file")
    @limit_body(FORM_TYPE, most + FORM_OVERHEAD_BYTES)
    async def import_file(  # noqa: PLR0917  as a form has them
        request: Request,
        who: Who,
        file: Annotated[UploadFile, File(description="CSV, TSV, XLSX, TBX, JSON or SKOS")],
        context: Annotated[
            Text, Form(max_length=200, description="the context of terms for which the file names none")
        ] = "",
        columns: Annotated[
            Text, Form(max_length=10_000, description="the columns of a table: Abbreviation=term,Meaning=expansion")
        ] = "",
        everyday: Annotated[
            EverydayChoice, Form(description="what becomes of terms that are everyday words")
        ] = "draft",
        partial: Annotated[bool, Form(description="import what is right, and return the rest with reasons")] = False,
        why: Annotated[Text, Form(max_length=10_000)] = "",
        dry_run: Annotated[bool, Form(description="only report what would change")] = False,
    ) -> Response:
        """Import a glossary, all of it or what is right, as one change that can be rolled back."""
        # Some browsers and programs send the whole path, also of Windows. The format depends on the name alone.
        name = (file.filename or "glossary.csv").replace("\\", "/").rsplit("/", 1)[-1][:200]
        data = base64.b64encode(await file.read()).decode("ascii")
        principal = who.principal
        if dry_run:
            looking = glossary_preview(
                kb, principal, data=data, name=name, context=context, columns=columns, everyday=everyday
            )
            return JSONResponse(convert_to_json(await cancel_on_hang_up(request, looking)))
        importing = glossary_import_file(
            kb, principal, data=data, name=name, context=context, columns=columns, everyday=everyday, partial=partial,
            why=why,
        )  # fmt: skip
        return JSONResponse(convert_to_json(await cancel_on_hang_up(request, get_outcome(importing))))


def _send_attachment(data: bytes, name: str, media_type: str) -> Response:
    # Names may be in any script, which plain `filename=` does not allow (RFC 6266).
    headers = {**ATTACHMENT_RESPONSE, "Content-Disposition": f"attachment; filename*=UTF-8''{quote(name, safe='')}"}
    return Response(data, media_type=media_type, headers=headers)
