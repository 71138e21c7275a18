"""The adoption of a trained model that measures better, and its undoing: in one step, while Argot answers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Sequence
from contextlib import AbstractContextManager, aclosing, contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter

from argot.errors import Conflict, InvalidInput, NotAllowed
from argot.learn.run_folder import RUN_KINDS, RunFolder, RunKind
from argot.learn.usecases import adoption_rules as rules
from argot.learn.usecases.adopted_copies import name_adopted_folder, put_model
from argot.learn.usecases.adoption_rules import Gain
from argot.learn.usecases.generator_asking import explain_serving
from argot.learn.usecases.training_runs import RunId
from argot.service.blocking_work import HandOver, progress_events
from argot.service.knowledge_base import KnowledgeBase
from argot.service.storage import adopted_models as store
from argot.service.storage.adopted_models import AdoptedModel, AdoptionStep, Changing
from argot.service.usecases.usecase_registry import Event, Finished, usecase
from argot.shown_addresses import hide_secrets
from argot.types import Principal
from argot.work.job_kinds import job_kind
from argot.work.job_types import JobRecord, JobRequest, JobRun

if TYPE_CHECKING:
    from pathlib import Path

    from argot.settings import Settings
    from argot.work.job_types import Jobs

__all__ = ["AdoptedModel", "AdoptionStep", "Gain"]

SWITCH_SECONDS = 10.0
"""How long a switch of the embedder waits for running answers, which would search with the other one's vectors."""


@dataclass(frozen=True, slots=True)
class InForce:
    """The model in force as `kind`. `model`: the adopted one; None: the one of the settings.

    `set_to`: where the setting is set explicitly, which wins; empty where it is not. `before`: the model that going
    back would restore; empty if nothing was adopted.
    """

    kind: RunKind
    model: AdoptedModel | None
    name: str
    set_to: str
    before: str


@dataclass(frozen=True, slots=True)
class Adoptions:
    models: list[InForce]
    history: list[AdoptionStep]


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict on adopting a training's model. `refused`: why not; empty: it may be adopted. `gain`: decides.

    `asks`: it may be, once it is confirmed that a model of restricted documents is for everybody.
    """

    refused: str
    gain: Gain | None
    asks: bool


@dataclass(frozen=True, slots=True)
class Switched:
    """The model now in force. `say`: further steps or facts to tell."""

    kind: RunKind
    now: str
    before: str
    say: str


@dataclass(slots=True)
class ModelChange:
    """A change of a model in the background. `said`: its result; `error`: why it failed."""

    kind: RunKind
    run: str
    done: int = 0
    total: int = 0
    ended: bool = False
    said: str = ""
    error: str = ""


ADOPT = "adopt"
"""The kind of the jobs that change a model, and the key of the one that there is at a time."""
_KIND: TypeAdapter[RunKind] = TypeAdapter(RunKind)


@usecase("manager", everywhere=True)
async def models_in_force(kb: KnowledgeBase, principal: Principal) -> Adoptions:
    """List the models in use, the adopted models, and earlier adoptions and returns, newest first."""
    adopted = await kb.blocking(store.read_adopted, kb.home)
    return Adoptions([_describe_in_force(kb, adopted, kind) for kind in RUN_KINDS], list(reversed(adopted.history)))


def _describe_in_force(kb: KnowledgeBase, adopted: store.AdoptedModels, kind: RunKind) -> InForce:
    stack = adopted.stack(kind)
    setting = store.SETTING_OF.get(kind)
    explicit = setting is not None and setting in kb.given.flatten(only_given=True)
    model = stack[-1] if stack and not explicit else None
    before = _name_model(kb, stack[-2] if len(stack) > 1 else None, kind) if stack else ""
    set_to = str(kb.given.flatten()[setting]) if setting and explicit else ""
    return InForce(kind, model, _name_model(kb, model, kind), set_to, before)


def _name_model(kb: KnowledgeBase, model: AdoptedModel | None, kind: RunKind) -> str:
    if model is not None:
        return f"{model.name} ({model.run})"
    setting = store.SETTING_OF.get(kind)
    return (
        str(kb.given.flatten()[setting])
        if setting
        else kb.settings.model_server.name or hide_secrets(kb.settings.model_server.url) or "none"
    )


@usecase("manager", everywhere=True)
async def model_verdict(kb: KnowledgeBase, principal: Principal, *, run: RunId) -> Verdict:
    """Return whether a training's model may be adopted, and if not, why."""
    found = await kb.blocking(rules.find_visible_run, kb, principal, run)
    gain = rules.find_gain(found.request.kind, found.card)
    try:
        await kb.blocking(_judge_run, kb, found, for_everybody=True)
    except (Conflict, InvalidInput, NotAllowed) as error:
        return Verdict(str(error), gain, asks=False)
    return Verdict("", gain, asks=any(await kb.blocking(rules.list_readers, kb, found.request)))


