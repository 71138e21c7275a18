"""The page on which somebody checks the terms of a text before they publish it."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response
from starlette.datastructures import UploadFile

from argot.errors import InvalidInput, NotFound, TooManyQuestions
from argot.languages.catalogues import translate
from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases.glossary.contexts import context_list
from argot.service.usecases.glossary.text_checks import terms_check
from argot.ui.pages.page_base import BoundedRoute, read_form, show_page
from argot.ui.pages.term_reading_pages import TERMS
from argot.ui.web.authorization import Who, needs
from argot.ui.web.routers import make_router
from argot.ui.web.sent_files import read_sent_name

TYPED_NAME = "typed text.md"


class TextRoute(BoundedRoute):
    """A route for one text, which any asker may send."""

    most = 25_000_000


def build_text_check_pages(kb: KnowledgeBase) -> APIRouter:
    router = make_router(prefix=TERMS, route_class=TextRoute)

    @router.get("/check")
    @needs("asker")
    async def form(request: Request, who: Who) -> Response:
        contexts = await context_list(kb, who.principal)
        return show_page("text_check.html", request, who, contexts=contexts, found=None, typed="", context="")

    @router.post("/check")
    @needs("asker")
    async def check(request: Request, who: Who) -> Response:
        form = await read_form(request)
        context, typed = form.get("context", "")[:200], form.get("text", "")
        error: Exception | None = None
        found = None
        try:
            name, data = await _read_text(request, typed)
            found = await terms_check(kb, who.principal, name=name, data=data, contexts=[context] if context else None)
        except (InvalidInput, NotFound, TooManyQuestions) as refusal:
            error = refusal
        contexts = await context_list(kb, who.principal)
        shown = {"contexts": contexts, "found": found, "typed": typed, "context": context}
        return show_page("text_check.html", request, who, error=error, **shown)

    return router


async def _read_text(request: Request, typed: str) -> tuple[str, bytes]:
    """Return the file that was sent, else the text that was typed.

    Raises:
        InvalidInput: there is neither.
    """
    file = (await request.form()).get("file")
    if isinstance(file, UploadFile) and file.filename:
        return read_sent_name(file)[-200:], await file.read()
    if not typed.strip():
        raise InvalidInput(translate("There is no text. Paste one, or choose a file."))
    return TYPED_NAME, typed.encode()
