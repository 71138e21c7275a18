"""Rows of reference matching (Trustworthy Answers 6): by the paper's algorithm, by Argot's, and by a model."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass

from argot.evaluate.experiments.annotated_answers import AnnotatedAnswer
from argot.evaluate.experiments.row_work import Each, RowWork
from argot.evaluate.failure_tolerance import Patience
from argot.evaluate.reference_precision import compute_overall_precision, compute_sentence_precision
from argot.tools.answering.citations import match_as_published, match_references
from argot.tools.answering.support import SupportScorer
from argot.tools.retrieval.scorer_choice import choose_scorer
from argot.types import MatchedSegment, Passage

BIN = 0.1
"""The width of a bar of figure 10: a row counts the sentences whose score is at its threshold or up to this above."""


@dataclass(frozen=True, slots=True)
class MatchedAnswer:
    segments: Sequence[MatchedSegment]
    seconds: float


async def measure_matching(work: RowWork) -> Each:
    """Match the answers one after the other, since the time of each is measured."""
    each: Each = {}
    patience, shown = Patience(), {column.key for column in work.columns}
    for done, answer in enumerate(work.part.annotated, start=1):
        matched = await patience.wait(_match_answer(work, answer))
        if matched is not None:
            figures = measure_answer(answer, matched, _read_threshold(work.row.variant))
            # Table 7 and figure 10 show different ones of them.
            each[work.make_key(answer.id)] = {key: value for key, value in figures.items() if key in shown}
        work.progress(work.name, done, len(work.part.annotated))
    work.failed, work.reason = patience.failed, patience.reason
    return each


def measure_answer(answer: AnnotatedAnswer, matched: MatchedAnswer, threshold: float) -> dict[str, float | None]:
    """Return the figures of one answer. Segments with a score under the threshold keep no reference."""
    kept = [one for one in matched.segments if one.score >= threshold]
    given: list[int | None] = [None] * len(answer.sentences)
    for one in kept:
        given[one.first : one.last + 1] = [one.passage] * (one.last - one.first + 1)
    near = sum(one.last - one.first + 1 for one in kept if one.score < threshold + BIN or threshold + BIN >= 1)
    return {
        "segments": float(len(kept)),
        "precision": compute_overall_precision(given, answer.annotated),
        "kept_precision": compute_sentence_precision(given, answer.annotated),
        "kept": sum(one is not None for one in given) / len(given),
        "near": near / len(given),
        "seconds": matched.seconds,
    }


def _read_threshold(variant: str) -> float:
    _, _, threshold = variant.partition(" ")
    return float(threshold or 0)


async def _match_answer(work: RowWork, answer: AnnotatedAnswer) -> MatchedAnswer:
    """Match one answer. The paper's algorithm scores without a threshold, so that its rows share one matching."""
    known: dict[str, MatchedAnswer] = work.memory.setdefault("matched", {})
    of_paper = work.row.variant.startswith("paper")
    if of_paper and answer.id in known:
        return known[answer.id]
    started = time.perf_counter()
    segments = await _match_segments(work, answer)
    matched = MatchedAnswer(segments, time.perf_counter() - started)
    if of_paper:
        known[answer.id] = matched
    return matched


async def _match_segments(work: RowWork, answer: AnnotatedAnswer) -> list[MatchedSegment]:
    passages = [_build_passage(text, place) for place, text in enumerate(answer.passages)]
    method, _, threshold = work.row.variant.partition(" ")
    if method == "model":
        assert work.judge is not None, "the row needs a model"
        return await work.judge.match_references(answer.question, answer.sentences, passages)
    if method == "paper":
        scorer = choose_scorer(work.base.settings)
        return await asyncio.to_thread(match_as_published, answer.sentences, passages, scorer)
    return await asyncio.to_thread(
        match_references, answer.sentences, passages, SupportScorer(), threshold=float(threshold)
    )


def _build_passage(text: str, place: int) -> Passage:
    return Passage(f"p{place}", f"d{place}", f"r{place}", place, 0, len(text), text, "")
