"""Reference matching by a language model, beside Argot's own, on the same sentences and passages.

The measurement is that of Trustworthy Answers 6.2.

In the paper, people annotate every sentence. Here a passage counts as right for a sentence if it holds gold of the
question. The precision therefore covers only questions with gold snippets: it compares the two ways of matching, and
cannot be compared with the paper's figure.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from statistics import fmean
from typing import TYPE_CHECKING, Final, Literal

from argot.evaluate.answer_outcomes import AnswerOutcome
from argot.evaluate.failure_tolerance import Patience
from argot.evaluate.reference_precision import compute_sentence_precision
from argot.results import AskResult, FoundPassage
from argot.tools.llm.faults import MalformedReply
from argot.types import MatchedSegment, Passage

if TYPE_CHECKING:
    from argot.tools.llm.judge import ModelJudge

Progress = Callable[[str, int, int], None]
MALFORMED: Final = "malformed"
MatchedPassages = list[int | None]
"""For each sentence the index of the passage matched to it, or None."""


@dataclass(frozen=True, slots=True)
class Matching:
    """The figures of one way of matching, as in table 7: means over answers."""

    precision: float | None
    segments: float
    sentences_matched: float


@dataclass(frozen=True, slots=True)
class MatchingReport:
    """The matching of one profile. `same`: the share of sentences for which both name the same passage, or none."""

    answers: int
    malformed: int
    unavailable: int
    ours: Matching | None
    model: Matching | None
    same: float | None


async def compare_matching(
    model: ModelJudge, by_profile: Mapping[str, Sequence[AnswerOutcome]], progress: Progress
) -> dict[str, MatchingReport]:
    """Ask the model to match the sentences of every answer to a question with gold.

    Raises:
        ModelUnavailable: the model's server failed for several calls in a row.
    """
    return {name: await _compare_profile(model, name, outcomes, progress) for name, outcomes in by_profile.items()}


async def _compare_profile(
    model: ModelJudge, profile: str, outcomes: Sequence[AnswerOutcome], progress: Progress
) -> MatchingReport:
    chosen = [one for one in outcomes if one.question.is_answerable and one.gold and one.result.sentences]
    patience, malformed = Patience(), 0
    pairs: list[tuple[MatchedPassages, MatchedPassages, list[set[int]]]] = []
    for done, one in enumerate(chosen, start=1):
        shown = [_build_passage(passage) for passage in one.result.passages[: one.shown]]
        texts = [sentence.text for sentence in one.result.sentences]
        segments = await patience.wait(_ask_matches(model, one.question.question, texts, shown))
        progress(f"{profile}: references", done, len(chosen))
        if segments == MALFORMED:
            malformed += 1
        elif segments is not None:
            gold = {place for place, passage in enumerate(shown) if passage.id in one.gold}
            pairs.append(
                (_list_own_matches(one.result, shown), _list_model_matches(segments, len(texts)), [gold] * len(texts))
            )
    both = [mine == other for ours, theirs, _ in pairs for mine, other in zip(ours, theirs, strict=True)]
    return MatchingReport(
        answers=len(chosen),
        malformed=malformed,
        unavailable=patience.failed,
        ours=_summarize_matching([(ours, gold) for ours, _, gold in pairs]),
        model=_summarize_matching([(theirs, gold) for _, theirs, gold in pairs]),
        same=fmean(both) if both else None,
    )


async def _ask_matches(
    model: ModelJudge, question: str, sentences: Sequence[str], passages: Sequence[Passage]
) -> list[MatchedSegment] | Literal["malformed"]:
    """Ask the model for its matches. A malformed reply is the model's mistake, and no server failure."""
    try:
        return await model.match_references(question, sentences, passages)
    except MalformedReply:
        return MALFORMED


def _build_passage(found: FoundPassage) -> Passage:
    heading = (found.heading,) if found.heading else ()
    return Passage(found.passage_id, found.uri, "", 0, 0, len(found.text), found.text, found.heading, heading)


def _list_own_matches(result: AskResult, shown: Sequence[Passage]) -> MatchedPassages:
    places = {passage.id: place for place, passage in enumerate(shown)}
    best = [max(one.citations, key=lambda cited: cited.score, default=None) for one in result.sentences]
    return [None if one is None else places.get(one.passage_id) for one in best]


def _list_model_matches(segments: Sequence[MatchedSegment], sentences: int) -> MatchedPassages:
    matches: MatchedPassages = [None] * sentences
    for one in segments:
        matches[one.first : one.last + 1] = [one.passage] * (one.last - one.first + 1)
    return matches


def _summarize_matching(answers: Sequence[tuple[MatchedPassages, list[set[int]]]]) -> Matching | None:
    if not answers:
        return None
    precisions = [compute_sentence_precision(matches, gold) for matches, gold in answers]
    known = [one for one in precisions if one is not None]
    return Matching(
        precision=fmean(known) if known else None,
        segments=fmean(_count_segments(matches) for matches, _ in answers),
        sentences_matched=fmean(one is not None for matches, _ in answers for one in matches),
    )


def _count_segments(matches: MatchedPassages) -> int:
    """Count the runs of neighbouring sentences that have the same passage."""
    return sum(one is not None for one, _ in groupby(matches))