def _judge_run(kb: KnowledgeBase, run: RunFolder, *, for_everybody: bool) -> Gain:
    store.require_adoptable(kb.settings)
    kind = run.request.kind
    gain = rules.require_better(run)
    rules.require_open_to_all(kb, run.request, for_everybody=for_everybody)
    rules.require_sound(kb, run)
    _require_unset(kb.given, kind)
    if (model := store.read_adopted(kb.home).in_force(kind)) is not None and model.folder == name_adopted_folder(run):
        raise Conflict(f"Training {run.id} is adopted already.")
    return gain


def _require_unset(given: Settings, kind: RunKind) -> None:
    setting = store.SETTING_OF.get(kind)
    if setting is not None and setting in given.flatten(only_given=True):
        raise Conflict(
            f"The setting '{setting}' is set to {given.flatten()[setting]!r}, which wins over whatever is adopted. "
            f"Take it out of the environment, argot.toml and the command line; see: argot doctor"
        )


# -- adopting ---------------------------------------------------------------------------------------------------------


@usecase("manager", everywhere=True)
async def model_adopt(
    kb: KnowledgeBase, principal: Principal, *, run: RunId, for_everybody: bool = False
) -> AsyncIterator[Event | Finished[Switched]]:
    """Put a training's model into use, if it measures better on the validation part. `model_back` undoes it.

    For an embedder the vectors are rebuilt beside the old ones; the old ones answer questions until the switch.
    `for_everybody` confirms that the model learnt from restricted documents. Events:
    `{"kind": "progress", "done", "total"}`.

    Raises:
        NotFound: there is no such training that the caller may see.
        Conflict: it does not measure better (the message gives difference and interval), or its data or base is gone.
        NotAllowed: it learnt from documents that not everybody may read.
        InvalidInput: its folder contains files that no model needs.
    """
    found = await kb.blocking(rules.find_visible_run, kb, principal, run)
    gain = await kb.blocking(_judge_run, kb, found, for_everybody=for_everybody)
    request = found.request
    async with kb.writing:
        folder = await kb.blocking(put_model, kb.home, found)
        step = store.make_step(request.kind, "adopted", found.id, principal.name)
        model = AdoptedModel(
            request.kind,
            found.id,
            request.name,
            folder,
            gain.measure,
            gain.gain,
            gain.low,
            gain.high,
            principal.name,
            step.at,
        )
        stack = (*store.read_adopted(kb.home).stack(request.kind), model)
        async with aclosing(_switch_model(kb, stack, step)) as events:
            async for event in events:
                yield event


@usecase("manager", everywhere=True)
async def model_back(
    kb: KnowledgeBase, principal: Principal, *, kind: RunKind
) -> AsyncIterator[Event | Finished[Switched]]:
    """Take back the model adopted last, so that the one before it is used again. Events as for `model_adopt`.

    Raises:
        Conflict: none was adopted, or a setting takes precedence over it.
    """
    async with kb.writing:
        stack = _require_stack(kb, kind)
        step = store.make_step(kind, "back", stack[-1].run, principal.name)
        async with aclosing(_switch_model(kb, stack[:-1], step)) as events:
            async for event in events:
                yield event


def _require_stack(kb: KnowledgeBase, kind: RunKind) -> tuple[AdoptedModel, ...]:
    _require_unset(kb.given, kind)
    stack = store.read_adopted(kb.home).stack(kind)
    if not stack:
        raise Conflict(f"No {kind} was adopted: there is nothing to go back to. See: argot learn runs")
    return stack


# -- in the background ------------------------------------------------------------------------------------------------


@usecase("manager", everywhere=True)
async def model_adopt_start(
    kb: KnowledgeBase, principal: Principal, *, run: RunId, for_everybody: bool = False
) -> ModelChange:
    """Start `model_adopt` in the background; `model_change` returns the progress. For an embedder it takes long.

    Raises:
        Conflict, NotAllowed, NotFound, InvalidInput: as `model_adopt`, at once; or another change is running.
    """
    found = await kb.blocking(rules.find_visible_run, kb, principal, run)
    await kb.blocking(_judge_run, kb, found, for_everybody=for_everybody)
    return await _begin_change(kb.jobs, principal, found.request.kind, {"run": run, "for_everybody": for_everybody})


@usecase("manager", everywhere=True)
async def model_back_start(kb: KnowledgeBase, principal: Principal, *, kind: RunKind) -> ModelChange:
    """Start `model_back` in the background; `model_change` returns the progress.

    Raises:
        Conflict: as `model_back`, at once; or another change is running.
    """
    await kb.blocking(_require_stack, kb, kind)
    return await _begin_change(kb.jobs, principal, kind, {"kind": kind})


@usecase("manager", everywhere=True)
async def model_change(kb: KnowledgeBase, principal: Principal) -> ModelChange | None:
    """Return the progress of the change that was started last; None if none is known."""
    found = await kb.jobs.find_latest(ADOPT, ADOPT)
    return _describe_change(found) if found else None


