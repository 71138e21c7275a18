"""The suite `quiz`: multiple-choice questions answered by a model alone, by plain RAG and by Argot.

Golden-Retriever 4.1 takes quizzes of six domains five times each and reports the mean by domain. Without a model, the
options are scored against the passages found (`evaluate/multiple_choice.py`), and the way "model alone" is missing.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import asdict, dataclass, field
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Any

from argot.evaluate.experiments.quiz_data import QuizQuestion
from argot.evaluate.failure_tolerance import Patience, group_items
from argot.evaluate.multiple_choice import choose_option
from argot.evaluate.temporary_base import TemporaryBase
from argot.profile import Profile, find_profile
from argot.prompts.loader import wrap_in_fence

if TYPE_CHECKING:
    from argot.tools.llm.model_server import ModelServer

Progress = Callable[[str, int, int], None]
ALONE, PLAIN, ARGOT = "model alone", "plain RAG", "Argot"
MAX_PASSAGES = 5
"""Passages that the model reads at most; quotations are chosen from more."""
PARALLEL_QUESTIONS = 4
"""The number of questions asked at the same time; a model server processes several together."""

_LETTERS = "ABCDEFGHIJ"
# As search words they would only find passages that happen to have them.
_SAY_NOTHING = frozenset({"true", "false", "yes", "no"})
_NOBODY_TO_ASK: dict[str, Any] = {"choose_sense": False, "misses": "lenient", "generate_answer": False}


@dataclass(frozen=True, slots=True)
class QuizFindings:
    """The findings of one way of asking for one question. `augmented` is the question with its jargon explained."""

    augmented: str
    passages: Sequence[str]
    fenced_passages: Sequence[str]


@dataclass(frozen=True, slots=True)
class Score:
    """The share of right answers over the trials: mean and standard deviation.

    `unanswered` counts questions, over all trials, for which no option was chosen; they count as wrong.
    """

    mean: float
    deviation: float
    trials: tuple[float, ...]
    unanswered: int


@dataclass(frozen=True, slots=True)
class QuizReport:
    """`scores[way][context]` are the scores; the context "all" covers all questions. `chance`: the score of
    guessing.
    """

    seed: int
    trials: int
    reader: str
    questions: dict[str, int]
    chance: dict[str, float]
    scores: dict[str, dict[str, Score]]
    each: dict[str, list[float | None]] = field(default_factory=dict)
    """`each[way]`: for each question, in order, the share of right answers over the trials in which the model gave one;
    None: in none.
    """

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


Choose = Callable[[QuizQuestion, Sequence[str]], Awaitable[int | None]]
"""A question and its options in the order of a trial -> the index of the chosen option in this order."""


async def evaluate_quiz(  # noqa: PLR0917
    base: TemporaryBase,
    questions: Sequence[QuizQuestion],
    server: ModelServer | None,
    seed: int,
    trials: int,
    progress: Progress,
    argot: Profile | None = None,
    wanted: Collection[str] = (ALONE, PLAIN, ARGOT),
) -> QuizReport:
    """Ask every question in every trial and in every available way. `argot`: Argot's profile; None: the default.

    `wanted`: the only ways to use.

    Passages are found once for each question. Trials differ in the order of the options, which is drawn from the seed.
    """
    ways: dict[str, Choose] = {} if server is None or ALONE not in wanted else {ALONE: _make_model_choice(server)}
    for name, profile in ((PLAIN, find_profile("plain_rag")), (ARGOT, argot or Profile())):
        if name not in wanted:
            continue
        found = await _search_passages(base, questions, profile, server, name, progress)
        ways[name] = _from_passages(found, server)
    chosen = {
        way: await _choose_options(choose, questions, seed, trials, way, progress) for way, choose in ways.items()
    }
    by_context = _group_by_context(questions)
    scores = {
        way: {context: _score(own, answers) for context, own in by_context.items()} for way, answers in chosen.items()
    }
    each = {
        # A list in the order of the questions, because several of them may have the same text ("Which is true?").
        way: [_share_right(one, [trial[one] for trial in answers], server) for one in questions]
        for way, answers in chosen.items()
    }
    counts = {context: len(own) for context, own in by_context.items()}
    chance = {context: fmean(1 / len(question.options) for question in own) for context, own in by_context.items()}
    return QuizReport(seed, trials, _name(server), counts, chance, scores, each)


def _name(server: ModelServer | None) -> str:
    if server is None:
        return "no model; options scored against the passages"
    return server.known.model if server.known else server.settings.model_server.name


def _group_by_context(questions: Sequence[QuizQuestion]) -> dict[str, list[QuizQuestion]]:
    contexts = dict.fromkeys(question.context for question in questions)
    own = {context: [one for one in questions if one.context == context] for context in contexts}
    # With only one context, its row would repeat "all".
    return {**({} if len(own) == 1 else own), "all": list(questions)}


# -- passages ---------------------------------------------------------------------------------------------------------


async def _search_passages(  # noqa: PLR0917
    base: TemporaryBase,
    questions: Sequence[QuizQuestion],
    profile: Profile,
    server: ModelServer | None,
    way: str,
    progress: Progress,
) -> dict[QuizQuestion, QuizFindings]:
    """Return what was found for each question, searched together with its options (Golden-Retriever 4.1.2)."""
    ask = base.make_asker(profile.model_copy(update=_NOBODY_TO_ASK), server)

    async def look(question: QuizQuestion) -> QuizFindings:
        asked = _join_options(question)
        result = await ask(asked)
        pieces = [
            wrap_in_fence("passage", passage.text, n=n, source=passage.heading or passage.document)
            for n, passage in enumerate(result.passages[: min(MAX_PASSAGES, profile.passages_for_answer)], start=1)
        ]
        # The explanations of terms follow the question. The options, which were part of the search, are removed.
        augmented = question.question + result.augmented_question.removeprefix(asked)
        return QuizFindings(augmented, [passage.text for passage in result.passages], pieces)

    found: dict[QuizQuestion, QuizFindings] = {}
    for batch in group_items(questions, PARALLEL_QUESTIONS):
        found.update(zip(batch, await asyncio.gather(*map(look, batch)), strict=True))
        progress(f"{way}: passages", len(found), len(questions))
    return found


def _join_options(question: QuizQuestion) -> str:
    """Return the question and its options in one line, for the search."""
    telling = [option for option in question.options if option.strip(" .").casefold() not in _SAY_NOTHING]
    return f"{question.question} {'; '.join(telling)}" if telling else question.question


# -- choosing ---------------------------------------------------------------------------------------------------------


def _make_model_choice(server: ModelServer) -> Choose:
    async def choose(question: QuizQuestion, options: Sequence[str]) -> int | None:
        letters = list(_LETTERS[: len(options)])
        reply = await server.session([]).json(
            "quiz_closed_book",
            choices={"options": letters},
            question=question.question,
            options=_format_options(options),
        )
        return letters.index(reply["option"])

    return choose


def _from_passages(found: dict[QuizQuestion, QuizFindings], server: ModelServer | None) -> Choose:
    if server is None:
        return lambda question, options: asyncio.to_thread(
            choose_option, found[question].augmented, options, found[question].passages
        )

    async def choose(question: QuizQuestion, options: Sequence[str]) -> int | None:
        model, own = server.session([]), found[question]
        letters = list(_LETTERS[: len(options)])
        inputs = {
            "question": question.question,
            "options": _format_options(options),
            "definitions": own.augmented.removeprefix(question.question).strip(),
        }
        pieces = own.fenced_passages
        passages = await model.fit("quiz_option", "passages", pieces, **inputs) if pieces else ""
        reply = await model.json("quiz_option", choices={"options": letters}, passages=passages, **inputs)
        return letters.index(reply["option"])

    return choose


def _format_options(options: Sequence[str]) -> str:
    return "\n".join(f"{letter}. {option}" for letter, option in zip(_LETTERS, options, strict=False))


async def _choose_options(  # noqa: PLR0917
    choose: Choose, questions: Sequence[QuizQuestion], seed: int, trials: int, way: str, progress: Progress
) -> list[dict[QuizQuestion, str | None]]:
    """Return for each trial the option chosen for each question."""
    patience = Patience()
    chosen: list[dict[QuizQuestion, str | None]] = []

    async def answer(question: QuizQuestion, trial: int) -> str | None:
        # Seeded by trial and question: the order is the same for every way, whatever was asked before.
        options = random.Random(f"{seed + trial} {question.question}").sample(question.options, len(question.options))  # noqa: S311
        place = await patience.wait(choose(question, options))
        # Return the text of the option, since its position differs between trials.
        return None if place is None else options[place]

    for trial in range(trials):
        chosen.append({})
        for batch in group_items(questions, PARALLEL_QUESTIONS):
            answers = await asyncio.gather(*(answer(question, trial) for question in batch))
            chosen[-1].update(zip(batch, answers, strict=True))
            progress(way, trial * len(questions) + len(chosen[-1]), trials * len(questions))
    return chosen


def _share_right(question: QuizQuestion, answers: Sequence[str | None], server: ModelServer | None) -> float | None:
    """Return the share of right answers. No answer is wrong; of a model, it is a reply that did not come."""
    counted = [answer for answer in answers if answer is not None or server is None]
    return fmean(answer == question.options[question.correct] for answer in counted) if counted else None


def _score(own: Sequence[QuizQuestion], chosen: Sequence[dict[QuizQuestion, str | None]]) -> Score:
    shares = tuple(fmean(trial[one] == one.options[one.correct] for one in own) for trial in chosen)
    unanswered = sum(trial[one] is None for trial in chosen for one in own)
    # One trial has no deviation, and `stdev` would raise an error.
    return Score(fmean(shares), stdev(shares) if len(shares) > 1 else 0.0, shares, unanswered)
