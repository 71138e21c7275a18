"""Feedback as evaluation data: question, answer, cited passages, and judgement.

A record is assembled for its reader, as a turn is for its asker: it contains nothing of documents they may not read.
The words of a question are included only if its asker shared them.
"""

from __future__ import annotations

from collections.abc import Sequence

from argot.graph.presentation.turn_view import assemble
from argot.graph.run_context import RunContext
from argot.results import AskResult
from argot.service.json_values import read_dataclass_fields
from argot.service.threads.feedback_results import CitedPlace, JudgedAnswer, JudgedSentence, SenseMeant, SharedAnswer
from argot.service.threads.thread_store import JudgedTurn


def list_judged_answers(run: RunContext, judged: Sequence[JudgedTurn]) -> list[SharedAnswer | JudgedAnswer]:
    """Yield each judged answer, as the principal of `run` may see it."""
    return [_read_judged_answer(one, run) for one in judged]


def _read_judged_answer(one: JudgedTurn, run: RunContext) -> SharedAnswer | JudgedAnswer:
    feedback, turn = one.said, one.turn
    row = JudgedAnswer(
        id=f"{feedback.thread}.{feedback.turn}",
        at=feedback.at,
        value=feedback.value,
        shared=feedback.shared,
        status=turn.get("status", ""),
        profile=turn.get("profile", ""),
        answered_by=turn.get("answered_by", ""),
        model=turn.get("model", ""),
        timings=turn.get("timings", {}),
    )
    # Without the asker's consent only the judgement is exported, not the words.
    return _add_words(row, feedback.comment, assemble(turn, run, "")) if feedback.shared and turn else row


def _add_words(row: JudgedAnswer, comment: str, result: AskResult) -> SharedAnswer:
    return SharedAnswer(
        **read_dataclass_fields(row),
        comment=comment,
        question=result.question,
        stand_alone_question=result.stand_alone_question,
        answer=result.answer,
        sentences=[
            JudgedSentence(one.text, one.supported, [cited.passage_id for cited in one.citations])
            for one in result.sentences
        ],
        gold=[
            CitedPlace(cited.document, cited.passage_id, cited.page, cited.span)
            for one in result.sentences
            for cited in one.citations
        ],
        passages=list({passage.passage_id: passage.document for passage in result.passages}),
        senses=[SenseMeant(one.surface, one.context, one.expansion) for one in result.jargon],
        tags=result.tags,
        notes=result.notes,
    )
