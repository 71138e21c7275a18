"""The suite `abbreviations`: whether all undefined terms of a question are found, and nothing else.

Golden-Retriever 4.2 counts the questions in which every abbreviation was found. The list may also hold false terms, and
each makes Argot ask back needlessly. So the suite also measures precision, and asks questions without abbreviations.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from argot.evaluate.experiments.abbreviation_questions import AbbreviationQuestion, draw_abbreviations, draw_questions
from argot.evaluate.failure_tolerance import Patience, group_items
from argot.evaluate.temporary_base import Identifier

Progress = Callable[[str, int, int], None]
PARALLEL_QUESTIONS = 4
"""The number of questions read at the same time; a model server processes several together."""


@dataclass(frozen=True, slots=True)
class QuestionReading:
    """One question and the terms found in it."""

    question: AbbreviationQuestion
    found: tuple[str, ...]
    failed: bool = False

    @property
    def right(self) -> frozenset[str]:
        return frozenset(self.question.expected) & frozenset(self.found)

    @property
    def all_found(self) -> bool:
        return frozenset(self.question.expected) <= frozenset(self.found)

    @property
    def exact(self) -> bool:
        return frozenset(self.question.expected) == frozenset(self.found)


@dataclass(frozen=True, slots=True)
class AbbreviationRow:
    """One set and number of abbreviations. A share is None if its divisor is 0; `failed` counts calls without a
    reply.
    """

    set: str
    size: int | None
    questions: int
    all_found: float
    recall: float | None
    precision: float | None
    exact: float
    false_terms: int
    failed: int


@dataclass(frozen=True, slots=True)
class AbbreviationsReport:
    """Rows by side ("extractive", "model"), and the questions with wrong readings. `model` is the model's name."""

    seed: int
    trials: int
    abbreviations: Sequence[str]
    sides: Mapping[str, Sequence[AbbreviationRow]]
    wrong: Mapping[str, Sequence[QuestionReading]]
    model: str = ""
    readings: Mapping[str, Sequence[QuestionReading]] = field(default_factory=dict, repr=False)
    """Every reading by side."""

    def to_json(self) -> dict[str, Any]:
        return {
            "seed": self.seed,
            "trials": self.trials,
            "model": self.model,
            "abbreviations": list(self.abbreviations),
            "sides": {side: [asdict(row) for row in rows] for side, rows in self.sides.items()},
            "wrong": {
                side: [_describe_reading(reading) for reading in readings] for side, readings in self.wrong.items()
            },
        }


def _describe_reading(reading: QuestionReading) -> dict[str, Any]:
    question = reading.question
    return {"set": question.set, "question": question.text, "expected": question.expected, "found": reading.found}


async def evaluate_abbreviations(  # noqa: PLR0917
    identifiers: Mapping[str, Identifier],
    is_known: Callable[[str], bool],
    seed: int,
    trials: int,
    each: int,
    progress: Progress,
    sets: Collection[str] | None = None,
) -> AbbreviationsReport:
    """Let every side read the same questions, and compare the sides.

    Args:
        identifiers: the function that lists a question's terms, by side.
        is_known: whether the glossary knows an abbreviation; known ones are not drawn.
        seed: the seed of the first trial. Each later trial adds one, so two seeds that are `trials` apart share no
            draw.
        each: the number of questions per template, set and trial.
        sets: the sets whose questions are asked; by default all.
    """
    drawn: list[str] = []
    questions: list[AbbreviationQuestion] = []
    for trial in range(trials):
        chance = random.Random(seed + trial)  # noqa: S311
        abbreviations = draw_abbreviations(chance, is_known)
        drawn += abbreviations
        # The same generator draws both, so that a seed fixes abbreviations and questions together.
        questions += draw_questions(abbreviations, chance, is_known, each)
    questions = [one for one in questions if sets is None or one.set in sets]
    readings = {
        side: await _read_questions(identify, questions, side, progress) for side, identify in identifiers.items()
    }
    wrong = {side: [one for one in read if not one.exact] for side, read in readings.items()}
    rows = {side: _build_rows(read) for side, read in readings.items()}
    return AbbreviationsReport(seed, trials, drawn, rows, wrong, readings=readings)


async def _read_questions(
    identify: Identifier, questions: Sequence[AbbreviationQuestion], side: str, progress: Progress
) -> list[QuestionReading]:
    patience = Patience()

    async def read_question(question: AbbreviationQuestion) -> QuestionReading:
        mentions = await patience.wait(identify(question.text))
        # The surface form counts: "qR2Vt" must be found as it is written in the question.
        found = tuple(mention.surface for mention in mentions or ())
        return QuestionReading(question, found, failed=mentions is None)

    readings: list[QuestionReading] = []
    for batch in group_items(questions, PARALLEL_QUESTIONS):
        readings += await asyncio.gather(*map(read_question, batch))
        progress(side, len(readings), len(questions))
    return readings


def _build_rows(readings: Sequence[QuestionReading]) -> list[AbbreviationRow]:
    """Return for each set one row per number of abbreviations and, if there are several numbers, one row over all of
    them.
    """
    rows = []
    for name in dict.fromkeys(reading.question.set for reading in readings):
        own = [reading for reading in readings if reading.question.set == name]
        sizes = sorted({len(reading.question.expected) for reading in own})
        rows += [_build_row(name, size, (one for one in own if len(one.question.expected) == size)) for size in sizes]
        if len(sizes) > 1:
            rows.append(_build_row(name, None, own))
    return rows


def _build_row(name: str, size: int | None, readings: Iterable[QuestionReading]) -> AbbreviationRow:
    read = list(readings)
    # Compare sets: the paper compares lists of terms regardless of order and repetition.
    expected = sum(len(set(one.question.expected)) for one in read)
    found = sum(len(set(one.found)) for one in read)
    right = sum(len(one.right) for one in read)
    return AbbreviationRow(
        set=name,
        size=size,
        questions=len(read),
        all_found=sum(one.all_found for one in read) / len(read),
        recall=right / expected if expected else None,
        # For questions without abbreviations, one false term would make precision 0; `false_terms` says more.
        precision=right / found if found and expected else None,
        exact=sum(one.exact for one in read) / len(read),
        false_terms=found - right,
        failed=sum(one.failed for one in read),
    )
