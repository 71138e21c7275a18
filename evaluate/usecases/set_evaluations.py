"""Evaluations of retrieval or answers on an own set of pairs, in the background (AccurateRAG 2.5, "Evaluate").

Each question of one part of the set is asked once, as a person with the caller's rights would ask it, in a conversation
of its own that is not kept. The figures are kept by the ids of pairs, so that evaluations are compared question by
question.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from statistics import fmean
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field, TypeAdapter

from argot.clock import timestamp
from argot.errors import InvalidInput, InvalidSettings, NotFound
from argot.evaluate.answer_questions import AnswerQuestion
from argot.evaluate.store.evaluation_store import EvaluationHead, EvaluationStore, StoredEvaluation, make_absence
from argot.measures import bootstrap_interval, paired_difference
from argot.service.json_values import convert_to_json
from argot.service.knowledge_base import KnowledgeBase
from argot.service.question_sets import PassageQuestion, SetName, find_question_sets, require_question_sets
from argot.service.usecases.questions.profiles import get_profile
from argot.service.usecases.usecase_registry import Count, ParameterGroup, Text, usecase
from argot.types import Principal
from argot.work.job_kinds import job_kind
from argot.work.job_types import JobRecord, JobRequest, JobRun

if TYPE_CHECKING:
    from argot.evaluate.answer_outcomes import AnswerOutcome
    from argot.profile import Profile
    from argot.tools.llm.judge import ModelJudge

EvaluatedPart = Literal["validation", "test"]
"""The parts of a set on which one evaluates; not the training part, since a tuned model has seen its pairs."""
Evaluated = Literal["retrieval", "answers"]
RETRIEVAL_MEASURES = ("ndcg@10", "map@10", "hit@1", "hit@5", "hit@10", "mrr")
JUDGED = "judged right"
NO_REFERENCE = ("complete", "exact match", "ROUGE-1", "ROUGE-L")
"""Measures of answers for which the pair needs an answer."""
EVALUATION = "evaluation"
"""The kind of the jobs that evaluate, and their key, which allows only one of them at a time."""

EvaluationId = Annotated[Text, Field(max_length=20)]


@dataclass(frozen=True, kw_only=True)
class EvaluationQuestion(ParameterGroup):
    """The questions of an evaluation and its measures.

    `profile`: None: the service's. `limit`: the maximum number of questions; None: all of the part. `judge`: the
    language model also judges answers beside those of the set (TRUE or FALSE, AccurateRAG 2.4.2).
    """

    data: SetName
    part: EvaluatedPart = "test"
    of: Evaluated = "retrieval"
    profile: Text | None = None
    limit: Count | None = None
    judge: bool = False


@dataclass(frozen=True, slots=True)
class MeasuredValue:
    """The mean of a measure over the questions that have a value, with its 95 % interval."""

    measure: str
    questions: int
    mean: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class EvaluationView(EvaluationHead):
    """An evaluation as it is shown. `left_out`: pairs whose passage is gone or cannot be read by whoever started it."""

    questions: int
    left_out: int
    figures: list[MeasuredValue]


@dataclass(slots=True)
class EvaluationRun:
    """An evaluation in the background. `step`, `done`, `total`: its progress; `error`: why it failed.

    `evaluation`: the id of its figures, once it is done.
    """

    asked: EvaluationQuestion
    step: str = ""
    done: int = 0
    total: int = 0
    ended: bool = False
    evaluation: str = ""
    error: str = ""


@dataclass(frozen=True, slots=True)
class EvaluationChange:
    """The second evaluation minus the first in one measure, over the questions that have a value in both."""

    measure: str
    questions: int
    first: float
    second: float
    gain: float
    low: float
    high: float
    won: int
    lost: int


@dataclass(frozen=True, slots=True)
class ComparedEvaluation:
    """An evaluation beside the first of those compared; the first itself has no changes."""

    evaluation: EvaluationView
    changes: list[EvaluationChange]


_ASKED = TypeAdapter(EvaluationQuestion)


# -- starting and watching --------------------------------------------------------------------------------------------


@usecase("manager", everywhere=True)
async def evaluation_start(kb: KnowledgeBase, principal: Principal, *, asked: EvaluationQuestion) -> EvaluationRun:
    """Start an evaluation in the background; `evaluation_run` returns its progress.

    Raises:
        Conflict: an evaluation is already running.
        MissingWing: no installed wing keeps sets of pairs.
        NotFound: there is no such set that the caller may see.
        InvalidInput: no question of this part has a passage in the documents, or retrieval is to be judged.
        InvalidSettings: there is no such profile, or answers are to be judged and no model is named.
    """
    return _run_of(await kb.jobs.begin(await build_evaluation_job(kb, principal, asked)))


async def build_evaluation_job(kb: KnowledgeBase, principal: Principal, asked: EvaluationQuestion) -> JobRequest:
    """Build the job of an evaluation, after the checks of `evaluation_start`, whose errors it raises."""
    await _load_questions(kb, principal, asked)
    await get_profile(kb.profiles, asked.profile or kb.settings.profile)
    _require_judge(kb, asked)
    return JobRequest(EVALUATION, principal, convert_to_json(asked), asked.data, EVALUATION)


@usecase("manager", everywhere=True)
async def evaluation_run(kb: KnowledgeBase, principal: Principal) -> EvaluationRun | None:
    """Return the progress of the evaluation that was started last.

    None if none is known any more, or if its set was made from documents that the caller may not read.
    """
    job = await _find_latest(kb, principal)
    return _run_of(job) if job else None


@usecase("manager", everywhere=True)
async def evaluation_stop(kb: KnowledgeBase, principal: Principal) -> EvaluationRun:
    """Stop the evaluation that runs. None of its figures are kept.

    Raises:
        Conflict: it has ended.
        NotFound: none is known, or the caller may not see it.
    """
    if (job := await _find_latest(kb, principal)) is None:
        raise NotFound("No evaluation is running.")
    return _run_of(await kb.jobs.cancel(job.id))


async def _find_latest(kb: KnowledgeBase, principal: Principal) -> JobRecord | None:
    """Return the latest job that evaluates; None if there is none, or the caller may not see its set."""
    job = await kb.jobs.find_latest(EVALUATION, EVALUATION)
    return job if job and job.label in await kb.blocking(_list_sets, kb, principal) else None


def _run_of(job: JobRecord) -> EvaluationRun:
    error = "It was stopped. None of its figures were kept." if job.state == "cancelled" else job.error
    asked = _ASKED.validate_python(dict(job.parameters))
    return EvaluationRun(asked, job.doing, job.done, job.total, not job.is_under_way, job.outcome or "", error)


def _list_sets(kb: KnowledgeBase, principal: Principal) -> list[str]:
    sets = find_question_sets()
    return sets.list_names(kb, principal) if sets else []


# -- looking ----------------------------------------------------------------------------------------------------------


@usecase("manager", everywhere=True)
async def evaluation_list(kb: KnowledgeBase, principal: Principal) -> list[EvaluationView]:
    """List the evaluations, newest first. Only those are listed whose set the caller may see."""
    return [_describe(one) for one in await kb.blocking(_find_visible, kb, principal)]


@usecase("manager", everywhere=True)
async def evaluation_compare(
    kb: KnowledgeBase,
    principal: Principal,
    *,
    evaluations: Annotated[list[EvaluationId], Field(min_length=2, max_length=10)],
) -> list[ComparedEvaluation]:
    """Compare evaluations with the first of them, paired by question.

    Raises:
        NotFound: one of them does not exist, or the caller may not see it.
        InvalidInput: two of them share no question and measure.
    """
    visible = {one.id: one for one in await kb.blocking(_find_visible, kb, principal)}
    chosen = [_get_visible(visible, id_) for id_ in dict.fromkeys(evaluations)]
    first, *others = chosen
    found = [ComparedEvaluation(_describe(first), [])]
    for other in others:
        changes = await kb.blocking(_compare, first, other)
        if not changes:
            raise InvalidInput(
                f"{other.id} cannot be compared with {first.id}: they share no question and measure. Compare"
                " evaluations of the same kind on the same part of one set."
            )
        found.append(ComparedEvaluation(_describe(other), changes))
    return found


@usecase("manager", everywhere=True)
async def evaluation_remove(kb: KnowledgeBase, principal: Principal, *, evaluation: EvaluationId) -> EvaluationView:
    """Remove an evaluation for good.

    Raises:
        NotFound: there is no such evaluation that the caller may see.
    """
    found = _get_visible({one.id: one for one in await kb.blocking(_find_visible, kb, principal)}, evaluation)
    await kb.blocking(kb.open_store(EvaluationStore).remove, found.id)
    return _describe(found)


def _find_visible(kb: KnowledgeBase, principal: Principal) -> list[StoredEvaluation]:
    visible = set(_list_sets(kb, principal))
    return [one for one in kb.open_store(EvaluationStore).list_evaluations() if one.data in visible]


def _get_visible(visible: Mapping[str, StoredEvaluation], id_: str) -> StoredEvaluation:
    if id_ not in visible:
        raise make_absence(id_)
    return visible[id_]


def _describe(one: StoredEvaluation) -> EvaluationView:
    measures = dict.fromkeys(name for values in one.values.values() for name in values)
    figures = [found for name in measures if (found := _measure(one, name)) is not None]
    head = {field.name: getattr(one, field.name) for field in fields(EvaluationHead)}
    return EvaluationView(**head, questions=len(one.values), left_out=one.left_out, figures=figures)


def _measure(one: StoredEvaluation, name: str) -> MeasuredValue | None:
    known = {id_: value for id_, values in one.values.items() if (value := values.get(name)) is not None}
    if not known:
        return None
    low, high = bootstrap_interval(list(known.values()), clusters=[one.passages[id_] for id_ in known])
    return MeasuredValue(name, len(known), fmean(known.values()), low, high)


def _compare(first: StoredEvaluation, second: StoredEvaluation) -> list[EvaluationChange]:
    shared = [id_ for id_ in first.values if id_ in second.values]
    measures = dict.fromkeys(name for id_ in shared for name in first.values[id_] if name in second.values[id_])
    return [found for name in measures if (found := _compare_measure(first, second, shared, name)) is not None]


def _compare_measure(
    first: StoredEvaluation, second: StoredEvaluation, shared: Sequence[str], name: str
) -> EvaluationChange | None:
    pairs = [(id_, first.values[id_].get(name), second.values[id_].get(name)) for id_ in shared]
    known = [(id_, one, other) for id_, one, other in pairs if one is not None and other is not None]
    if not known:
        return None
    ours, theirs = [one for _, one, _ in known], [other for *_, other in known]
    found = paired_difference(ours, theirs, [first.passages[id_] for id_, *_ in known])
    won, lost = sum(b > a for _, a, b in known), sum(b < a for _, a, b in known)
    return EvaluationChange(
        name, len(known), fmean(ours), fmean(theirs), found.difference, *found.interval95, won=won, lost=lost
    )


# -- evaluating -------------------------------------------------------------------------------------------------------


@job_kind(
    EVALUATION,
    busy="An evaluation is running already. Wait until that is done, or stop it.",
    is_retried=False,
    fault="It could not be evaluated: {error}. Nothing was changed.",
)
async def evaluation_work(run: JobRun) -> str:
    """Evaluate, keep the figures, and return the id of the evaluation."""
    kb: KnowledgeBase = run.kb
    asked = _ASKED.validate_python(dict(run.parameters))
    began = time.monotonic()
    questions, left_out = await _load_questions(kb, run.principal, asked)
    profile = await get_profile(kb.profiles, asked.profile or kb.settings.profile)
    judge = _require_judge(kb, asked)
    outcomes = await _ask_all(run, questions, profile, asked)
    values = (
        await kb.blocking(_measure_retrieval, outcomes)
        if asked.of == "retrieval"
        else await kb.blocking(_measure_answers, outcomes)
    )
    if judge is not None:
        await _judge(run, judge, outcomes, values)
    by_model = asked.of == "answers" and kb.model_server is not None and profile.use_model
    new = await kb.blocking(
        lambda: kb.open_store(EvaluationStore).add(
            data=asked.data,
            part=asked.part,
            of=asked.of,
            profile=profile.name,
            model=(kb.settings.model_server.name or "the one served") if by_model else "",
            judge=(kb.settings.model_server.name or "the one served") if judge is not None else "",
            ran_at=timestamp("seconds"),
            seconds=round(time.monotonic() - began, 1),
            values=values,
            passages={one.id: one.passage_id for one in questions},
            left_out=left_out,
        )
    )
    return new.id


async def _load_questions(
    kb: KnowledgeBase, principal: Principal, asked: EvaluationQuestion
) -> tuple[list[PassageQuestion], int]:
    """Return the questions whose passages the caller may read, and how many others there are."""
    sets = require_question_sets()
    found = await kb.blocking(sets.load_questions, kb, principal, asked.data, asked.part)
    there = await kb.blocking(kb.document_store.passages, principal, [one.passage_id for one in found])
    kept = [one for one in found if one.passage_id in there]
    if not kept:
        raise InvalidInput(
            f"The {asked.part} part of '{asked.data}' has no question whose passage is in the documents. Those that"
            f" are a sentence of it do not count. See: {sets.command} {asked.data} --part {asked.part}"
        )
    return kept[: asked.limit or None], len(found) - len(kept)


def _require_judge(kb: KnowledgeBase, asked: EvaluationQuestion) -> ModelJudge | None:
    if not asked.judge:
        return None
    if asked.of != "answers":
        raise InvalidInput("A judge reads answers, and retrieval gives none. Evaluate answers, or leave out the judge.")
    if kb.model_server is None:
        raise InvalidSettings(
            "A judge is a language model, and none is named. Set ARGOT_MODEL_URL=http://HOST:PORT/v1, or leave it out."
        )
    from argot.tools.llm.judge import ModelJudge

    return ModelJudge(kb.model_server)


async def _ask_all(
    run: JobRun, questions: Sequence[PassageQuestion], profile: Profile, asked: EvaluationQuestion
) -> list[AnswerOutcome]:
    from argot.evaluate.answer_outcomes import build_outcome
    from argot.graph.run_context import build_run_context
    from argot.graph.single_question import SingleQuestions

    kb: KnowledgeBase = run.kb
    if asked.of == "retrieval":
        # Writing answers takes most of the time, and has no effect on what is found.
        changes = {"misses": "lenient", "choose_sense": False, "generate_answer": False}
        profile = profile.model_copy(update=changes)
    context = await kb.look_up(
        build_run_context, await kb.load(), kb.glossary, run.principal, profile, kb.settings, None, kb.model_server
    )
    # No person is asking, so nobody misses a term.
    context, asking, outcomes = replace(context, records_misses=False), SingleQuestions(), []
    for done, one in enumerate(questions, start=1):
        result = await asking.ask([(context, one.question)])
        question = AnswerQuestion(one.id, "pair", one.question, reference=one.answer)
        outcomes.append(
            build_outcome(question, result, frozenset({one.passage_id}), shown_passages=profile.passages_for_answer)
        )
        run.tell(done, len(questions), "asking")
    return outcomes


def _measure_retrieval(outcomes: Sequence[AnswerOutcome]) -> dict[str, dict[str, float | None]]:
    from argot.measures import measure

    ranked = {one.question.id: [passage.passage_id for passage in one.result.passages] for one in outcomes}
    found = measure(ranked, {one.question.id: dict.fromkeys(one.gold, 1) for one in outcomes})
    return {id_: {name: values[name] for name in RETRIEVAL_MEASURES} for id_, values in found.by_question.items()}


_OF_ANSWERS: Mapping[str, Callable[[AnswerOutcome], float | bool | None]] = {
    "complete": lambda one: one.outcome == "complete",
    "refused or asked back": lambda one: one.outcome in ("abstained", "asked back"),
    "first citation right": lambda one: one.right_citation_first,
    "passage among those given": lambda one: one.gold_retrieved,
    "exact match": lambda one: one.exact,
    "ROUGE-1": lambda one: one.rouge_1,
    "ROUGE-L": lambda one: one.rouge,
}


def _measure_answers(outcomes: Sequence[AnswerOutcome]) -> dict[str, dict[str, float | None]]:
    return {
        one.question.id: {
            name: None
            if (value := read(one)) is None or (name in NO_REFERENCE and not one.question.reference)
            else float(value)
            for name, read in _OF_ANSWERS.items()
        }
        for one in outcomes
    }


async def _judge(
    run: JobRun, model: ModelJudge, outcomes: Sequence[AnswerOutcome], values: dict[str, dict[str, float | None]]
) -> None:
    """Add the model's verdicts on the answers to questions for which the set has one."""
    from argot.evaluate.answer_judging import judge_answers
    from argot.evaluate.judging import AnswerJudge

    def progress(step: str, done: int, total: int) -> None:
        run.tell(done, total, step)

    report = await judge_answers(AnswerJudge("correct", model), {"asked": outcomes}, progress)
    for id_, verdict in report.verdicts("asked").items():
        values[id_][JUDGED] = None if verdict is None else float(verdict)
