"""Tests of the choice of strategy: what is tried, that fused stored lists equal the search, and when one is chosen."""

from pathlib import Path
from typing import Any

import pytest

from argot.errors import Conflict, InvalidInput, InvalidSettings
from argot.evaluate.answer_questions import AnswerQuestion, AnswerSet, GoldSnippet
from argot.evaluate.strategy_suite import (
    SearchSetting,
    Strategy,
    _RankedLists,
    _report,
    list_derived_kinds,
    list_strategies,
)
from argot.evaluate.strategy_tables import build_strategy_tables
from argot.evaluate.temporary_base import EVALUATOR, TemporaryBase
from argot.evaluate.usecases.strategy_choice import StrategyQuestions, choose_strategy, load_strategy_questions
from argot.measures import measure
from argot.profile import Profile, change_profile
from argot.profile_files import SavedProfiles
from argot.service.storage.home_folder import write_marker
from argot.settings import Settings
from argot.tools.retrieval.hybrid_search import WeightedQuery, hybrid_search

QUESTIONS = {"1": "How long does trimming a drive take?", "2": "What does a late tariff filing cost?"}
GOLD = (
    AnswerQuestion("1", "fact", QUESTIONS["1"], (GoldSnippet("drive-tool.md", "about 40 seconds"),)),
    AnswerQuestion("2", "fact", QUESTIONS["2"], (GoldSnippet("tariff-filing.md", "500 dollars a day"),)),
)
PLAIN = Strategy(True, True, True, (), 0.9, 1.0, 0.25)
KEYWORD = Strategy(False, True, True, (), 0.9, 1.0, 0.25)


def quiet(step: str, done: int, total: int) -> None:
    assert done <= total


@pytest.fixture
def asked() -> StrategyQuestions:
    return load_strategy_questions(None, lambda: AnswerSet("drives", GOLD, ()))


def test_every_strategy_is_tried_once_and_gives_a_profile() -> None:
    tried = list(list_strategies(("summary", "question")))
    assert len({one.name for one in tried}) == len(tried) == 7 * (1 + 3 * 5)
    for one in tried:
        profile = change_profile(Profile(), one.switches)
        assert Strategy.from_profile(profile, ("summary", "question")) == one
    assert all(not one.kinds for one in list_strategies(()))


@pytest.mark.parametrize(
    "switches", [{}, {"search_keyword": False}, {"weight_semantic": 2.0}, {"search_passages": False}]
)
def test_fusing_stored_lists_gives_the_results_of_the_search(tiny_kb: Any, switches: dict[str, Any]) -> None:
    base = TemporaryBase(tiny_kb.folder, tiny_kb.settings)
    try:
        profile = change_profile(Profile(), switches)
        strategy = Strategy.from_profile(profile, list_derived_kinds(base.corpus))
        kept = _RankedLists(SearchSetting(base.corpus, EVALUATOR, Profile()), QUESTIONS, quiet)
        for id_, question in QUESTIONS.items():
            found = hybrid_search(base.corpus, EVALUATOR, [WeightedQuery(question)], change_profile(profile, strategy.switches))  # fmt: skip  # noqa: E501
            assert kept.rank_passages(strategy, id_, str) == [hit.passage.id for hit in found]
    finally:
        base.glossary.close()
        base.corpus.close()


def report_of(present: list[float], other: list[float]) -> Any:
    """Build a report with one question per value: 1 is found first, 0 not at all."""
    qrels = {str(n): {"right": 1} for n in range(len(present))}
    runs = [
        measure({str(n): ["right"] if value else ["wrong"] for n, value in enumerate(values)}, qrels)
        for values in (present, other)
    ]
    # Questions of one document would be resampled together.
    alone = [type(one)(one.questions, one.mean, one.by_question, range(len(present))) for one in runs]
    return _report("set", {PLAIN: alone[0], KEYWORD: alone[1]}, PLAIN, "ndcg@10")


def test_a_strategy_without_a_significant_gain_is_not_chosen() -> None:
    report = report_of([1, 0, 1, 0, 1, 0, 1, 0], [1, 1, 1, 0, 1, 0, 1, 0])
    assert report.best == KEYWORD.name
    assert not report.better
    assert report.chosen == report.present == PLAIN.name
    assert "the interval includes zero" in build_strategy_tables(report)[1].rows[1][1]


def test_a_significantly_better_strategy_is_chosen() -> None:
    report = report_of([0] * 10 + [1] * 10, [1] * 20)
    assert report.better
    assert report.chosen == KEYWORD.name
    assert report.switches["search_semantic"] is False
    assert "excludes zero" in build_strategy_tables(report)[1].rows[1][1]


@pytest.mark.parametrize("questions", [1, 2, 5])
def test_a_handful_of_questions_gives_no_significant_gain(questions: int) -> None:
    report = report_of([0] * questions, [1] * questions)
    assert (report.best, report.better, report.chosen) == (KEYWORD.name, False, PLAIN.name)
    assert "take questions of 6 passages or more" in build_strategy_tables(report)[1].rows[1][1]
    assert report_of([0] * 6, [1] * 6).better


def test_an_equally_good_strategy_is_not_called_better() -> None:
    report = report_of([1] * 8, [1] * 8)
    assert report.best == report.present
    assert "none of the others" in build_strategy_tables(report)[1].rows[1][1]


def test_a_profile_is_saved_only_if_its_strategy_is_better(
    tiny_kb: Any, asked: StrategyQuestions, tmp_path: Path
) -> None:
    tiny_kb.glossary.close()
    tiny_kb.corpus.close()
    write_marker(tiny_kb.folder)
    present = Profile()
    report, tables = choose_strategy(asked, tiny_kb.folder, present, "mrr", "ours", tiny_kb.settings, quiet)
    # Two questions cannot give a significant difference.
    assert not report["better"]
    assert report["saved"] == ""
    assert SavedProfiles(tiny_kb.folder).names() == []
    assert tables[-1].rows[0][1].startswith("no: no strategy is clearly better")
    poor = change_profile(present, {"search_keyword": False, "candidates": 1})
    assert Strategy.from_profile(poor, ()).name == "semantic"


def test_an_invalid_profile_or_measure_is_refused_before_the_search(
    tiny_kb: Any, asked: StrategyQuestions, tmp_path: Path
) -> None:
    tiny_kb.glossary.close()
    tiny_kb.corpus.close()
    write_marker(tiny_kb.folder)
    SavedProfiles(tiny_kb.folder).save("ours", Profile())
    for name, error in (("ours", Conflict), ("strict", InvalidSettings), ("No Name", InvalidSettings)):
        with pytest.raises(error):
            choose_strategy(asked, tiny_kb.folder, Profile(), "mrr", name, tiny_kb.settings, quiet)
    with pytest.raises(InvalidInput, match="There is no measure 'f1'"):
        choose_strategy(asked, tiny_kb.folder, Profile(), "f1", None, tiny_kb.settings, quiet)


def test_questions_without_gold_are_refused(tmp_path: Path) -> None:
    def given() -> AnswerSet:
        from argot.evaluate.markdown_sources import make_markdown_source

        source = make_markdown_source("test", "a.md", "A", "Nothing of use.")
        return AnswerSet("mine", [AnswerQuestion("1", "fact", "What?", (), "This.")], [source])

    with pytest.raises(InvalidInput, match='names a "gold" passage'):
        choose_strategy(load_strategy_questions(None, given), None, Profile(), "mrr", None, Settings(), quiet)
