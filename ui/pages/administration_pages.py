"""Administration: one page for administrators about the state of the service, its settings, jobs and stores."""

from __future__ import annotations

from itertools import groupby

from fastapi import APIRouter, Request, Response

from argot.languages.catalogues import format_local_decimal, page_language
from argot.languages.written_texts import translate_written
from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases.operations.administration import administration
from argot.settings import describe_group
from argot.ui.pages.page_base import BoundedRoute, show_page
from argot.ui.translation.finding_texts import translate_finding
from argot.ui.web.authorization import Who, needs
from argot.ui.web.routers import make_router

ADMINISTRATION = "/administration"
SOURCES = ("from %(place)s", "from the command line", "adopted; take it back with: %(command)s")
"""Where the value of a changed setting comes from, as `service/maintenance/settings_in_force.py` names it."""
ANSWERERS = ("the process of the service",)
"""Who answers questions, as `service/answer_jobs.py` names it."""


def build_administration_pages(kb: KnowledgeBase) -> APIRouter:
    router = make_router(prefix=ADMINISTRATION, route_class=BoundedRoute)

    @router.get("")
    @needs("admin")
    async def show_administration(request: Request, who: Who, q: str = "", changed: str = "") -> Response:
        text = q.strip()[:200]
        found = await administration(kb, who.principal, search=text, changed=bool(changed))
        groups = [
            (name.replace("_", " "), describe_group(name).partition("\n")[0], list(settings))
            for name, settings in groupby(found.settings, lambda one: one.group)
        ]
        # A search is to be seen at once; otherwise the page would be very long.
        return show_page(
            "administration.html",
            request,
            who,
            found=found,
            groups=groups,
            q=text,
            changed=bool(changed),
            open=bool(text or changed),
            size=format_size,
            translate_finding=translate_finding,
            name_source=lambda text: translate_written(text, SOURCES),
        )

    return router


def format_size(size: int) -> str:
    """Format a number of bytes as the language writes it, in English as in 12.3 MB."""
    number, unit = (size / 1e9, "GB") if size >= 1e9 else (size / 1e6, "MB")
    return f"{format_local_decimal(number, 1)} {unit.replace('B', 'o') if page_language.get() == 'fr' else unit}"