async def _begin_change(jobs: Jobs, principal: Principal, kind: RunKind, given: dict[str, Any]) -> ModelChange:
    # One process has the knowledge base: where several share one, none adopts models.
    return _describe_change(await jobs.begin(JobRequest(ADOPT, principal, given, kind, ADOPT)))


def _describe_change(job: JobRecord) -> ModelChange:
    error = "It was cancelled. The one before answers as it did." if job.state == "cancelled" else job.error
    kind, run = _KIND.validate_python(job.label), job.parameters.get("run", "")
    return ModelChange(kind, run, job.done, job.total, not job.is_under_way, job.outcome or "", error)


@job_kind(
    ADOPT,
    busy="A model is being changed already. Wait until that is done.",
    is_retried=False,
    fault="It could not be changed: {error}. The one before answers as it did.",
)
async def adopt_work(run: JobRun) -> str:
    """Adopt a training's model, or go back to the one before; return the message about it."""
    change = model_adopt.function if "run" in run.parameters else model_back.function
    remark = ""
    async with aclosing(change(run.kb, run.principal, **run.parameters)) as events:
        async for event in events:
            if isinstance(event, Finished):
                remark = f"{event.data.now} is in force. {event.data.say}".strip()
            else:
                run.tell(event["done"], event["total"])
    return remark


async def _switch_model(
    kb: KnowledgeBase, stack: Sequence[AdoptedModel], step: AdoptionStep
) -> AsyncGenerator[Event | Finished[Switched]]:
    """Put the last model of the stack into force. Call it with `writing` held."""
    kind, before = step.kind, _describe_in_force(kb, store.read_adopted(kb.home), step.kind).name
    settings = _build_settings(kb, kind, stack)
    try:
        if kind == "embedder" and settings.search.embedder != kb.settings.search.embedder:
            async with aclosing(_change_embedder(kb, settings, stack, step)) as events:
                async for event in events:
                    yield event
        else:
            if kind == "reranker":
                await kb.blocking(_load_scorer, settings)
            adopted = store.read_adopted(kb.home)
            store.keep_adopted(kb.home, adopted.after(stack, step))
    finally:
        # Whatever the outcome: the file decides, and for an embedder the live vectors decide which of two.
        store.settle_adopted(kb.home)
        store.remove_unused(kb.home)
        kb.settings = store.apply_adopted(kb.home, kb.given)
        await kb.answers.renew(kb.settings)
    now = _describe_in_force(kb, store.read_adopted(kb.home), kind).name
    yield Finished(Switched(kind, now, before, _describe_consequences(kb.home, kind, stack)))


async def _change_embedder(
    kb: KnowledgeBase, settings: Settings, stack: Sequence[AdoptedModel], step: AdoptionStep
) -> AsyncGenerator[Event]:
    from argot.corpus.embedding.exported_models import export_once

    corpus = await kb.load()
    _, card = await kb.blocking(export_once, settings.search.embedder, settings.cache)
    adopted = store.read_adopted(kb.home)
    store.keep_adopted(kb.home, replace(adopted, changing=Changing(tuple(stack), card.fingerprint, step)))
    switching = _hold_questions(kb, settings)

    def work(tell: HandOver[tuple[int, int]]) -> None:
        corpus.change_embedder(settings, lambda done, total: tell((done, total)), switching)

    async with aclosing(progress_events(work)) as progress:
        async for done, total in progress:
            yield {"kind": "progress", "done": done, "total": total}


def _build_settings(kb: KnowledgeBase, kind: RunKind, stack: Sequence[AdoptedModel]) -> Settings:
    setting = store.SETTING_OF.get(kind)
    if setting is None or setting in kb.given.flatten(only_given=True):
        return kb.settings
    value = str(store.find_model_path(kb.home, stack[-1])) if stack else kb.given.flatten()[setting]
    return kb.settings.replace(**{setting: value})


def _load_scorer(settings: Settings) -> None:
    from argot.tools.retrieval.scorer_choice import load_scorer

    load_scorer(settings)


def _describe_consequences(home: Path, kind: RunKind, stack: Sequence[AdoptedModel]) -> str:
    if kind != "generator" or not stack:
        return ""
    folder = store.find_model_path(home, stack[-1])
    run = stack[-1].run
    name = run if (folder / "adapter_config.json").is_file() else "argot"
    return f"{explain_serving(folder, name)}; then set ARGOT_MODEL={name}"


def _hold_questions(kb: KnowledgeBase, settings: Settings) -> Callable[[], AbstractContextManager[None]]:
    """Hold questions, as work in a thread does for the moment, and then answer them by these settings. Call it in the
    event loop.
    """
    loop = asyncio.get_running_loop()

    @contextmanager
    def pause_questions() -> Iterator[None]:
        pause = kb.gates.questions.pause(SWITCH_SECONDS)
        asyncio.run_coroutine_threadsafe(pause.__aenter__(), loop).result()
        try:
            yield
            asyncio.run_coroutine_threadsafe(kb.answers.renew(settings), loop).result()
        finally:
            asyncio.run_coroutine_threadsafe(pause.__aexit__(None, None, None), loop).result()

    return pause_questions
