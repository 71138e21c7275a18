"""The way of a tuning from stage to stage, in steps that may be repeated: after a kill it goes on where it was."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, aclosing
from dataclasses import replace

from argot.errors import ArgotError, Conflict, NotFound
from argot.learn.run_folder import RunFolder, RunKind
from argot.learn.store.pair_store import PairStore
from argot.learn.trainable_pairs import TooFewPairs
from argot.learn.tuning_plan import TuningPlan, find_plan, find_plan_run, list_plans, remove_plan, save_plan
from argot.learn.usecases.learning_data_making import build_pairs_job
from argot.learn.usecases.learning_data_results import list_making_jobs
from argot.learn.usecases.training_runs import TrainingOrder, create_run
from argot.learn.usecases.tuning_stages import find_plan_set
from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases.usecase_registry import Event
from argot.types import LOCAL_NAME, Principal
from argot.work.job_types import JobRecord
from argot.work.schedule import schedule_work

logger = logging.getLogger(__name__)

CHECK_SECONDS = 2.0


@schedule_work("tune", every=CHECK_SECONDS, rest=60.0, is_for_all=False)
async def tune_waiting(kb: KnowledgeBase) -> None:
    """Have each running tuning of this service's own folder go on, where its present stage is done."""
    for plan in await kb.blocking(list_plans, kb.home.absolute()):
        if plan.is_running:
            await advance_plan(kb, plan.id)


def hold_plan(kb: KnowledgeBase, id_: str) -> AbstractAsyncContextManager[None]:
    """Wait until nobody else changes this tuning, and hold it: a stop must not meet the beginning of a stage."""
    return kb.jobs.turn(f"tuning {kb.home.absolute()} {id_}")


async def advance_plan(kb: KnowledgeBase, id_: str) -> TuningPlan | None:
    """Begin the next stage of a tuning if the present one is done, and note how it ended; None if its set is gone."""
    home = kb.home.absolute()
    async with hold_plan(kb, id_):
        plan = await kb.blocking(find_plan, home, id_)
        if not plan.is_running:
            return plan
        try:
            plan = await _advance(kb, plan)
        except _SetGone:
            # Nobody could see it any more. Its trainings stay.
            await kb.blocking(remove_plan, home, id_)
            return None
        except ArgotError as error:
            # As it is stored: what was trained meanwhile is noted there.
            plan = await kb.blocking(find_plan, home, id_)
            plan = replace(plan, status="failed", error=str(error), lacks_pairs=isinstance(error, TooFewPairs))
        if not plan.is_running:
            logger.info("tuning %s is %s", plan.id, plan.status)
            await kb.blocking(save_plan, home, plan)
        return plan


class _SetGone(Exception):
    """The set of a tuning is gone."""


async def _advance(kb: KnowledgeBase, plan: TuningPlan) -> TuningPlan:
    if not await kb.blocking(_has_set, kb, plan):
        raise _SetGone
    principal = await find_requester(kb, plan)
    found = await kb.blocking(find_plan_set, kb, principal, plan)
    if found.status != "done":
        return await _advance_pairs(kb, principal, plan)
    for kind in plan.kinds:
        run = await kb.blocking(find_plan_run, kb.home.absolute(), plan, kind)
        if run is None and kind in plan.trained:
            continue  # somebody removed it
        if run is None:
            await _begin_training(kb, principal, plan, kind)
            return plan
        if (ended := await kb.blocking(_judge_training, plan, run)) is not None:
            return ended
        if kind not in plan.trained:
            plan = replace(plan, trained=(*plan.trained, kind))
            await kb.blocking(save_plan, kb.home.absolute(), plan)
    return replace(plan, status="done", error="")


def _has_set(kb: KnowledgeBase, plan: TuningPlan) -> bool:
    """Tell whether the set is there, whoever may see it."""
    try:
        return kb.open_store(PairStore).get_set(plan.data).created == plan.data_created
    except NotFound:
        return False


async def find_requester(kb: KnowledgeBase, plan: TuningPlan) -> Principal:
    """Return whoever asked for the tuning, with the rights that they have now.

    Raises:
        NotFound, NotAllowed: they are gone or suspended.
    """
    return await kb.blocking(kb.principal, None if plan.asked_by == LOCAL_NAME else plan.asked_by)


async def _advance_pairs(kb: KnowledgeBase, principal: Principal, plan: TuningPlan) -> TuningPlan:
    job = await find_pairs_job(kb, plan)
    if job is not None and job.is_under_way:
        return plan
    if job is not None and job.state == "cancelled":
        return replace(plan, status="stopped")
    if job is not None and job.error:
        return replace(plan, status="failed", error=job.error)
    await kb.jobs.begin(build_pairs_job(principal, plan.data))
    return plan


async def find_pairs_job(kb: KnowledgeBase, plan: TuningPlan) -> JobRecord | None:
    """Return the newest job that makes the pairs of a tuning since it was begun."""
    job = (await list_making_jobs(kb.jobs)).get(plan.data)
    return job if job is not None and (job.is_under_way or job.put_at >= plan.created) else None


def _judge_training(plan: TuningPlan, run: RunFolder) -> TuningPlan | None:
    """Return the plan as it is because of a training that is not done; None if it is done."""
    state = run.state
    if state.status == "done":
        return None
    # Where its process was killed the training resumes by itself.
    if run.is_cut_off or state.status in ("waiting", "running"):
        return plan
    if state.status == "failed":
        return replace(plan, status="failed", error=f"Training {run.id} failed: {state.error}")
    return replace(plan, status="stopped")


async def _begin_training(kb: KnowledgeBase, principal: Principal, plan: TuningPlan, kind: RunKind) -> None:
    base, recipe = plan.bases.get(kind, ""), dict(plan.recipes.get(kind, {}))
    before = await kb.blocking(find_plan_run, kb.home.absolute(), plan, "embedder") if kind != "embedder" else None
    # "We initialize the weights using the fine-tuned retriever" (Trustworthy Answers 4.1).
    is_begun_from = kind == "reranker" and recipe.get("form") == "cross_encoder" and not base
    # The Retriever that finds the contexts has the tuned embedder (AccurateRAG 2.4.1).
    is_searched_by = kind == "generator" and recipe.get("contexts_by") in ("semantic", "hybrid")
    if before is None and "embedder" in plan.trained and (is_begun_from or is_searched_by):
        raise Conflict(
            f"The {kind} of {plan.id} needs its tuned embedder, and that training was removed. Begin another tuning."
        )
    if before is not None and is_begun_from:
        base = before.id
    if before is not None and is_searched_by:
        recipe = {"embedder": before.id, **recipe}
    order = TrainingOrder(kind, plan.data, f"{kind} of {plan.id}", base, recipe, plan.seed, plan.id)
    await create_run(kb, principal, order)


async def follow_pairs(kb: KnowledgeBase, plan: TuningPlan) -> AsyncGenerator[Event]:
    """Yield the progress of the making of the pairs, to its end."""
    job = await find_pairs_job(kb, plan)
    if job is None or not job.is_under_way:
        return
    async with aclosing(kb.jobs.follow(job.id)) as found:
        async for one in found:
            if one.is_under_way and one.total:
                yield {"kind": "progress", "name": "making pairs", "done": one.done, "total": one.total}
