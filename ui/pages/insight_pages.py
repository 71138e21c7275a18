"""Insight: one page for managers about the questions of a period and how they went."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from urllib.parse import urlencode

from fastapi import APIRouter, Request, Response

from argot.clock import utc_now
from argot.errors import InvalidInput
from argot.languages.catalogues import translate
from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases.questions.insight import STEP, insight
from argot.ui.pages.page_base import BoundedRoute, parse_integer, show_page
from argot.ui.rendering.insight_charts import draw_questions, draw_share
from argot.ui.web.authorization import Who, needs
from argot.ui.web.routers import make_router

INSIGHT = "/insight"
PERIODS = {7: "7 days", 30: "30 days", 90: "90 days", 365: "A year"}
SURFACES: Mapping[str, str] = {
    "chat": "Chat window", "pages": "Pages", "api": "API", "openai": "OpenAI-compatible API", "slack": "Slack",
    "mcp": "Other assistants (MCP)", "command": "Command line", "service": "The service itself",
}  # fmt: skip


def build_insight_pages(kb: KnowledgeBase) -> APIRouter:
    router = make_router(prefix=INSIGHT, route_class=BoundedRoute)

    @router.get("")
    @needs("manager")
    async def show_insight(request: Request, who: Who) -> Response:
        query = request.query_params
        since, until = query.get("since", "").strip(), query.get("until", "").strip()
        days = parse_integer(query.get("days"))
        today = utc_now().date()
        if days in PERIODS:
            since, until = (today - timedelta(days=days - 1)).isoformat(), today.isoformat()
        start, error = max(parse_integer(query.get("start")), 0), None
        try:
            found = await insight(kb, who.principal, since=since, until=until, start=start)
        except InvalidInput as wrong:
            # With an error about the typed period, the page shows the usual one.
            error, found = wrong, await insight(kb, who.principal)
        here = {"since": found.since, "until": found.until}
        return show_page(
            "insight.html",
            request,
            who,
            error=error,
            found=found,
            chart=draw_questions(found.counts.days, found.since, found.until),
            share=draw_share,
            periods={translate(name): f"{INSIGHT}?days={length}" for length, name in PERIODS.items()},
            # The period of a tab, if it is one of them.
            chosen=translate(PERIODS.get(days, "" if since or until else PERIODS[30])),
            surfaces=SURFACES,
            step=STEP,
            at=lambda start: f"{INSIGHT}?{urlencode({**here, 'start': start})}#never",
        )

    return router
