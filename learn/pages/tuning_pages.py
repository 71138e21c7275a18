"""The workbench's page Tune: one Start for questions, trainings and figures (AccurateRAG 2.5, figure 5)."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response
from starlette.datastructures import FormData

from argot.errors import ArgotError, NotFound
from argot.learn.pages.learning_data_pages import KINDS as SAID_OF_KINDS
from argot.learn.pages.workbench_pages import KINDS, RECIPE, SAYS, WORKBENCH
from argot.learn.run_folder import RunKind
from argot.learn.usecases.learning_data_making import DataRecipe
from argot.learn.usecases.learning_data_results import DATA_KINDS, WITHOUT_MODEL
from argot.learn.usecases.training_runs import training_recipe, training_sets
from argot.learn.usecases.tunings import (
    ModelsToTune,
    tuning_list,
    tuning_remove,
    tuning_resume,
    tuning_show,
    tuning_start,
    tuning_stop,
)
from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases.usecase_registry import find_choice
from argot.ui.pages.form_fields import split_commas
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

TUNE = f"{WORKBENCH}/tune"


def build_tuning_pages(kb: KnowledgeBase) -> APIRouter:
    router = make_router(prefix=TUNE, route_class=BoundedRoute)
    _add_start_routes(router, kb)
    _add_tuning_routes(router, kb)
    return router


def _add_start_routes(router: APIRouter, kb: KnowledgeBase) -> None:
    @router.get("")
    @needs("manager")
    async def form(request: Request, who: Who) -> Response:
        return await form_page(request, who)

    @router.post("")
    @needs("manager")
    async def begin(request: Request, who: Who) -> Response:
        given = await request.form()
        try:
            tuned, recipe = _read_models(given), _read_recipe(given)
            name = str(given.get("name", "")).strip()
            begun = await tuning_start(kb, who.principal, name=name, tuned=tuned, recipe=recipe)
        except ArgotError as error:
            return await form_page(request, who, await read_form(request), given, error)
        return redirect_to_address(f"{TUNE}/{begun.id}")

    async def form_page(
        request: Request,
        who: Visitor,
        typed: dict[str, str] | None = None,
        form: FormData | None = None,
        error: ArgotError | None = None,
    ) -> Response:
        has_model = kb.model_server is not None
        offered = DATA_KINDS if has_model else WITHOUT_MODEL
        asked = form.getlist("kind") if form else WITHOUT_MODEL
        models = form.getlist("model") if form else ("embedder",)
        shown: dict[str, Any] = {
            "models": [(kind, SAYS[kind], kind in models) for kind in KINDS],
            "kinds": [(kind, SAID_OF_KINDS[kind], kind in asked) for kind in offered],
            "fields": {kind: await training_recipe(kb, who.principal, kind=kind) for kind in KINDS},
            "sets": await training_sets(kb, who.principal),
            "tunings": await tuning_list(kb, who.principal),
            "has_model": has_model,
            "given": {"name": "", "tags": "", "limit": "", "per_passage": "", "seed": "7", **(typed or {})},
        }
        return show_page("workbench_tune.html", request, who, error=error, RECIPE=RECIPE, **shown)


def _read_models(form: FormData) -> ModelsToTune:
    models = [find_choice(KINDS, str(one), "what is tuned") for one in form.getlist("model")]
    bases = {kind: base for kind in models if (base := str(form.get(f"base.{kind}", "")).strip())}
    seed = max(parse_integer(str(form.get("seed", "7"))), 0)
    recipes = {kind: values for kind in models if (values := _read_values(form, kind))}
    return ModelsToTune(models=models, bases=bases, recipes=recipes, training_seed=seed)


def _read_values(form: FormData, kind: RunKind) -> dict[str, str]:
    prefix = f"{RECIPE}{kind}."
    return {
        name.removeprefix(prefix): value.strip()
        for name, value in form.multi_items()
        if name.startswith(prefix) and isinstance(value, str) and value.strip()
    }


def _read_recipe(form: FormData) -> DataRecipe:
    """Read the recipe of the pairs; nothing of a finished set, which is used as it is."""
    if form.get("finished") == "yes":
        return DataRecipe()
    kinds = [find_choice(DATA_KINDS, str(one), "the kind") for one in form.getlist("kind")]
    limit = str(form.get("limit", "")).strip()
    tags = split_commas(str(form.get("tags", "")))
    most = str(form.get("per_passage", "")).strip()
    return DataRecipe(
        kinds=kinds or None,
        limit=parse_integer(limit) if limit else None,
        tags=tags or None,
        per_passage=parse_integer(most) if most else None,
    )


def _add_tuning_routes(router: APIRouter, kb: KnowledgeBase) -> None:
    @router.get("/{tuning}")
    @needs("manager")
    async def one(request: Request, who: Who, tuning: str) -> Response:
        return await tuning_page(request, who, tuning)

    @router.get("/{tuning}/state")
    @needs("manager")
    async def state(request: Request, who: Who, tuning: str) -> Response:
        """Render the stages, which change while they run."""
        if "hx-request" not in request.headers:
            return await tuning_page(request, who, tuning)
        found = await tuning_show(kb, who.principal, tuning=tuning)
        return render_part("workbench_tune_state.html", who=who, found=found)

    @router.post("/{tuning}/{change}")
    @needs("manager")
    async def change(request: Request, who: Who, tuning: str, change: str) -> Response:
        changes = {"stop": tuning_stop, "resume": tuning_resume, "remove": tuning_remove}
        if change not in changes:
            raise NotFound("There is nothing here.")
        try:
            await changes[change](kb, who.principal, tuning=tuning)
        except NotFound:
            raise
        except ArgotError as error:
            return await tuning_page(request, who, tuning, error)
        return redirect_to_address(TUNE if change == "remove" else f"{TUNE}/{tuning}")

    async def tuning_page(request: Request, who: Visitor, tuning: str, error: ArgotError | None = None) -> Response:
        found = await tuning_show(kb, who.principal, tuning=tuning)
        return show_page("workbench_tune_one.html", request, who, error=error, found=found)
