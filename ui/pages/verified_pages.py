"""Verified answers: the list of a manager, and the form that verifies an answer, perhaps in other words."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response

from argot.errors import InvalidInput
from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases.questions.verified_answers import (
    AnswerDraft,
    verified_add,
    verified_draft,
    verified_list,
    verified_remove,
    verified_renew,
)
from argot.ui.pages.page_base import BoundedRoute, parse_integer, read_form, redirect_to_address, show_page
from argot.ui.rendering.verified_links import VERIFIED
from argot.ui.web.authorization import Visitor, Who, needs
from argot.ui.web.routers import make_router

MAX_FORM_BYTES = 256 * 1024
MAX_THREAD_CHARS = 100
STEP = 50
"""Answers on a page."""


class FormRoute(BoundedRoute):
    """A route for one answer."""

    most = MAX_FORM_BYTES


def build_verified_pages(kb: KnowledgeBase) -> APIRouter:
    router = make_router(prefix=VERIFIED, route_class=FormRoute)

    @router.get("")
    @needs("manager")
    async def show_list(request: Request, who: Who, start: str = "") -> Response:
        return await render_list(request, who, start=max(parse_integer(start), 0))

    @router.get("/new")
    @needs("manager")
    async def form(request: Request, who: Who, thread: str = "", turn: str = "") -> Response:
        place = read_place(thread, turn)
        return show_page("verify.html", request, who, **place, draft=await verified_draft(kb, who.principal, **place))

    @router.post("/new")
    @needs("manager")
    async def verify(request: Request, who: Who) -> Response:
        sent = await read_form(request)
        place, text = read_place(sent.get("thread", ""), sent.get("turn")), sent.get("text", "")
        try:
            await verified_add(kb, who.principal, **place, text=text)
        except InvalidInput as error:
            draft = await verified_draft(kb, who.principal, **place)
            # With what was typed, to be corrected and sent again.
            typed = AnswerDraft(draft.question, text)
            return show_page("verify.html", request, who, error=error, **place, draft=typed)
        return redirect_to_address(f"{VERIFIED}?done=verified")

    @router.post("/{answer}/renew")
    @needs("manager")
    async def renew(request: Request, who: Who, answer: int) -> Response:
        text = (await read_form(request)).get("text", "")
        try:
            await verified_renew(kb, who.principal, answer=answer, text=text)
        except InvalidInput as error:
            return await render_list(request, who, error, {answer: text}, renewed=answer)
        return redirect_to_address(f"{VERIFIED}?done=verified")

    @router.post("/{answer}/drop")
    @needs("manager")
    async def drop(who: Who, answer: int) -> Response:
        await verified_remove(kb, who.principal, answer=answer)
        return redirect_to_address(f"{VERIFIED}?done=verified-dropped")

    async def render_list(
        request: Request,
        who: Visitor,
        error: InvalidInput | None = None,
        typed: dict[int, str] | None = None,
        *,
        start: int = 0,
        renewed: int | None = None,
    ) -> Response:
        # The expired ones first, which are work for somebody.
        listed = sorted(await verified_list(kb, who.principal), key=lambda one: not one.expired)
        if renewed is not None:
            place = next((place for place, one in enumerate(listed) if one.id == renewed), 0)
            start = place - place % STEP
        shown = listed[start : start + STEP]
        return show_page(
            "verified.html",
            request,
            who,
            error=error,
            expired=[one for one in shown if one.expired],
            given=[one for one in shown if not one.expired],
            typed=typed or {},
            start=start,
            total=len(listed),
            step=STEP,
        )

    return router


def read_place(thread: str, turn: str | None) -> dict[str, Any]:
    """Read the place of an answer, as the use cases take it."""
    return {"thread": thread[:MAX_THREAD_CHARS], "turn": max(parse_integer(turn), 0)}
