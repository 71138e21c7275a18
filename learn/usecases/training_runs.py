"""The use cases of trainings: start, watch, stop, compare. Each training is a folder of the knowledge base
(`argot.learn.run_folder`).
"""

from __future__ import annotations

import math
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Any

from pydantic import Field

from argot.errors import Conflict
from argot.learn.run_folder import REMOVED, RunFolder, RunKind, RunRequest, RunStatus, list_run_folders
from argot.learn.trainable_pairs import require_trainable
from argot.learn.usecases.adopted_copies import name_adopted_folder
from argot.learn.usecases.adoption_rules import (
    STARTED_FROM,
    Gain,
    MeasuredChange,
    find_gain,
    find_visible_run,
    list_readers,
    may_see,
    read_changes,
)
from argot.learn.usecases.question_sets import list_finished_sets
from argot.learn.usecases.set_inputs import load_training_inputs
from argot.learn.usecases.starting_models import choose_base, list_starting_runs, name_context_embedder
from argot.learn.usecases.training_queue import get_runs_folder
from argot.learn.usecases.training_recipes import RecipeField, list_recipe_fields, parse_recipe
from argot.service.knowledge_base import KnowledgeBase
from argot.service.storage.adopted_models import read_adopted
from argot.service.usecases.usecase_registry import Number, Text, usecase
from argot.types import Principal

__all__ = ["STARTED_FROM", "MeasuredChange", "RunKind"]

RunId = Annotated[Text, Field(max_length=40)]
NameText = Annotated[Text, Field(max_length=200)]
MAX_POINTS = 400
"""Maximum points of a displayed curve: excess ones are dropped evenly."""


@dataclass(frozen=True, slots=True)
class RunSummary:
    """A training as it is listed. `seconds_left`: by its pace, while it runs. `in_force`: its model answers now.

    `gain`: the improvement of its model, once it is done. `restricted`: it learnt from documents that not everybody may
    read.
    """

    id: str
    kind: RunKind
    name: str
    base: str
    data: str
    seed: int
    recipe: dict[str, Any]
    asked_by: str
    created: str
    status: RunStatus
    doing: str
    step: int
    steps: int
    seconds_left: float | None
    error: str
    changed: str
    restricted: bool
    in_force: bool
    gain: Gain | None


@dataclass(frozen=True, slots=True)
class RunDetails:
    """A training with its curve (points of losses by step), its figures, and its card from the folder.

    `seconds`: since it was begun or last resumed; `peak_megabytes`: of memory. None if the card does not state it.
    """

    run: RunSummary
    curve: list[dict[str, float]]
    figures: list[MeasuredChange]
    card: dict[str, Any]
    seconds: float | None
    peak_megabytes: float | None


@dataclass(frozen=True, slots=True)
class RemovedRun:
    id: str
    name: str


# -- beginning --------------------------------------------------------------------------------------------------------


@usecase("manager", everywhere=True)
async def training_recipe(kb: KnowledgeBase, principal: Principal, *, kind: RunKind) -> list[RecipeField]:
    """List the settings of a training of this kind, with their defaults."""
    return await kb.blocking(list_recipe_fields, kind)


@usecase("manager", everywhere=True)
async def training_sets(kb: KnowledgeBase, principal: Principal) -> list[str]:
    """List the names of the finished sets of pairs that the caller may see, newest first."""
    return await kb.blocking(list_finished_sets, kb, principal)


@usecase("manager", everywhere=True)
async def training_start(
    kb: KnowledgeBase,
    principal: Principal,
    *,
    kind: RunKind,
    data: NameText,
    name: NameText = "",
    base: Annotated[Text, Field(max_length=1000)] = "",
    recipe: dict[Text, Text] | None = None,
    seed: Number = 7,
) -> RunSummary:
    """Queue a training of a model on a set of pairs. The running service trains one at a time.

    `base`: the model to start from, by its folder, its package, or the id of a training; empty: the present one.
    `recipe`: the settings that differ from the defaults, by name.

    Raises:
        NotFound: there is no such set of pairs, or the training to start from is not visible to the caller.
        InvalidInput: there are too few pairs, or the recipe or the model to start from is not valid.
    """
    order = TrainingOrder(kind, data, name, base, recipe or {}, seed)
    return await kb.blocking(describe_run, kb, await create_run(kb, principal, order))


@dataclass(frozen=True, slots=True)
class TrainingOrder:
    """The order of a training, with the parameters of `training_start`. `plan`: the tuning that begins it."""

    kind: RunKind
    data: str
    name: str = ""
    base: str = ""
    recipe: Mapping[str, str] = field(default_factory=dict)
    seed: int = 7
    plan: str = ""


async def create_run(kb: KnowledgeBase, principal: Principal, order: TrainingOrder) -> RunFolder:
    """Create a waiting training, after all checks.

    Raises:
        NotFound, InvalidInput: as `training_start`.
    """
    kind, runs = order.kind, get_runs_folder(kb.home)
    recipe_values = await kb.blocking(parse_recipe, kind, order.recipe)
    inputs = await load_training_inputs(kb, principal, order.data)
    require_trainable(inputs.pairs, kind)
    if kind == "generator":
        recipe_values = await kb.blocking(name_context_embedder, recipe_values, kb.settings, runs)
    request = RunRequest(
        kind=kind,
        name=order.name.strip() or f"{kind} on {order.data}",
        base=await kb.blocking(choose_base, kind, order.base.strip(), recipe_values, kb.settings, runs),
        data=order.data,
        seed=order.seed,
        recipe=recipe_values,
        askers=inputs.askers,
        asked_by=principal.name,
        plan=order.plan,
    )
    before = await kb.blocking(list_starting_runs, kb, principal, request)
    readers = {*inputs.readers, *(one for earlier in before for one in earlier.readers)}
    documents = {*inputs.documents, *(one for earlier in before for one in earlier.documents)}
    request = replace(request, readers=tuple(sorted(readers)), documents=tuple(sorted(documents)))
    return await kb.blocking(RunFolder.create, runs, request, inputs.pairs, inputs.passages)


