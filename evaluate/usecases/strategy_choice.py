"""Choice of a search strategy on validation questions (AccurateRAG 2.3), saved as a profile on request."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from argot.errors import InvalidInput
from argot.evaluate.answer_questions import AnswerSet
from argot.evaluate.beir import BeirSet, load_beir
from argot.evaluate.gold_passages import GoldFinder
from argot.evaluate.reports import Table
from argot.evaluate.retrieval_suite import identify_document, make_sources
from argot.evaluate.strategy_suite import SearchSetting, StrategyReport, evaluate_strategies
from argot.evaluate.strategy_tables import build_strategy_tables
from argot.evaluate.temporary_base import EVALUATOR, TemporaryBase
from argot.evaluate.usecases.evaluation_bases import add_glossary_file, open_base
from argot.measures import ALL_MEASURES, Qrels
from argot.profile import Profile, change_profile
from argot.profile_files import SavedProfiles
from argot.service.storage.home_folder import require
from argot.settings import Settings

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class StrategyQuestions:
    """The questions on which strategies are measured: a BEIR folder, or questions with gold passages."""

    beir: BeirSet | None = None
    answers: AnswerSet | None = None


def load_strategy_questions(beir: Path | None, answers: Callable[[], AnswerSet]) -> StrategyQuestions:
    """Load the questions of a BEIR folder, or those of an answer set.

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
    """Measure the strategies. If the best is better than the present one, save it as a profile under the name `save`.

    Args:
        home: the knowledge base with the documents, as for `open_base`.

    Raises:
        InvalidInput: the measure is unknown, or no question has a gold passage.
        Conflict, InvalidSettings: a profile cannot be saved under that name.
    """
    if measured_by not in ALL_MEASURES:
        raise InvalidInput(f"There is no measure '{measured_by}'. Measures: {', '.join(ALL_MEASURES)}.")
    keeper = SavedProfiles(home or settings.home) if save else None
    if keeper is not None:
        if home is None:
            require(settings.home)
        keeper.require_free(save or "")
    with _open_base(asked, home, settings, progress) as base:
        report = _evaluate_base(base, asked, profile, measured_by, progress)
    tables = build_strategy_tables(report)
    values: dict[str, Any] = {**report.to_json(), "saved": ""}
    if keeper is not None and save:
        tables.append(_keep_choice(keeper, save, profile, report, values))
    return values, tables


def _keep_choice(
    keeper: SavedProfiles, name: str, profile: Profile, report: StrategyReport, values: dict[str, Any]
) -> Table:
    if not report.better:
        return Table("Profile", ["", ""], [["saved", "no: no strategy is clearly better than the present one"]])
    about = f"Chosen on {report.questions} questions of {report.name} by {report.measure}: {report.chosen}."
    chosen = change_profile(profile, report.switches).model_copy(update={"about": about[:500]})
    keeper.save(name, chosen)
    values["saved"] = name
    return Table("Profile", ["", ""], [["saved", name], ["use it", f"argot ask --profile {name}"]])


def _open_base(
    asked: StrategyQuestions, home: Path | None, settings: Settings, progress: Progress
) -> AbstractContextManager[TemporaryBase]:
    def fill(base: TemporaryBase) -> None:
        if asked.beir is not None:
            base.add(make_sources(asked.beir), progress)
        elif asked.answers is not None:
            base.add(asked.answers.sources, progress)
            if asked.answers.glossary is not None:
                add_glossary_file(base, asked.answers.glossary)

    if home is not None and asked.answers is not None and not asked.answers.sources:
        require(home)  # there is nothing to make it from
    return open_base(home, settings, fill)


def _evaluate_base(
    base: TemporaryBase, asked: StrategyQuestions, profile: Profile, measured_by: str, progress: Progress
) -> StrategyReport:
    searched = SearchSetting(base.corpus, EVALUATOR, profile)
    if asked.beir is not None:
        data, documents = asked.beir, _map_passages_to_documents(base)
        return evaluate_strategies(
            searched, data.name, data.queries, data.qrels, documents.__getitem__, measured_by, progress
        )
    assert asked.answers is not None
    answer_set = asked.answers
    queries = {one.id: one.question for one in answer_set.questions}
    qrels = _find_gold(base, answer_set)
    return evaluate_strategies(searched, answer_set.name, queries, qrels, str, measured_by, progress)


def _map_passages_to_documents(base: TemporaryBase) -> Mapping[str, str]:
    store = base.corpus.store
    return {
        passage.id: identify_document(document.uri)
        for document in store.documents(EVALUATOR)
        for passage in store.passages_of(EVALUATOR, document.id)
    }


def _find_gold(base: TemporaryBase, answer_set: AnswerSet) -> Qrels:
    finder = GoldFinder(base, base.corpus.store.documents(EVALUATOR))
    gold = {one.id: finder.find_passages(one) for one in answer_set.questions if one.is_answerable}
    found = {id_: dict.fromkeys(passages, 1) for id_, passages in gold.items() if passages}
    if not found:
        raise InvalidInput(
            f'No question of {answer_set.name} names a "gold" passage: nothing says what should be found.'
        )
    return found
