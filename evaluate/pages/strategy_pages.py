"""The workbench's choice of a search strategy: measured on a set of pairs, saved as a profile (AccurateRAG 2.3)."""

from __future__ import annotations

from typing import Any, get_args

from fastapi import APIRouter, Request, Response

from argot.errors import Conflict, InvalidInput, InvalidSettings, NotFound
from argot.evaluate.pages.offered_choices import list_choices
from argot.evaluate.usecases.search_strategies import ChoicePart, StrategyQuestion, strategy_run, strategy_start
from argot.languages.catalogues import translate
from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases.questions.profiles import profile_save
from argot.service.usecases.usecase_registry import find_choice
from argot.ui.pages.page_base import BoundedRoute, read_form, redirect_to_address, render_part, show_page
from argot.ui.web.authorization import Visitor, Who, needs
from argot.ui.web.routers import make_router

STRATEGY = "/workbench/strategy"
MEASURES = ("ndcg@10", "map@10", "hit@1", "hit@5", "hit@10", "recall@10", "mrr")
"""The measures that the page offers, a part of all."""
PARTS: tuple[ChoicePart, ...] = get_args(ChoicePart)


def build_strategy_pages(kb: KnowledgeBase) -> APIRouter:
    router = make_router(prefix=STRATEGY, route_class=BoundedRoute)

    @router.get("")
    @needs("manager")
    async def form(request: Request, who: Who) -> Response:
        return await render_form(request, who, {})

    @router.get("/state")
    @needs("manager")
    async def state(request: Request, who: Who) -> Response:
        """Return the part of the page that changes while strategies are measured."""
        if "hx-request" not in request.headers:
            return await render_form(request, who, {})
        return render_part(
            "workbench_strategy_state.html", who=who, run=await strategy_run(kb, who.principal), given={}
        )

    @router.post("")
    @needs("manager")
    async def begin(request: Request, who: Who) -> Response:
        form = await read_form(request)
        try:
            asked = StrategyQuestion(
                data=form.get("data", ""),
                part=find_choice(PARTS, form.get("part"), "the part"),
                measure=form.get("measure", ""),
                profile=form.get("profile") or None,
            )
            await strategy_start(kb, who.principal, asked=asked)
        except (InvalidInput, InvalidSettings, NotFound, Conflict) as error:
            return await render_form(request, who, form, error)
        return redirect_to_address(STRATEGY)

    @router.post("/save")
    @needs("manager")
    async def save(request: Request, who: Who) -> Response:
        form = await read_form(request)
        run = await strategy_run(kb, who.principal)
        try:
            if run is None or run.choice is None or not run.choice.better:
                raise Conflict(
                    translate("There is nothing to save: no strategy is clearly better than the present one.")
                )
            choice, name = run.choice, form.get("name", "").strip()
            switches, about = choice.switches, choice.about
            await profile_save(kb, who.principal, name=name, base=choice.profile, switches=switches, about=about)
        except (InvalidInput, InvalidSettings, Conflict) as error:
            return await render_form(request, who, form, error)
        return redirect_to_address(f"{STRATEGY}?done=profile-saved")

    async def render_form(
        request: Request, who: Visitor, form: dict[str, str], error: Exception | None = None
    ) -> Response:
        shown: dict[str, Any] = {
            "run": await strategy_run(kb, who.principal),
            **await list_choices(kb, who.principal),
            "measures": MEASURES,
            "choice_parts": PARTS,
            "given": {
                "data": "",
                "part": "validation",
                "measure": MEASURES[0],
                "profile": kb.settings.profile,
                **form,
            },
        }
        return show_page("workbench_strategy.html", request, who, error=error, **shown)

    return router