# -- looking ----------------------------------------------------------------------------------------------------------


@usecase("manager", everywhere=True)
async def training_list(kb: KnowledgeBase, principal: Principal) -> list[RunSummary]:
    """List the trainings, newest first. Only trainings are listed whose documents the caller may read."""
    return await kb.blocking(_list_runs, kb, principal)


def _list_runs(kb: KnowledgeBase, principal: Principal) -> list[RunSummary]:
    return [
        describe_run(kb, run)
        for run in list_run_folders(get_runs_folder(kb.home))
        if may_see(kb, principal, run.request)
    ]


@usecase("manager", everywhere=True)
async def training_show(kb: KnowledgeBase, principal: Principal, *, run: RunId) -> RunDetails:
    """Show the progress of a training, its curve, and its results.

    Raises:
        NotFound: there is no such training that the caller may see.
    """
    return await kb.blocking(_describe_details, kb, principal, run)


def _describe_details(kb: KnowledgeBase, principal: Principal, name: str) -> RunDetails:
    run = find_visible_run(kb, principal, name)
    curve, card = run.curve(), run.card
    thinned = curve[:: max(1, -(-len(curve) // MAX_POINTS))]
    seconds, peak = (_number(card.get(name)) for name in ("seconds", "peak_megabytes"))
    return RunDetails(describe_run(kb, run), thinned, list(read_changes(card)), card, seconds, peak)


def _number(value: object) -> float | None:
    # A card may come from anywhere.
    return float(value) if isinstance(value, int | float) and math.isfinite(value) else None


@usecase("manager", everywhere=True)
async def training_compare(
    kb: KnowledgeBase, principal: Principal, *, runs: Annotated[list[RunId], Field(min_length=2, max_length=10)]
) -> list[RunDetails]:
    """Compare several trainings side by side.

    Raises:
        NotFound: one of them does not exist, or the caller may not see it.
    """
    return [await kb.blocking(_describe_details, kb, principal, one) for one in dict.fromkeys(runs)]


# -- stopping, going on, removing -------------------------------------------------------------------------------------


@usecase("manager", everywhere=True)
async def training_stop(kb: KnowledgeBase, principal: Principal, *, run: RunId) -> RunSummary:
    """Stop a training at its next step. Its checkpoint is kept, and it can be resumed.

    Raises:
        Conflict: it has ended.
    """
    found = await kb.blocking(find_visible_run, kb, principal, run)
    if (status := found.state.status) not in ("running", "waiting"):
        raise Conflict(f"Training {found.id} is {status} already.")
    await kb.blocking(found.stop)
    return await kb.blocking(describe_run, kb, found)


@usecase("manager", everywhere=True)
async def training_resume(kb: KnowledgeBase, principal: Principal, *, run: RunId) -> RunSummary:
    """Queue a stopped or failed training again; it continues from its last checkpoint.

    Raises:
        Conflict: it is finished or running.
    """
    found = await kb.blocking(find_visible_run, kb, principal, run)
    await kb.blocking(found.resume)
    return await kb.blocking(describe_run, kb, found)


@usecase("manager", everywhere=True)
async def training_remove(kb: KnowledgeBase, principal: Principal, *, run: RunId) -> RemovedRun:
    """Remove a training for good, with its model. An adopted model stays, because it was copied.

    Raises:
        Conflict: it is running, or another training starts from its model.
    """
    found = await kb.blocking(find_visible_run, kb, principal, run)
    name = found.request.name
    await kb.blocking(_remove, found)
    return RemovedRun(found.id, name)


def _remove(run: RunFolder) -> None:
    if run.is_held():
        raise Conflict(f"Training {run.id} runs. Stop it first: argot learn stop {run.id}")
    for other in list_run_folders(run.path.parent):
        if other.request.base == run.id and other.state.status != "done":
            raise Conflict(f"Training {other.id} starts from this one, and is {other.state.status}. Remove that first.")
    # Renamed first: a half-deleted folder must not count as a training.
    gone = run.path.with_name(f"{REMOVED}{run.id}")
    run.path.rename(gone)
    shutil.rmtree(gone)
    # An empty one stays: history and models use the number, which must not be reused.
    gone.mkdir()


# -- shared -----------------------------------------------------------------------------------------------------------


def describe_run(kb: KnowledgeBase, run: RunFolder) -> RunSummary:
    request, state = run.request, run.state
    # Nobody stopped it: it resumes at the next training.
    if run.is_cut_off:
        state = replace(state, status="waiting")
    model = read_adopted(kb.home).in_force(request.kind)
    return RunSummary(
        run.id,
        request.kind,
        request.name,
        request.base,
        request.data,
        request.seed,
        dict(request.recipe),
        request.asked_by,
        request.created,
        state.status,
        state.doing,
        state.step,
        state.steps,
        state.seconds_left,
        state.error,
        state.changed,
        restricted=any(list_readers(kb, request)),
        in_force=model is not None and model.folder == name_adopted_folder(run),
        gain=find_gain(request.kind, run.card) if state.status == "done" else None,
    )
