"""The workbench's page Evaluate: evaluations on a set of pairs, and their comparison (AccurateRAG 2.5)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

from fastapi import APIRouter, Request, Response

from argot.errors import ArgotError, InvalidInput, NotFound
from argot.evaluate.pages.offered_choices import list_choices
from argot.evaluate.usecases.set_evaluations import (
    Evaluated,
    EvaluatedPart,
    EvaluationQuestion,
    evaluation_compare,
    evaluation_list,
    evaluation_remove,
    evaluation_run,
    evaluation_start,
    evaluation_stop,
)
from argot.languages.catalogues import translate
from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases.usecase_registry import find_choice
from argot.ui.pages.page_base import (
    BoundedRoute,
    parse_integer,
    read_form,
    redirect_to_address,
    render_part,
    show_page,
)
from argot.ui.web.authorization import Visitor, Who, needs
from argot.ui.web.routers import make_router

EVALUATE = "/workbench/evaluate"
KINDS: tuple[Evaluated, ...] = get_args(Evaluated)
PARTS: tuple[EvaluatedPart, ...] = get_args(EvaluatedPart)
SHARES = frozenset(
    {"complete", "refused or asked back", "first citation right", "passage among those given", "exact match"}
    | {"judged right", "hit@1", "hit@5", "hit@10"}
)
"""The measures that are shares of questions, shown in per cent."""


def build_evaluation_pages(kb: KnowledgeBase) -> APIRouter:
    router = make_router(prefix=EVALUATE, route_class=BoundedRoute)
    _add_form(router, kb)
    _add_changes(router, kb)
    _add_comparison(router, kb)
    return router


def _add_form(router: APIRouter, kb: KnowledgeBase) -> None:
    @router.get("")
    @needs("manager")
    async def form(request: Request, who: Who, data: str = "") -> Response:
        return await _render_form(kb, request, who, {"data": data})

    @router.get("/state")
    @needs("manager")
    async def state(request: Request, who: Who) -> Response:
        """Return the part of the page that changes while questions are asked."""
        if "hx-request" not in request.headers:
            return await _render_form(kb, request, who, {})
        return render_part("workbench_evaluate_state.html", who=who, **await _read_changing(kb, who))


def _add_changes(router: APIRouter, kb: KnowledgeBase) -> None:
    """Add what begins, stops and removes an evaluation."""

    @router.post("")
    @needs("manager")
    async def begin(request: Request, who: Who) -> Response:
        form = await read_form(request)
        try:
            await evaluation_start(kb, who.principal, asked=_read_question(form))
        except ArgotError as error:
            return await _render_form(kb, request, who, form, error)
        return redirect_to_address(EVALUATE)

    @router.post("/stop")
    @needs("manager")
    async def stop(request: Request, who: Who) -> Response:
        try:
            await evaluation_stop(kb, who.principal)
        except NotFound:
            raise
        except ArgotError as error:
            return await _render_form(kb, request, who, {}, error)
        return redirect_to_address(EVALUATE)

    @router.post("/{evaluation}/remove")
    @needs("manager")
    async def remove(request: Request, who: Who, evaluation: str) -> Response:
        await evaluation_remove(kb, who.principal, evaluation=evaluation)
        return redirect_to_address(EVALUATE)


def _add_comparison(router: APIRouter, kb: KnowledgeBase) -> None:
    @router.get("/compare")
    @needs("manager")
    async def compare(request: Request, who: Who) -> Response:
        chosen = list(dict.fromkeys(request.query_params.getlist("run")))[:10]
        if len(chosen) < 2:
            few = translate("Select two evaluations or more to compare them with the first of them.")
            return await _render_form(kb, request, who, {}, InvalidInput(few))
        try:
            # The list is newest first, and the oldest is what the others are compared with.
            found = await evaluation_compare(kb, who.principal, evaluations=chosen[::-1])
        except InvalidInput as error:
            return await _render_form(kb, request, who, {}, error)
        return show_page("workbench_evaluate_compare.html", request, who, found=found, SHARES=SHARES)


async def _read_changing(kb: KnowledgeBase, who: Visitor) -> dict[str, Any]:
    run, evaluations = await evaluation_run(kb, who.principal), await evaluation_list(kb, who.principal)
    return {"run": run, "evaluations": evaluations, "SHARES": SHARES}


async def _render_form(
    kb: KnowledgeBase, request: Request, who: Visitor, form: dict[str, str], error: Exception | None = None
) -> Response:
    shown: dict[str, Any] = {
        **await _read_changing(kb, who),
        **await list_choices(kb, who.principal),
        "kinds": KINDS,
        "parts_of_sets": PARTS,
        "has_model": kb.model_server is not None,
        "given": {
            "data": "",
            "part": "test",
            "of": "retrieval",
            "profile": kb.settings.profile,
            "limit": "",
            "judge": "",
            **form,
        },
    }
    return show_page("workbench_evaluate.html", request, who, error=error, **shown)


def _read_question(form: Mapping[str, str]) -> EvaluationQuestion:
    return EvaluationQuestion(
        data=form.get("data", ""),
        part=find_choice(PARTS, form.get("part"), "the part"),
        of=find_choice(KINDS, form.get("of"), "what is evaluated"),
        profile=form.get("profile") or None,
        limit=_parse_limit(form.get("limit", "")),
        judge=form.get("judge") == "yes",
    )


def _parse_limit(text: str) -> int | None:
    if not text.strip():
        return None
    if (number := parse_integer(text)) < 1:
        template = "'%(text)s' is not a number of questions. Leave it empty for all of them."
        raise InvalidInput(translate(template, text=text))
    return number
