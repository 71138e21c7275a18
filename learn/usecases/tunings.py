"""One Start for all that a model of one's own takes (AccurateRAG 2.5, figure 5): pairs are made of documents, models
are trained on them and measured beside those they started from, and what measures better is offered for adoption.

It composes what can be done step by step: sets of pairs (`learning_data_making`) and trainings (`training_runs`).
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass, replace
from typing import Annotated, Any

from pydantic import Field

from argot.errors import Conflict, InvalidInput, NotFound
from argot.learn.run_folder import RunKind, RunRequest
from argot.learn.store.pair_store import PairSet
from argot.learn.trainable_pairs import require_trainable
from argot.learn.tuning_plan import (
    TuningPlan,
    create_plan,
    find_plan,
    find_plan_run,
    list_plans,
    order_kinds,
    remove_plan,
    save_plan,
)
from argot.learn.usecases.learning_data_making import (
    DataRecipe,
    begin_set,
    build_pairs_job,
    describe_conflict,
)
from argot.learn.usecases.learning_data_results import WITHOUT_MODEL, is_being_made, list_making_jobs
from argot.learn.usecases.pair_sets import find_visible_set
from argot.learn.usecases.set_inputs import load_training_inputs
from argot.learn.usecases.starting_models import choose_base, list_starting_runs, name_context_embedder
from argot.learn.usecases.training_queue import get_runs_folder
from argot.learn.usecases.training_recipes import parse_recipe
from argot.learn.usecases.tuning_progress import advance_plan, find_pairs_job, find_requester, follow_pairs, hold_plan
from argot.learn.usecases.tuning_stages import TuningView, describe_tuning, find_plan_set
from argot.service.knowledge_base import KnowledgeBase
from argot.service.question_sets import SetName
from argot.service.usecases.operations.queued_work import stop_job
from argot.service.usecases.usecase_registry import Event, Finished, Number, ParameterGroup, Text, usecase
from argot.types import Principal

TuningId = Annotated[Text, Field(max_length=20)]
NamesText = Annotated[Text, Field(max_length=1000)]
CHECK_SECONDS = 0.2
AS_BY_DEFAULT = DataRecipe()
WITH_ANSWERS = ("definition", "asked", "standard", "alternative", "simple", "complex")
"""Kinds of questions that have answers, which a language model learns."""


@dataclass(frozen=True, kw_only=True)
class ModelsToTune(ParameterGroup):
    """The models to tune. `bases`: by kind, the model to start from, as for `training_start`; `recipes`: by kind, the
    settings that differ from the defaults, by name. `training_seed`: the same one gives the same models.
    """

    models: Annotated[list[RunKind], Field(min_length=1)]
    bases: dict[RunKind, NamesText] | None = None
    recipes: dict[RunKind, dict[Text, Text]] | None = None
    training_seed: Number = 7


@usecase("manager", everywhere=True)
async def tuning_start(
    kb: KnowledgeBase,
    principal: Principal,
    *,
    name: SetName,
    tuned: ModelsToTune,
    recipe: DataRecipe = AS_BY_DEFAULT,
) -> TuningView:
    """Make a set of pairs, train models on it, and measure them, in the background; `tuning_show` returns the progress.

    `name`: that of the new set, or of a finished one, which is used as it is. `recipe`: that of the new set. Whatever
    would keep a stage from beginning is checked before the first one begins.

    Raises:
        Conflict: there is a set of this name that others make, or a tuning of it runs.
        InvalidInput: a recipe or a model to start from is not valid, no document has a tag, there are too few pairs, or
            no kind of question has answers for a language model.
        InvalidSettings: a kind of question needs a language model, and the settings name none.
        MissingExtra: a package for tuning a language model is not installed.
        NotFound: a training to start from is not visible to the caller.
    """
    kinds = order_kinds(tuned.models)
    for kind in kinds:
        await kb.blocking(_require_possible, kb, principal, kind, kinds, tuned)
    # One after the other: two at once would get the same number, or both begin on one set.
    async with hold_plan(kb, "new"):
        found = await _choose_set(kb, principal, name, recipe, kinds)
        # After the set was found visible: the refusal tells of it.
        if any(one.data == name and one.is_running for one in await kb.blocking(list_plans, kb.home.absolute())):
            raise Conflict(f"A tuning on '{name}' is running already. Wait until it is done, or stop it.")
        plan = TuningPlan(
            "",
            name,
            found.created,
            kinds,
            bases={kind: base for kind, base in (tuned.bases or {}).items() if kind in kinds},
            recipes={kind: values for kind, values in (tuned.recipes or {}).items() if kind in kinds},
            seed=tuned.training_seed,
            asked_by=principal.name,
        )
        plan = await kb.blocking(create_plan, kb.home.absolute(), plan)
    await advance_plan(kb, plan.id)
    return await _show(kb, principal, plan.id)


def _require_possible(
    kb: KnowledgeBase, principal: Principal, kind: RunKind, kinds: Sequence[RunKind], tuned: ModelsToTune
) -> None:
    """
    Raises:
        InvalidInput, MissingExtra, NotFound: the training of this kind could not begin.
    """
    runs, base = get_runs_folder(kb.home), (tuned.bases or {}).get(kind, "").strip()
    recipe_values = parse_recipe(kind, (tuned.recipes or {}).get(kind, {}))
    list_starting_runs(kb, principal, RunRequest(kind, "", base, "", recipe=recipe_values))
    if kind == "generator":
        from argot.learn.generator.base_models import require_adapter_package
        from argot.learn.generator.generator_recipe import build_generator_recipe

        require_adapter_package(build_generator_recipe(recipe_values))
        if "embedder" not in kinds:
            name_context_embedder(recipe_values, kb.settings, runs)
    choose_base(kind, base, recipe_values, kb.settings, runs)


async def _choose_set(
    kb: KnowledgeBase, principal: Principal, name: str, recipe: DataRecipe, kinds: Sequence[RunKind]
) -> PairSet:
    """Begin the set, or return the finished one of this name."""
    with suppress(NotFound):
        found = await kb.blocking(find_visible_set, kb, principal, name)
        if found.status == "done" and recipe == AS_BY_DEFAULT:
            inputs = await load_training_inputs(kb, principal, name)
            for kind in kinds:
                require_trainable(inputs.pairs, kind)
            return found
    asked = recipe.kinds or WITHOUT_MODEL
    if "generator" in kinds and not set(asked) & set(WITH_ANSWERS):
        raise InvalidInput(
            f"A language model learns answers, and questions of the kind '{asked[0]}' have none. Add 'definition' or "
            "'asked'; or, with a language model to make them, 'standard', 'alternative', 'simple' or 'complex'."
        )
    if await is_being_made(kb, name):
        raise await kb.blocking(describe_conflict, kb, principal, name)
    return await kb.blocking(begin_set, kb, principal, name, recipe)


# -- looking ----------------------------------------------------------------------------------------------------------


@usecase("manager", everywhere=True)
async def tuning_list(kb: KnowledgeBase, principal: Principal) -> list[TuningView]:
    """List the tunings, newest first. Only those are listed whose documents the caller may read."""
    jobs = await list_making_jobs(kb.jobs)
    return await kb.blocking(_list_visible, kb, principal, jobs)


def _list_visible(kb: KnowledgeBase, principal: Principal, jobs: Mapping[str, Any]) -> list[TuningView]:
    found = []
    for plan in list_plans(kb.home.absolute()):
        with suppress(NotFound):
            found.append(describe_tuning(kb, principal, plan, jobs))
    return found


@usecase("manager", everywhere=True)
async def tuning_show(kb: KnowledgeBase, principal: Principal, *, tuning: TuningId) -> TuningView:
    """Show the stages of a tuning, and what each came to.

    Raises:
        NotFound: there is no such tuning that the caller may see.
    """
    return await _show(kb, principal, tuning)


async def _show(kb: KnowledgeBase, principal: Principal, id_: str) -> TuningView:
    plan = await kb.blocking(find_plan, kb.home.absolute(), id_)
    jobs = await list_making_jobs(kb.jobs)
    return await kb.blocking(describe_tuning, kb, principal, plan, jobs)


# -- stopping, going on, removing -------------------------------------------------------------------------------------


@usecase("manager", everywhere=True)
async def tuning_stop(kb: KnowledgeBase, principal: Principal, *, tuning: TuningId) -> TuningView:
    """Stop a tuning at its present stage. What is made and trained is kept, and it can be resumed.

    Raises:
        Conflict: it has ended.
        NotFound: as `tuning_show`.
    """
    async with hold_plan(kb, tuning):
        plan = await _require_visible(kb, principal, tuning)
        if not plan.is_running:
            raise Conflict(f"Tuning {tuning} is {plan.status} already.")
        # First: a stage that ends now must not be followed by another.
        await kb.blocking(save_plan, kb.home.absolute(), replace(plan, status="stopped"))
        job = await find_pairs_job(kb, plan)
        if job is not None and job.is_under_way:
            await stop_job(kb.jobs, job.id)
        for kind in plan.kinds:
            if (run := await kb.blocking(find_plan_run, kb.home.absolute(), plan, kind)) is not None:
                await kb.blocking(run.stop)
    return await _show(kb, principal, tuning)


@usecase("manager", everywhere=True)
async def tuning_resume(kb: KnowledgeBase, principal: Principal, *, tuning: TuningId) -> TuningView:
    """Have a stopped or failed tuning go on where it was: pairs at the next passage, trainings at their checkpoint.

    Raises:
        Conflict: it is done.
        NotFound: as `tuning_show`.
    """
    async with hold_plan(kb, tuning):
        plan = await _require_visible(kb, principal, tuning)
        if plan.status == "done":
            raise Conflict(f"Tuning {tuning} is done.")
        found = await kb.blocking(find_plan_set, kb, principal, plan)
        if found.status != "done" and not await is_being_made(kb, plan.data):
            # On behalf of whoever asked for the tuning: what they may read is what it learns from.
            await kb.jobs.begin(build_pairs_job(await find_requester(kb, plan), plan.data))
        for kind in plan.kinds:
            run = await kb.blocking(find_plan_run, kb.home.absolute(), plan, kind)
            if run is not None and run.state.status in ("stopped", "failed"):
                await kb.blocking(run.resume)
        await kb.blocking(save_plan, kb.home.absolute(), replace(plan, status="running", error="", lacks_pairs=False))
    return await _show(kb, principal, tuning)


@usecase("manager", everywhere=True)
async def tuning_remove(kb: KnowledgeBase, principal: Principal, *, tuning: TuningId) -> TuningView:
    """Remove a tuning that has ended from the list. Its pairs and its trainings stay.

    Raises:
        Conflict: it is running.
        NotFound: as `tuning_show`.
    """
    async with hold_plan(kb, tuning):
        plan = await _require_visible(kb, principal, tuning)
        if plan.is_running:
            raise Conflict(f"Tuning {tuning} is running. Stop it first.")
        shown = await _show(kb, principal, tuning)
        await kb.blocking(remove_plan, kb.home.absolute(), tuning)
    return shown


async def _require_visible(kb: KnowledgeBase, principal: Principal, id_: str) -> TuningPlan:
    await _show(kb, principal, id_)
    return await kb.blocking(find_plan, kb.home.absolute(), id_)


# -- without a service ------------------------------------------------------------------------------------------------


@usecase("manager", everywhere=True)
async def tuning_prepare(
    kb: KnowledgeBase, principal: Principal, *, tuning: TuningId
) -> AsyncIterator[Event | Finished[TuningView]]:
    """Go on with a running tuning up to its next training, or to its end. A service does so by itself.

    Events: `{"kind": "progress", "name", "done", "total"}`.

    Raises:
        NotFound: as `tuning_show`.
    """
    while True:
        shown = await _show(kb, principal, tuning)
        if shown.status != "running" or any(one.run and one.status in ("waiting", "running") for one in shown.stages):
            break
        if (plan := await advance_plan(kb, tuning)) is None:
            continue
        async with aclosing(follow_pairs(kb, plan)) as events:
            async for event in events:
                yield event
        await asyncio.sleep(CHECK_SECONDS)
    yield Finished(shown)
