"""Senses and options of 78 multiple-choice questions on the sample documents that are in neither half of the samples.

    python bench/quiz_senses.py

They were written for choosing settings (bench/quiz_senses.jsonl: each with its ambiguous term, and in `context` the
context of its meaning). Senses are counted for the question alone and with its options, as the suite `quiz` asks it.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from argot.corpus.ingestion.sources import list_sources
from argot.evaluate.experiments.quiz_data import QuizQuestion, read_questions
from argot.evaluate.experiments.quiz_suite import ARGOT, PLAIN, evaluate_quiz
from argot.evaluate.temporary_base import TemporaryBase
from argot.evaluate.usecases.evaluation_bases import read_contexts
from argot.profile import Profile
from argot.settings import Settings
from argot.types import EVERYONE

Asked = Callable[[QuizQuestion], str]
HERE = Path(__file__).parent
SAMPLES = HERE.parent / "samples"


def main() -> None:
    text = (HERE / "quiz_senses.jsonl").read_text("utf-8")
    questions = read_questions(text, "quiz_senses.jsonl")
    terms = [json.loads(line)["term"] for line in text.splitlines()]
    with tempfile.TemporaryDirectory() as folder, TemporaryBase(Path(folder) / "kb", Settings()) as base:
        for _ in base.corpus.add(list_sources([SAMPLES / "documents"]), audience=EVERYONE, tags=()):
            pass
        for row in read_contexts((SAMPLES / "contexts.csv").read_text("utf-8")):
            base.add_context(row["name"], row["description"], row["contact"])
        base.import_glossary((SAMPLES / "glossary.csv").read_text("utf-8"), "glossary.csv")
        for label, asked in (("alone", _ask_alone), ("with options", _ask_with_options)):
            right = asyncio.run(count_senses(base, questions, terms, asked))
            print(f"senses, question {label}: {right} of {len(questions)}", flush=True)
        report = asyncio.run(evaluate_quiz(base, questions, None, 1, 1, lambda *_: None))
        for way in (PLAIN, ARGOT):
            print(f"options, {way}: {round(report.scores[way]['all'].mean * len(questions))} of {len(questions)}")


async def count_senses(
    base: TemporaryBase, questions: Sequence[QuizQuestion], terms: Sequence[str], asked: Asked
) -> int:
    ask = base.make_asker(Profile(choose_sense=False, misses="lenient", generate_answer=False))
    right = 0
    for question, term in zip(questions, terms, strict=True):
        result = await ask(asked(question))
        read = {(jargon.term.casefold(), jargon.context) for jargon in result.jargon}
        right += (term.casefold(), question.context) in read
    return right


def _ask_alone(question: QuizQuestion) -> str:
    return question.question


def _ask_with_options(question: QuizQuestion) -> str:
    return f"{question.question} {'; '.join(question.options)}"


if __name__ == "__main__":
    main()
