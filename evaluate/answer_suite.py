"""The suite `answers`: whether the answer is found, complete, correctly cited, and free of unsupported statements.

Each question has gold snippets (every item, every step), a reference answer and a kind. The measurement covers what
reaches the asker: the sentences that are shown as supported. With a server that knows the answers (`known_answers`) the
same questions show at which stage right answers are lost, and which wrong answers are shown.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from argot.errors import InvalidInput
from argot.evaluate.answer_judging import judge_answers
from argot.evaluate.answer_outcomes import AnswerOutcome, build_outcome
from argot.evaluate.answer_questions import AnswerQuestion
from argot.evaluate.answer_report import AnswersReport, build_answers_report
from argot.evaluate.bert_score import compute_bert_scores
from argot.evaluate.gold_passages import GoldFinder
from argot.evaluate.judging import AnswerJudge
from argot.evaluate.known_answers import KnownAnswers
from argot.evaluate.reference_judging import compare_matching
from argot.evaluate.temporary_base import EVALUATOR, Asker, TemporaryBase
from argot.profile import Profile
from argot.results import AskResult
from argot.settings import Settings

if TYPE_CHECKING:
    from argot.tools.llm.judge import ModelJudge
    from argot.tools.llm.model_server import ModelServer

Progress = Callable[[str, int, int], None]


async def evaluate_answers(  # noqa: PLR0917
    base: TemporaryBase,
    name: str,
    questions: Sequence[AnswerQuestion],
    profiles: Sequence[Profile],
    progress: Progress,
    server: ModelServer | None = None,
    known: KnownAnswers | None = None,
    judges: Sequence[AnswerJudge] = (),
    matcher: ModelJudge | None = None,
) -> AnswersReport:
    """Ask every question once under each profile.

    Args:
        known: the server behind `server`, if it is one that knows the answers.
        matcher: a model that matches references too, for comparison with Argot's matching.

    Raises:
        ModelUnavailable: a judge's server does not answer.
        InvalidInput: a question cannot be asked, its asker's context is not in the glossary, or its gold is not in the
            documents; the message says where.
    """
    _require_contexts(base, questions)
    documents = base.corpus.store.documents(EVALUATOR)
    finder = GoldFinder(base, documents)
    gold = {one.id: finder.find_passages(one) for one in questions}
    by_profile: dict[str, list[AnswerOutcome]] = {}
    for profile in profiles:
        ask, outcomes = base.make_asker(profile, server, earlier_by_model=known is None), []
        for place, question in enumerate(questions):
            served = known.expect(question, place) if known else None
            result = await _ask_question(ask, question)
            outcomes.append(build_outcome(question, result, gold[question.id], served, profile.passages_for_answer))
            progress(profile.name, place + 1, len(questions))
        by_profile[profile.name] = await asyncio.to_thread(_add_bert_scores, outcomes, base.settings)
    reports = [await judge_answers(judge, by_profile, progress) for judge in judges]
    matching = await compare_matching(matcher, by_profile, progress) if matcher else None
    return build_answers_report(name, questions, by_profile, reports, matching)


def _add_bert_scores(outcomes: Sequence[AnswerOutcome], settings: Settings) -> list[AnswerOutcome]:
    likened = [one for one in outcomes if one.has_reference]
    scores = compute_bert_scores([one.answer for one in likened], [one.question.reference for one in likened], settings)
    by_question = {one.question.id: score for one, score in zip(likened, scores, strict=True)}
    return [replace(one, bert=by_question.get(one.question.id)) for one in outcomes]


def _require_contexts(base: TemporaryBase, questions: Sequence[AnswerQuestion]) -> None:
    """Refuse questions that name contexts if there is no glossary, because it defines the contexts."""
    known = [context.name for context in base.glossary.contexts.all(EVALUATOR)]
    for question in questions if known else ():
        if question.asker_context and question.asker_context not in known:
            raise InvalidInput(
                f"{question.place or question.id}: asker_context cannot be {question.asker_context!r}: the glossary "
                f"has no such context. Contexts: {', '.join(known)}."
            )


async def _ask_question(ask: Asker, question: AnswerQuestion) -> AskResult:
    try:
        return await ask(question.question, question.asker_context, earlier=question.earlier)
    except InvalidInput as error:
        raise InvalidInput(f"{question.place or question.id}: {error}") from error
