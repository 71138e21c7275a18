"""Conversations that are shared by a link: the page of one, for its readers, and the list of one's own links."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases.questions.shared_conversations import (
    SHARED,
    shared_read,
    thread_link_list,
    thread_link_withdraw,
)
from argot.ui.pages.page_base import BoundedRoute, redirect_to_address, show_page
from argot.ui.rendering.shared_answer import render_shared_turn
from argot.ui.web.authorization import Who, needs
from argot.ui.web.routers import make_router


def build_shared_pages(kb: KnowledgeBase) -> APIRouter:
    router = make_router(prefix=SHARED, route_class=BoundedRoute)

    @router.get("")
    @needs("asker")
    async def links(request: Request, who: Who) -> Response:
        found = await thread_link_list(kb, who.principal)
        return show_page("shared_links.html", request, who, links=found, on=kb.settings.web.share_conversations)

    @router.post("/links/{link}/withdraw")
    @needs("asker")
    async def withdraw(who: Who, link: str) -> Response:
        await thread_link_withdraw(kb, who.principal, link=link)
        return redirect_to_address(f"{SHARED}?done=link-withdrawn")

    @router.get("/{secret}")
    @needs("asker")
    async def read(request: Request, who: Who, secret: str) -> Response:
        found = await shared_read(kb, who.principal, secret=secret)
        turns = [render_shared_turn(one) for one in found.turns]
        return show_page("shared.html", request, who, found=found, turns=turns)

    return router
