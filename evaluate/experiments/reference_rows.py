"""Rows of reference matching (Trustworthy Answers 6): by the algorithm, with and without a threshold, and by a
model.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from typing import Literal, cast

from argot.evaluate.experiments.annotated_answers import AnnotatedAnswer
from argot.evaluate.experiments.row_work import Each, RowWork
from argot.evaluate.failure_tolerance import Patience
from argot.evaluate.reference_precision import compute_sentence_precision
from argot.tools.answering.citations import match_references
from argot.tools.answering.support import SupportScorer
from argot.types import MatchedSegment, Passage


async def measure_matching(work: RowWork) -> Each:
    """Match the answers one after the other, since the time of each is measured."""
    each: Each = {}
    patience = Patience()
    for done, answer in enumerate(work.part.annotated, start=1):
        started = time.perf_counter()
        segments = await patience.wait(_match_segments(work, answer))
        seconds = time.perf_counter() - started
        if segments is not None:
            each[work.make_key(answer.id)] = {
                "segments": float(len(segments)),
                "precision": compute_precision(answer, segments),
                "seconds": seconds,
            }
        work.progress(work.name, done, len(work.part.annotated))
    work.failed = patience.failed
    return each


async def _match_segments(work: RowWork, answer: AnnotatedAnswer) -> list[MatchedSegment]:
    passages = [_build_passage(text, place) for place, text in enumerate(answer.passages)]
    if work.row.variant == "model":
        assert work.judge is not None, "the row needs a model"
        return await work.judge.match_references(answer.question, answer.sentences, passages)
    method, threshold = work.row.variant.split()
    return await asyncio.to_thread(
        match_references,
        answer.sentences,
        passages,
        SupportScorer(),
        threshold=float(threshold),
        method=cast(Literal["sum", "published"], method),
    )


def compute_precision(answer: AnnotatedAnswer, segments: Sequence[MatchedSegment]) -> float | None:
    """Return the share of matched sentences whose passage people annotated; None if no sentence was matched."""
    given: list[int | None] = [None] * len(answer.sentences)
    for one in segments:
        given[one.first : one.last + 1] = [one.passage] * (one.last - one.first + 1)
    return compute_sentence_precision(given, answer.annotated)


def _build_passage(text: str, place: int) -> Passage:
    return Passage(f"p{place}", f"d{place}", f"r{place}", place, 0, len(text), text, "")
