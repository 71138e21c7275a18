"""The stages of a tuning, told by its set of pairs and its trainings: nothing of them is kept twice."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from argot.errors import NotFound
from argot.learn.run_folder import RunKind
from argot.learn.store.pair_store import PairSet
from argot.learn.tuning_plan import PlanStatus, TuningPlan, find_plan_run
from argot.learn.usecases.adoption_rules import Gain, find_gain, may_see
from argot.learn.usecases.learning_data_results import DataSet, describe_set
from argot.learn.usecases.pair_sets import find_visible_set
from argot.learn.usecases.training_runs import describe_run
from argot.service.knowledge_base import KnowledgeBase
from argot.types import Principal
from argot.work.job_types import JobRecord

StageName = Literal["pairs", "embedder", "reranker", "generator"]
StageStatus = Literal["to come", "waiting", "running", "stopped", "failed", "done", "removed"]


@dataclass(frozen=True, slots=True)
class TuningStage:
    """A stage: the making of the pairs, or a training with its measurements.

    Attributes:
        doing, done, total, seconds_left: its progress.
        run: the id of the training; empty where there is none yet.
        validation, test: the gain of a training's model over the one it started from. The first decides, the other is
            the figure to report.
        in_force: its model answers now.
    """

    name: StageName
    status: StageStatus
    doing: str = ""
    done: int = 0
    total: int = 0
    seconds_left: float | None = None
    run: str = ""
    error: str = ""
    validation: Gain | None = None
    test: Gain | None = None
    in_force: bool = False

    @property
    def is_offered(self) -> bool:
        """Return whether its model measures better, and is not in force yet."""
        return self.validation is not None and self.validation.is_better and not self.in_force


@dataclass(frozen=True, slots=True)
class TuningView:
    """A tuning as it is shown, with its stages in order. `pairs`: of its set, so far; by part. `lacks_pairs`: it failed
    because they do not suffice, so that to resume it does not help.
    """

    id: str
    data: str
    kinds: list[RunKind]
    seed: int
    asked_by: str
    created: str
    status: PlanStatus
    error: str
    pairs: int
    by_part: dict[str, int]
    stages: list[TuningStage]
    lacks_pairs: bool = False


def describe_tuning(
    kb: KnowledgeBase, principal: Principal, plan: TuningPlan, jobs: Mapping[str, JobRecord]
) -> TuningView:
    """Describe a tuning. `jobs`: those of `list_making_jobs`. Blocks.

    Raises:
        NotFound: its set is gone, or this principal may not see it or one of its trainings.
    """
    data = describe_set(kb, find_plan_set(kb, principal, plan), jobs)
    stages = [_describe_pairs(data), *(_describe_training(kb, principal, plan, kind) for kind in plan.kinds)]
    return TuningView(
        plan.id,
        plan.data,
        list(plan.kinds),
        plan.seed,
        plan.asked_by,
        plan.created,
        plan.status,
        plan.error,
        data.pairs,
        data.by_part,
        stages,
        plan.lacks_pairs,
    )


def find_plan_set(kb: KnowledgeBase, principal: Principal, plan: TuningPlan) -> PairSet:
    """Return the set of a tuning.

    Raises:
        NotFound: it is gone, another one has its name, or this principal may not see it; never distinguished.
    """
    none = NotFound(f"There is no tuning '{plan.id}'. Those there are: argot learn tuning list")
    try:
        found = find_visible_set(kb, principal, plan.data)
    except NotFound:
        raise none from None
    if found.created != plan.data_created:
        raise none
    return found


def _describe_pairs(data: DataSet) -> TuningStage:
    status: StageStatus = "running" if data.status == "making" else data.status
    return TuningStage("pairs", status, "making pairs", data.done, data.total, error=data.fault)


def _describe_training(kb: KnowledgeBase, principal: Principal, plan: TuningPlan, kind: RunKind) -> TuningStage:
    run = find_plan_run(kb.home.absolute(), plan, kind)
    if run is None:
        return TuningStage(kind, "removed" if kind in plan.trained else "to come")
    if not may_see(kb, principal, run.request):
        raise NotFound(f"There is no tuning '{plan.id}'. Those there are: argot learn tuning list")
    found = describe_run(kb, run)
    is_done = found.status == "done"
    return TuningStage(
        kind,
        found.status,
        found.doing,
        found.step,
        found.steps,
        found.seconds_left,
        found.id,
        found.error,
        found.gain,
        find_gain(kind, run.card, "test") if is_done else None,
        found.in_force,
    )
