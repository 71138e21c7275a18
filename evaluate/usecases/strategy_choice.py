"""Choosing a search strategy on validation questions (AccurateRAG 2.3), and keeping it as a profile if asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from argot.errors import InvalidInput
from argot.evaluate.answer_questions import AnswerSet
from argot.evaluate.answer_suite import gold_passages
from argot.evaluate.beir import BeirSet, load_beir
from argot.evaluate.reports import Table
from argot.evaluate.retrieval_suite import document_identifier, sources_of
from argot.evaluate.strategy_suite import Searched, StrategyReport, evaluate_strategies
from argot.evaluate.strategy_tables import strategy_tables
from argot.evaluate.temporary_base import EVALUATOR, TemporaryBase
from argot.evaluate.usecases.evaluation_bases import add_glossary_file, measured_base
from argot.measures import ALL_MEASURES, Qrels
from argot.profile import Profile, changed_profile
from argot.profile_files import SavedProfiles
from argot.service.storage.home_folder import require
from argot.settings import Settings

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class StrategyQuestions:
    """What the strategies are tried on: a BEIR folder, or questions with gold passages."""

    beir: BeirSet | None = None
    answers: AnswerSet | None = None


def strategy_questions(beir: Path | None, answers: Callable[[], AnswerSet]) -> StrategyQuestions:
    """
    Raises:
        InvalidInput: the folder or the file is malformed.
    """
    return StrategyQuestions(beir=load_beir(beir)) if beir is not None else StrategyQuestions(answers=answers())


def choose_strategy(  # noqa: PLR0917
    asked: StrategyQuestions,
    home: Path | None,
    profile: Profile,
    measured_by: str,
    save: str | None,
    settings: Settings,
    progress: Progress,
) -> tuple[dict[str, Any], list[Table]]:
    """Tries the strategies; keeps the chosen one under the name `save` where it is better than the present one.

    Args:
        home: the knowledge base with the documents, as `measured_base` says.

    Raises:
        InvalidInput: there is no such measure, or no question has a gold passage.
        Conflict, InvalidSettings: a profile cannot be saved under that name.
    """
    if measured_by not in ALL_MEASURES:
        raise InvalidInput(f"There is no measure '{measured_by}'. Measures: {', '.join(ALL_MEASURES)}.")
    keeper = SavedProfiles(home or settings.home) if save else None
    if keeper is not None:
        if home is None:
            require(settings.home)
        keeper.require_free(save or "")
    with _base(asked, home, settings, progress) as base:
        report = _evaluated(base, asked, profile, measured_by, progress)
    tables = strategy_tables(report)
    told: dict[str, Any] = {**report.as_json(), "saved": ""}
    if keeper is not None and save:
        tables.append(_kept(keeper, save, profile, report, told))
    return told, tables


def _kept(keeper: SavedProfiles, name: str, profile: Profile, report: StrategyReport, told: dict[str, Any]) -> Table:
    if not report.better:
        return Table("Profile", ["", ""], [["saved", "no: nothing is better than the present one beyond doubt"]])
    about = f"Chosen on {report.questions} questions of {report.name} by {report.measure}: {report.chosen}."
    chosen = changed_profile(profile, report.switches).model_copy(update={"about": about[:500]})
    keeper.save(name, chosen)
    told["saved"] = name
    return Table("Profile", ["", ""], [["saved", name], ["use it", f"argot ask --profile {name}"]])


def _base(
    asked: StrategyQuestions, home: Path | None, settings: Settings, progress: Progress
) -> AbstractContextManager[TemporaryBase]:
    def fill(base: TemporaryBase) -> None:
        if asked.beir is not None:
            base.add(sources_of(asked.beir), progress)
        elif asked.answers is not None:
            base.add(asked.answers.sources, progress)
            if asked.answers.glossary is not None:
                add_glossary_file(base, asked.answers.glossary)

    if home is not None and asked.answers is not None and not asked.answers.sources:
        require(home)  # nothing to make it of
    return measured_base(home, settings, fill)


def _evaluated(
    base: TemporaryBase, asked: StrategyQuestions, profile: Profile, measured_by: str, progress: Progress
) -> StrategyReport:
    searched = Searched(base.corpus, EVALUATOR, profile)
    if asked.beir is not None:
        data, documents = asked.beir, _documents_of_passages(base)
        return evaluate_strategies(
            searched, data.name, data.queries, data.qrels, documents.__getitem__, measured_by, progress
        )
    assert asked.answers is not None
    given = asked.answers
    queries = {one.id: one.question for one in given.questions}
    qrels = _gold(base, given)
    return evaluate_strategies(searched, given.name, queries, qrels, str, measured_by, progress)


def _documents_of_passages(base: TemporaryBase) -> Mapping[str, str]:
    store = base.corpus.store
    return {
        passage.id: document_identifier(document.uri)
        for document in store.documents(EVALUATOR)
        for passage in store.passages_of(EVALUATOR, document.id)
    }


def _gold(base: TemporaryBase, given: AnswerSet) -> Qrels:
    documents = base.corpus.store.documents(EVALUATOR)
    gold = {one.id: gold_passages(base, one, documents) for one in given.questions if one.answerable}
    found = {id_: dict.fromkeys(passages, 1) for id_, passages in gold.items() if passages}
    if not found:
        raise InvalidInput(f'No question of {given.name} names a "gold" passage: nothing says what should be found.')
    return found
