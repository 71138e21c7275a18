"""The workbench, for builders: documents, data, training, figures, adopting, asking (AccurateRAG 2.5)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, get_args

from fastapi import APIRouter, Request, Response

from argot.errors import ArgotError, Conflict, InvalidInput, ModelUnavailable, NotFound
from argot.languages.catalogues import translate
from argot.learn.pages.training_curves import HEIGHT, WIDTH, Curve, build_curves
from argot.learn.usecases.candidate_search import candidate_search
from argot.learn.usecases.generator_asking import generator_ask
from argot.learn.usecases.model_adoption import (
    Verdict,
    model_adopt_start,
    model_back_start,
    model_change,
    model_verdict,
    models_in_force,
)
from argot.learn.usecases.training_runs import (
    STARTED_FROM,
    MeasuredChange,
    RunDetails,
    RunKind,
    training_compare,
    training_list,
    training_recipe,
    training_remove,
    training_resume,
    training_sets,
    training_show,
    training_start,
    training_stop,
)
from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases.documents.listing import DocumentFilter, document_find
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

WORKBENCH = "/workbench"
KINDS: tuple[RunKind, ...] = get_args(RunKind)
SAYS: dict[RunKind, str] = {
    "embedder": "finds passages by meaning",
    "reranker": "puts the passages found in order",
    "generator": "writes answers",
}
RECIPE = "recipe."
"""Prefix of the names of a form's recipe fields."""


@dataclass(frozen=True, slots=True)
class RunView:
    """A training as its page shows it."""

    found: RunDetails
    curves: list[Curve]
    verdict: Verdict | None


def build_workbench_pages(kb: KnowledgeBase) -> APIRouter:
    router = make_router(prefix=WORKBENCH, route_class=BoundedRoute)
    _add_overview_routes(router, kb)
    _add_training_routes(router, kb)
    _add_run_routes(router, kb)
    _add_model_routes(router, kb)
    return router


# -- overview and comparison ------------------------------------------------------------------------------------------


def _add_overview_routes(router: APIRouter, kb: KnowledgeBase) -> None:
    @router.get("")
    @needs("manager")
    async def overview(request: Request, who: Who) -> Response:
        return await overview_page(request, who)

    @router.get("/runs")
    @needs("manager")
    async def rows(request: Request, who: Who) -> Response:
        """Render the parts that are refreshed automatically: the trainings and the models in force."""
        if "hx-request" not in request.headers:
            return await overview_page(request, who)
        return render_part("workbench_rows.html", who=who, **await changing(who))

    @router.get("/compare")
    @needs("manager")
    async def compare(request: Request, who: Who) -> Response:
        runs = request.query_params.getlist("run")
        if len(set(runs)) < 2:
            few = translate("Select two trainings or more to compare them.")
            return await overview_page(request, who, InvalidInput(few))
        found = await training_compare(kb, who.principal, runs=runs[:10])
        return show_page("workbench_compare.html", request, who, found=found, rows=_compare_runs(found))

    async def changing(who: Visitor) -> dict[str, Any]:
        runs = await training_list(kb, who.principal)
        change = await model_change(kb, who.principal)
        busy = any(one.status in ("running", "waiting") for one in runs) or (change is not None and not change.ended)
        adoptions = await models_in_force(kb, who.principal)
        return {"runs": runs, "change": change, "busy": busy, "adoptions": adoptions, "says": SAYS}

    async def overview_page(request: Request, who: Visitor, error: Exception | None = None) -> Response:
        documents = await document_find(kb, who.principal, wanted=DocumentFilter(), limit=0)
        sets = await training_sets(kb, who.principal)
        shown = await changing(who)
        return show_page("workbench.html", request, who, error=error, documents=documents.total, sets=sets, **shown)


def _compare_runs(found: list[RunDetails]) -> list[tuple[str, list[object]]]:
    """List each measure of each part with the value of each training; None where it has none."""
    by_run = [{_label_measure(one): one for one in run.figures} for run in found]
    labels = dict.fromkeys(label for each in by_run for label in each)
    return [(" · ".join(filter(None, label)), [each.get(label) for each in by_run]) for label in labels]


def _label_measure(one: MeasuredChange) -> tuple[str, ...]:
    # A comparison common to all need not be mentioned.
    return one.part, one.of, "" if one.ways == STARTED_FROM else one.ways, one.measure


# -- training ---------------------------------------------------------------------------------------------------------


