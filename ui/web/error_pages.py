"""Errors of our own pages in words: a page for a browser that opens one, a line of text for scripts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import PlainTextResponse
from starlette.exceptions import HTTPException

from argot.errors import ArgotError, Conflict, InvalidInput, NotAllowed, NotFound, RetryLater, TooManyQuestions
from argot.languages.catalogues import translate
from argot.remedies import LIST_DOCUMENTS
from argot.service.observability.instrumentation import request_id
from argot.service.usecases.parameter_problems import describe_length
from argot.ui.translation.page_errors import translate_error_text
from argot.ui.web.api_errors import answer_program
from argot.ui.web.authorization import PAGE_ROOTS, VISITOR_KEY, is_for_programs
from argot.ui.web.form_recovery import OutdatedForm
from argot.ui.web.kept_forms import show_kept_form
from argot.ui.web.page_templates import show_refusal

UNEXPECTED_ERROR = "Something went wrong in Argot. An administrator can find it in the log as %(number)s."
# The first match counts, so the root of all errors stands last.
_STATUS: tuple[tuple[type[ArgotError], int], ...] = (
    (NotFound, 404),
    (NotAllowed, 403),
    (Conflict, 409),
    (TooManyQuestions, 429),
    (InvalidInput, 400),
    (ArgotError, 503),
)


def explain_errors(app: FastAPI) -> None:
    @app.exception_handler(HTTPException)
    async def explain_refusal(request: Request, error: HTTPException) -> Response:
        if isinstance(error, OutdatedForm) and error.form and "hx-request" not in request.headers:
            return show_kept_form(403, request.url.path, request.url.query, error.form, request.scope.get(VISITOR_KEY))
        return _show_error(request, error.status_code, str(error.detail))

    @app.exception_handler(RequestValidationError)
    async def explain_invalid(request: Request, error: RequestValidationError) -> Response:
        return _show_error(request, 422, describe_problems(error))

    @app.exception_handler(ArgotError)
    async def explain_error(request: Request, error: ArgotError) -> Response:
        response = _show_error(request, get_status(error), _strip_command(str(error)))
        if isinstance(error, RetryLater):
            response.headers["Retry-After"] = str(error.wait)
        return response

    @app.exception_handler(Exception)
    async def explain_unexpected(request: Request, error: Exception) -> Response:
        """Explain an internal error. It is raised again behind this response, and logged under the request's number."""
        return _show_error(request, 500, translate(UNEXPECTED_ERROR, number=request_id.get()))


def get_status(error: ArgotError) -> int:
    return next(status for kind, status in _STATUS if isinstance(error, kind))


def describe_problems(error: RequestValidationError) -> str:
    """Describe the invalid fields, without their values: one of them may be a password."""
    # Five at most: a long list in the wrong form has one problem for each of its items.
    problems = "; ".join(_describe_problem(str(one["loc"][-1]), one) for one in error.errors()[:5])
    return translate("This input is not valid. %(problems)s.", problems=problems)


def _describe_problem(where: str, one: Mapping[str, Any]) -> str:
    return describe_length(where, one) or f"{where}: {one['msg']}"


def _strip_command(text: str) -> str:
    """Remove the advice to run a command, which a page or a program cannot follow."""
    return text.removesuffix(f" {LIST_DOCUMENTS}")


def _show_error(request: Request, status: int, text: str) -> Response:
    if is_for_programs(request.url.path):
        return answer_program(status, text, path=request.url.path)
    # HTMX accepts HTML too, but puts it into a part of the page, where one line is enough.
    if "text/html" in request.headers.get("accept", "") and "hx-request" not in request.headers:
        # Among related pages, the first is the most likely to work when another does not.
        head = f"/{request.url.path.split('/')[1]}"
        back = head if status == 500 and head in PAGE_ROOTS else ""
        return show_refusal(status, translate_error_text(text), request.scope.get(VISITOR_KEY), back)
    return PlainTextResponse(translate_error_text(text), status_code=status, headers={"Cache-Control": "no-store"})
