"""Feedback as data to evaluate with: what was asked, what was answered, which passages it rests on, and what was said.

A trace is put together for whoever reads it, as a turn is for its asker: of documents they may not read, nothing is in
it. The words of a question are there only if its asker shared them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from argot.graph.presentation.turn_view import assemble
from argot.graph.run_context import RunContext
from argot.results import AskResult
from argot.service.threads.thread_store import JudgedTurn


def judged_answers(run: RunContext, judged: Sequence[JudgedTurn]) -> list[dict[str, Any]]:
    """One row for each answer that somebody judged, as whom `run` is for may see it."""
    return [_row(one, run) for one in judged]


def _row(one: JudgedTurn, run: RunContext) -> dict[str, Any]:
    said, turn = one.said, one.turn
    row: dict[str, Any] = {"id": f"{said.thread}.{said.turn}", "at": said.at, "value": said.value}
    row |= {"shared": said.shared, "status": turn.get("status", ""), "profile": turn.get("profile", "")}
    row |= {"answered_by": turn.get("answered_by", ""), "model": turn.get("model", "")}
    row |= {"timings": turn.get("timings", {})}
    # Without the asker's consent only the judgement is exported, not the words.
    if not said.shared or not turn:
        return row
    return {**row, "comment": said.comment, **_trace(assemble(turn, run, ""))}


def _trace(result: AskResult) -> dict[str, Any]:
    """Question, answer and evidence. `gold` are the cited places, in the form in which the sample questions have it."""
    documents = {passage.passage_id: passage.document for passage in result.passages}
    return {
        "question": result.question,
        "stand_alone_question": result.stand_alone_question,
        "answer": result.answer,
        "sentences": [
            {"text": one.text, "supported": one.supported, "passages": [cited.passage_id for cited in one.citations]}
            for one in result.sentences
        ],
        "gold": [
            {"document": cited.document, "passage_id": cited.passage_id, "page": cited.page, "span": cited.span}
            for one in result.sentences
            for cited in one.citations
        ],
        "passages": list(documents),
        "senses": [{"term": one.surface, "context": one.context, "expansion": one.expansion} for one in result.jargon],
        "tags": result.tags,
        "notes": result.notes,
    }
