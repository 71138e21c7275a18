"""The API address that checks the terms of a text."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, File, Form, HTTPException, Query, UploadFile
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from argot.errors import InvalidInput
from argot.service.json_values import convert_to_json
from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases.glossary.text_checks import TextCheck, terms_check
from argot.service.usecases.usecase_registry import Text
from argot.ui.api.api_route import FORM_TYPE, ApiRoute, cancel_on_hang_up, limit_body
from argot.ui.api.openapi import declare_errors, get_operation_id
from argot.ui.rendering.sarif import build_sarif
from argot.ui.web.authorization import Who, needs
from argot.ui.web.open_connections import FORM_OVERHEAD_BYTES
from argot.ui.web.routers import make_router
from argot.ui.web.sent_files import read_sent_name

MAX_TEXT_BYTES = 25_000_000
MAX_CONTEXTS = 100


def build_text_check_routes(kb: KnowledgeBase) -> APIRouter:
    router = make_router(
        prefix="/api", route_class=ApiRoute, generate_unique_id_function=get_operation_id, tags=["Terms"]
    )
    answers: dict[int | str, dict[str, Any]] = {
        200: {"model": TextCheck},
        **declare_errors(400, 401, 404, 413, 415, 422, 429, 503),
    }

    @router.post("/terms/check", response_model=None, responses=answers)
    @needs("asker", program=True)
    @limit_body(FORM_TYPE, MAX_TEXT_BYTES + FORM_OVERHEAD_BYTES)
    async def check_terms(
        request: Request,
        who: Who,
        file: Annotated[UploadFile, File(description="the text, in any format that Argot reads")],
        contexts: Annotated[list[Text] | None, Form(max_length=MAX_CONTEXTS, description="only their meanings")] = None,
        format: Annotated[
            Literal["json", "sarif"], Query(description="SARIF 2.1.0, for continuous integration")
        ] = "json",
    ) -> Response:
        """Check the terms of a text. Nothing of it is stored."""
        if file.size is not None and file.size > MAX_TEXT_BYTES:
            raise HTTPException(413, f"That is too large: a text may have {MAX_TEXT_BYTES / 1e6:g} MB.")
        name = read_sent_name(file)
        checking = terms_check(kb, who.principal, name=name, data=await file.read(), contexts=contexts)
        try:
            found = await cancel_on_hang_up(request, checking)
        except InvalidInput as error:
            raise HTTPException(422, str(error)) from error
        body = build_sarif({name: found}, {}) if format == "sarif" else convert_to_json(found)
        return JSONResponse(body, headers={"Cache-Control": "no-store"})

    return router
