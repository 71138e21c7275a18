"""The suite `samples`: the questions of the sample knowledge base, with every stage on and with each off in turn."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import TYPE_CHECKING, Any, Literal

from argot.errors import InvalidInput
from argot.evaluate.multiple_choice import choose_option
from argot.evaluate.temporary_base import Asker, TemporaryBase
from argot.measures import measure
from argot.profile import Profile, change_profile
from argot.results import AskResult

if TYPE_CHECKING:
    from argot.tools.llm.model_server import ModelServer

Split = Literal["validation", "test"]
Progress = Callable[[str, int, int], None]

JARGON_KINDS = ("abbreviated", "ambiguous")
STAGES_OFF: dict[str, dict[str, Any]] = {
    "everything on": {},
    # All three are switched off together: without the terms of the question there is nothing to look up.
    "jargon off": {"identify_jargon": False, "identify_context": False, "look_up_jargon": False},
    "identify_context off": {"identify_context": False},
    "augment_question off": {"augment_question": False},
    "reformulate_query off": {"reformulate_query": False},
    "semantic search off": {"search_semantic": False},
    "keyword search off": {"search_keyword": False},
    "derived texts off": {"search_derived": False},
    "triples off": {"use_triples": False},
    "rerank off": {"rerank": False},
    "match_references off": {"match_references": False},
    "choose_sense off": {"choose_sense": False},
}


@dataclass(frozen=True, slots=True)
class SampleQuestion:
    """One line of `questions.jsonl`; the schema is in samples/README.md."""

    id: str
    split: Split
    kind: str
    question: str
    asker_context: str | None
    expected: str
    senses: Sequence[Mapping[str, str]]
    unknown_terms: Sequence[str]
    gold: Sequence[Mapping[str, str]]
    answer: str
    options: Sequence[str] | None
    correct: int | None


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of asking one question."""

    question: SampleQuestion
    result: AskResult
    gold_passages: frozenset[str]
    option: int | None

    @property
    def is_status_right(self) -> bool:
        return self.result.status == self.question.expected

    @property
    def is_rightly_answered(self) -> bool:
        """Return true if the question was answered, and a supported sentence cites a passage that holds a gold
        quotation.
        """
        cited = {citation.passage_id for s in self.result.sentences for citation in s.citations}
        return self.result.status == "answered" and bool(cited & self.gold_passages)

    @property
    def is_false_miss(self) -> bool:
        """Return true if Argot called a term unknown although the question has no unknown term."""
        return bool(self.result.misses) and not self.question.unknown_terms

    @property
    def has_right_senses(self) -> bool | None:
        # Asking back counts as neither right nor wrong here. The column "as expected" says whether it was expected.
        if not self.question.senses or self.result.status == "needs_choice":
            return None
        understood = {(jargon.term.casefold(), jargon.context) for jargon in self.result.jargon}
        return all((sense["term"].casefold(), sense["context"]) in understood for sense in self.question.senses)


@dataclass(frozen=True, slots=True)
class KindRow:
    """One row of the table: shares over the questions of one kind."""

    questions: int
    expected_outcome: float
    rightly_answered: float | None
    statuses: dict[str, int]
    false_misses: int
    by_model: int
    senses_right: float | None
    options_right: float | None
    retrieval: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SamplesReport:
    """For each way of running: a row for each kind, one for all questions, and one for those with jargon."""

    split: Split
    ways: dict[str, dict[str, KindRow]]

    def to_json(self) -> dict[str, Any]:
        ways = {
            way: {kind: {name: getattr(row, name) for name in KindRow.__slots__} for kind, row in rows.items()}
            for way, rows in self.ways.items()
        }
        return {"split": self.split, "ways": ways}


def load_questions(text: str, split: Split | None = None) -> list[SampleQuestion]:
    """Read `questions.jsonl`.

    Raises:
        InvalidInput: a line is malformed; the message names it.
    """
    questions = []
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            questions.append(SampleQuestion(**json.loads(line)))
        except (json.JSONDecodeError, TypeError) as error:
            raise InvalidInput(f"questions, line {number}: {error}.") from error
    return [question for question in questions if split is None or question.split == split]


def list_effective_ways(base: TemporaryBase) -> list[str]:
    """Return the ways that make a difference in this base: without derived texts there are none to switch off."""
    there = {"derived texts off": base.has_rows("derived"), "triples off": base.has_rows("triples")}
    return [way for way in STAGES_OFF if there.get(way, True)]


async def evaluate_samples(  # noqa: PLR0917
    base: TemporaryBase,
    questions: Sequence[SampleQuestion],
    split: Split,
    ways: Iterable[str],
    profile: Profile,
    progress: Progress,
    server: ModelServer | None = None,
) -> SamplesReport:
    """Ask every question once for each way of running the profile, with the language model if there is a server."""
    gold = {question.id: base.find_passages(question.gold) for question in questions}
    report: dict[str, dict[str, KindRow]] = {}
    for way in ways:
        changed = change_profile(profile, STAGES_OFF[way])
        outcomes = []
        for done, question in enumerate(questions, start=1):
            outcomes.append(await _find_outcome(base.make_asker(changed, server), question, gold[question.id]))
            progress(way, done, len(questions))
        report[way] = _build_rows(outcomes)
    return SamplesReport(split, report)


async def _find_outcome(ask: Asker, question: SampleQuestion, gold: frozenset[str]) -> Outcome:
    result = await ask(question.question, question.asker_context)
    option = None
    if question.options:
        passages = [passage.text for passage in result.passages]
        # Options are chosen in the same way for every way of running, so that only the passages found differ.
        option = choose_option(result.augmented_question or question.question, question.options, passages)
    return Outcome(question, result, gold, option)


def _build_rows(outcomes: Sequence[Outcome]) -> dict[str, KindRow]:
    rows = {"all": _build_row(outcomes)}
    rows[" + ".join(JARGON_KINDS)] = _build_row([o for o in outcomes if o.question.kind in JARGON_KINDS])
    for kind in dict.fromkeys(outcome.question.kind for outcome in outcomes):
        rows[kind] = _build_row([outcome for outcome in outcomes if outcome.question.kind == kind])
    return rows


def _build_row(outcomes: Sequence[Outcome]) -> KindRow:
    # Where abstaining is expected, no answer is missing.
    answerable = [outcome for outcome in outcomes if outcome.question.expected == "answered"]
    ranked = {o.question.id: [p.passage_id for p in o.result.passages] for o in outcomes}
    judged = {o.question.id: dict.fromkeys(o.gold_passages, 1) for o in outcomes if o.gold_passages}
    return KindRow(
        questions=len(outcomes),
        expected_outcome=_share([outcome.is_status_right for outcome in outcomes]) or 0.0,
        rightly_answered=_share([outcome.is_rightly_answered for outcome in answerable]),
        statuses=dict(Counter(outcome.result.status for outcome in outcomes)),
        false_misses=sum(outcome.is_false_miss for outcome in outcomes),
        by_model=sum(o.result.answered_by == "model" for o in outcomes if o.result.status == "answered"),
        senses_right=_share([o.has_right_senses for o in outcomes if o.has_right_senses is not None]),
        options_right=_share([o.option == o.question.correct for o in outcomes if o.option is not None]),
        retrieval=measure(ranked, judged).mean if judged else {},
    )


def _share(values: Sequence[bool]) -> float | None:
    return fmean(values) if values else None