def _add_training_routes(router: APIRouter, kb: KnowledgeBase) -> None:
    @router.get("/train/{kind}")
    @needs("manager")
    async def form(request: Request, who: Who, kind: str, data: str = "") -> Response:
        return await form_page(request, who, _require_kind(kind), {"data": data})

    @router.post("/train/{kind}")
    @needs("manager")
    async def begin(request: Request, who: Who, kind: str) -> Response:
        form, wanted = await read_form(request), _require_kind(kind)
        recipe = {
            name.removeprefix(RECIPE): value.strip()
            for name, value in form.items()
            if name.startswith(RECIPE) and value.strip()
        }
        try:
            run = await training_start(
                kb,
                who.principal,
                kind=wanted,
                data=form.get("data", "").strip(),
                name=form.get("name", "").strip(),
                base=form.get("base", "").strip(),
                recipe=recipe,
                seed=max(parse_integer(form.get("seed", "7")), 0),
            )
        except (InvalidInput, NotFound, Conflict) as error:
            return await form_page(request, who, wanted, form, error)
        return redirect_to_address(_link_run(run.id))

    async def form_page(
        request: Request, who: Visitor, kind: RunKind, form: dict[str, str], error: Exception | None = None
    ) -> Response:
        fields = await training_recipe(kb, who.principal, kind=kind)
        sets = await training_sets(kb, who.principal)
        filled = {"data": "", "base": "", "name": "", "seed": "7", **form}
        shown = {"kind": kind, "says": SAYS[kind], "kinds": KINDS, "fields": fields, "sets": sets, "given": filled}
        return show_page("workbench_train.html", request, who, error=error, RECIPE=RECIPE, **shown)


def _require_kind(kind: str) -> RunKind:
    try:
        return find_choice(KINDS, kind, "what is trained")
    except InvalidInput as error:
        raise NotFound(translate("There is no page '%(name)s' here.", name=kind)) from error


def _link_run(run: str) -> str:
    return f"{WORKBENCH}/runs/{run}"


# -- one run ----------------------------------------------------------------------------------------------------------


def _add_run_routes(router: APIRouter, kb: KnowledgeBase) -> None:
    @router.get("/runs/{run}")
    @needs("manager")
    async def one(request: Request, who: Who, run: str) -> Response:
        return await run_page(request, who, run)

    @router.get("/runs/{run}/state")
    @needs("manager")
    async def state(request: Request, who: Who, run: str) -> Response:
        """Render the parts of a training that change while it runs."""
        if "hx-request" not in request.headers:
            return await run_page(request, who, run)
        return render_part("workbench_state.html", who=who, **await read_view(who, run))

    @router.post("/runs/{run}/{change}")
    @needs("manager")
    async def change(request: Request, who: Who, run: str, change: str) -> Response:
        try:
            match change:
                case "stop":
                    await training_stop(kb, who.principal, run=run)
                case "resume":
                    await training_resume(kb, who.principal, run=run)
                case "remove":
                    await training_remove(kb, who.principal, run=run)
                case "adopt":
                    everybody = (await read_form(request)).get("for_everybody") == "yes"
                    await model_adopt_start(kb, who.principal, run=run, for_everybody=everybody)
                case _:
                    raise NotFound("There is nothing here.")
        except NotFound:
            raise
        except ArgotError as error:
            return await run_page(request, who, run, error)
        return redirect_to_address(WORKBENCH if change == "remove" else _link_run(run))

    async def read_view(who: Visitor, run: str) -> dict[str, Any]:
        found = await training_show(kb, who.principal, run=run)
        verdict = await model_verdict(kb, who.principal, run=run) if found.run.status == "done" else None
        change = await model_change(kb, who.principal)
        changing = change is not None and not change.ended
        live = found.run.status in ("running", "waiting") or changing
        view = RunView(found, build_curves(found.curve), verdict)
        return {"view": view, "run": found.run, "change": change, "changing": changing, "live": live, **_FIXED}

    async def run_page(request: Request, who: Visitor, run: str, error: Exception | None = None) -> Response:
        return show_page("workbench_run.html", request, who, error=error, **await read_view(who, run))


_FIXED: dict[str, Any] = {"WIDTH": WIDTH, "HEIGHT": HEIGHT, "STARTED_FROM": STARTED_FROM}


# -- models in force, and asking --------------------------------------------------------------------------------------


def _add_model_routes(router: APIRouter, kb: KnowledgeBase) -> None:
    @router.post("/back/{kind}")
    @needs("manager")
    async def back(request: Request, who: Who, kind: str) -> Response:
        await model_back_start(kb, who.principal, kind=_require_kind(kind))
        return redirect_to_address(WORKBENCH)

    @router.get("/ask")
    @needs("manager")
    async def ask(request: Request, who: Who, run: str = "", q: str = "") -> Response:
        """Ask the present and a candidate model: for passages, or for answers. A GET: it changes nothing."""
        listed = await training_list(kb, who.principal)
        runs = {one.id: one for one in listed if one.status == "done"}
        found, answers, error = None, None, None
        if q.strip() and run:
            try:
                if run in runs and runs[run].kind == "generator":
                    answers = await generator_ask(kb, who.principal, question=q, run=run)
                else:
                    found = await candidate_search(kb, who.principal, question=q, run=run)
            except (InvalidInput, Conflict, ModelUnavailable) as refused:
                error = refused
        shown = {"runs": list(runs.values()), "chosen": run, "q": q, "found": found, "answers": answers}
        return show_page("workbench_ask.html", request, who, error=error, **shown)
