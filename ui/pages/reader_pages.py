"""The groups to choose readers from, for the forms that have such a field."""

from __future__ import annotations

from fastapi import APIRouter, Response

from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases.people.reader_groups import reader_groups
from argot.ui.pages.page_base import HOME, BoundedRoute, render_part
from argot.ui.web.authorization import Who, needs
from argot.ui.web.routers import make_router

MAX_GROUPS = 200


def build_reader_pages(kb: KnowledgeBase) -> APIRouter:
    router = make_router(prefix=f"{HOME}/readers", route_class=BoundedRoute)

    @router.get("")
    @needs("manager")
    async def readers(who: Who, field: str = "") -> Response:
        """Render the groups as buttons for the field with this id; HTMX puts them below it."""
        groups = await reader_groups(kb, who.principal)
        return render_part("readers.html", groups=groups[:MAX_GROUPS], field=field[:100])

    return router
