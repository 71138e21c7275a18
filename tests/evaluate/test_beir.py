"""Tests of BEIR folders, of the measures, and of the share of the gap that is closed."""

import json
from pathlib import Path

import pytest

from argot.errors import InvalidInput
from argot.evaluate.beir import BeirSet, load_beir
from argot.evaluate.reports import build_retrieval_tables
from argot.evaluate.retrieval_failures import RetrievalFailure, write_failures
from argot.evaluate.retrieval_suite import RetrievalReport, evaluate_retrieval, make_sources, score_senses
from argot.evaluate.temporary_base import TemporaryBase
from argot.evaluate.usecases.evaluation import retrieval
from argot.measures import (
    bootstrap,
    bootstrap_interval,
    gold_clusters,
    measure,
    paired_difference,
    resamples,
    share_of_gap_closed,
)
from argot.profile import Profile
from argot.ratings.passage_files import read_passage_questions
from argot.results import AskResult, FoundPassage, Jargon
from argot.settings import Settings


def _write(folder: Path, **changes: str) -> Path:
    files = {
        "corpus.jsonl": '{"_id": "d1", "title": "A", "text": "alpha \u2028 beta"}\n{"_id": "d2", "text": "gamma"}\n',
        "queries.jsonl": '{"_id": "q1", "text": "What is the AB limit?"}\n',
        "qrels/test.tsv": "query-id\tcorpus-id\tscore\nq1\td1\t1\nq1\td2\t0\n",
        **changes,
    }
    (folder / "qrels").mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text, "utf-8")
    return folder


def test_a_beir_folder_is_read_with_its_relevant_judgements_only(tmp_path: Path) -> None:
    data = load_beir(_write(tmp_path))
    assert data.corpus == {"d1": ("A", "alpha \u2028 beta"), "d2": ("", "gamma")}
    assert data.qrels == {"q1": {"d1": 1}}
    assert data.plain is None


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("corpus.jsonl", "{not json", "line 1: not JSON"),
        ("corpus.jsonl", '{"_id": 7, "text": "x"}', "needs the text field"),
        ("qrels/test.tsv", "q1 d1 1", "separated by tabs"),
        ("qrels/test.tsv", "query-id\tcorpus-id\tscore\nq9\td9\t1", "no judgement"),
        ("qrels/test.tsv", "q1\td1\thigh", "not a number"),
    ],
)
def test_a_malformed_file_is_named_with_its_line(tmp_path: Path, name: str, content: str, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        load_beir(_write(tmp_path, **{name: content}))


def test_the_error_for_a_missing_file_says_what_the_folder_must_hold(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"corpus.jsonl, queries.jsonl and qrels"):
        load_beir(tmp_path)


def test_measures_agree_with_values_calculated_by_hand() -> None:
    measured = measure({"q1": ["x", "d1"], "q2": [], "q3": ["d3"]}, {"q1": {"d1": 1}, "q2": {"d2": 1}, "q3": {"d3": 1}})
    assert measured.questions == 3
    assert measured.by_question["q1"]["ndcg@10"] == pytest.approx(0.63093, abs=1e-5)  # 1 / log2(3)
    assert measured.mean["hit@1"] == pytest.approx(1 / 3)
    assert measured.mean["hit@3"] == pytest.approx(2 / 3)


def test_each_measure_at_its_depths_agrees_with_values_by_hand() -> None:
    run = {"q1": ["x", "d1", "y", "d2"], "q2": ["d3"]}
    measured = measure(run, {"q1": {"d1": 1, "d2": 1}, "q2": {"d3": 1}})
    first = measured.by_question["q1"]
    assert first["mrr"] == pytest.approx(1 / 2)
    assert first["map@1"] == 0.0
    assert first["map@3"] == pytest.approx((1 / 2) / 2)  # divided by both relevant documents, not by the one found
    assert first["map@10"] == pytest.approx((1 / 2 + 2 / 4) / 2)
    assert [first[f"recall@{depth}"] for depth in (1, 3, 5)] == [0.0, 0.5, 1.0]
    ideal = 1 + 0.63093  # 1 / log2(2) + 1 / log2(3)
    assert first["ndcg@5"] == pytest.approx((0.63093 + 0.43068) / ideal, abs=1e-4)  # 1 / log2(3) + 1 / log2(5)
    assert measured.mean["mrr"] == pytest.approx(3 / 4)


def test_the_order_of_results_counts_even_against_the_order_of_names() -> None:
    run = {"q": [f"d{n}" for n in range(9, 0, -1)]}
    assert measure(run, {"q": {"d9": 1}}).mean["hit@1"] == 1
    assert measure(run, {"q": {"d1": 1}}).mean["hit@1"] == 0


def test_the_share_of_the_gap_that_is_closed_is_calculated() -> None:
    assert share_of_gap_closed(0.4, 0.7, 0.8) == pytest.approx(0.75)
    assert share_of_gap_closed(0.8, 0.9, 0.8) is None


def test_the_interval_contains_the_mean_and_is_a_point_if_all_agree() -> None:
    low, high = bootstrap_interval([0.0, 1.0] * 50)
    assert low < 0.5 < high
    assert bootstrap_interval([1.0] * 10) == (1.0, 1.0)


def test_questions_linked_by_shared_gold_form_one_cluster() -> None:
    first, second, third, alone, none, other = gold_clusters([{"a"}, {"b"}, {"a", "b"}, {"c"}, set(), set()])
    assert first == second == third
    assert len({first, alone, none, other}) == 4


def test_rows_of_a_cluster_are_resampled_together() -> None:
    for drawn in resamples(["a", "a", "b"], rounds=50, seed=1):
        assert list(drawn).count(0) == list(drawn).count(1)
        assert list(drawn).count(0) + list(drawn).count(2) == 2
    assert list(resamples([], rounds=5, seed=1)) == []


def test_an_interval_over_clusters_is_wider_than_one_over_single_rows() -> None:
    values = [*[0.0] * 20, *[1.0] * 20, *[0.0] * 20, *[1.0] * 20]
    low, high = bootstrap_interval(values)
    wide = bootstrap_interval(values, clusters=[place // 20 for place in range(80)])
    assert wide[0] < low and wide[1] > high


def test_two_systems_are_compared_question_by_question() -> None:
    same = paired_difference([0.0, 1.0] * 30, [0.0, 1.0] * 30)
    assert (same.difference, same.interval95, same.excludes_zero) == (0.0, (0.0, 0.0), False)
    better = paired_difference([0.0, 0.5] * 30, [0.25, 0.75] * 30, clusters=[n // 2 for n in range(60)])
    assert (better.difference, better.interval95, better.excludes_zero) == (0.25, (0.25, 0.25), True)
    assert (better.questions, better.clusters) == (60, 30)
    with pytest.raises(ValueError, match="shorter"):
        paired_difference([0.0, 1.0], [1.0])
    assert paired_difference([], []).interval95 == (0.0, 0.0)


def test_resamples_without_a_defined_statistic_are_left_out() -> None:
    assert bootstrap(lambda drawn: None, range(3)) is None
    assert bootstrap(lambda drawn: 1.0 if 0 in drawn else None, range(3)) == (1.0, 1.0)


def test_search_variants_are_compared_in_pairs_and_shown_by_depth() -> None:
    gold = {f"q{n}": {f"d{n // 2}": 1} for n in range(4)}
    worse = measure({question: ["x"] for question in gold}, gold)
    better = measure({question: list(own) for question, own in gold.items()}, gold)
    report = RetrievalReport("set", 2, 4, {"plain": worse, "against": better}, against="rrf")
    change = report.to_json()["compared"]["rrf against plain"]["mrr"]
    assert (change["difference"], change["questions"], change["clusters"]) == (1.0, 4, 2)
    _, by_depth, pair, failures = build_retrieval_tables(report)
    assert failures.rows == [["4", "0", "0"]]
    assert ["plain", "MAP@k", *["0.000"] * 5] in by_depth.rows
    assert "rrf against plain: 4 questions, 2 clusters" in pair.title
    assert ["mrr", "+1.000", "+1.000 to +1.000"] in pair.rows


def test_a_profile_is_not_compared_with_itself(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="The profile 'default' is named twice"):
        retrieval(tmp_path, None, None, Profile(), Profile(), None, Settings(), lambda *_: None)


def test_a_sense_is_right_if_its_words_stand_in_the_original_question(tmp_path: Path) -> None:
    plain = json.dumps({"_id": "q1", "text": "What is the audio-brightness limit?"})
    data = load_beir(_write(tmp_path, **{"queries.plain.jsonl": plain}))
    glossary = "term,context,expansion\nAB,tv,audio brightness\nAB,chip,adjacent block\n"

    def answered(expansion: str) -> dict[str, AskResult]:
        jargon = [Jargon(term="AB", surface="AB", context="", expansion=expansion)]
        return {
            "q1": AskResult(
                question="", stand_alone_question="", status="answered", thread="", answer="", jargon=jargon
            )
        }

    assert score_senses(data, glossary, answered("audio brightness")).share == 1
    wrong = score_senses(data, glossary, answered("adjacent block"))
    assert (wrong.questions, wrong.right) == (1, 0)
    assert wrong.wrong == [{"id": "q1", "term": "AB", "true": "audio brightness", "chosen": "adjacent block"}]


async def test_failed_questions_are_sampled_for_people_to_judge(tmp_path: Path) -> None:
    corpus = {"pump": ("Pumps", "The coolant pump is checked on Mondays."), "rota": ("Rota", "Ann works on Fridays.")}
    corpus |= {f"pump{n}": ("More pumps", f"The coolant pump {n} is checked by Ben.") for n in range(12)}
    queries = {"right": "Who works on Fridays?", "lost": "When is the coolant pump checked by Ben?"}
    data = BeirSet(tmp_path, corpus, queries, {"right": {"rota": 1}, "lost": {"rota": 1}})
    with TemporaryBase(tmp_path / "kb", Settings()) as base:
        base.add(make_sources(data), lambda *_: None)
        report = await evaluate_retrieval(base, data, Profile(), None, lambda *_: None)
    assert report.to_json()["failures"] == {"not_found": 1, "not_first": 0}
    (path,) = write_failures(report.failures, tmp_path / "failed")
    (item,) = read_passage_questions(path.read_text(), lambda name: name)
    assert path.name == "not_found.jsonl" and item.question == queries["lost"] and 1 <= len(item.answers) <= 10


def test_no_more_than_wanted_of_each_kind_are_drawn_and_always_the_same(tmp_path: Path) -> None:
    passage = FoundPassage(n=1, passage_id="p", document="d", uri="u", page=None, heading="H", text="T", score=1.0)
    failures = [RetrievalFailure(str(n), f"Question {n}?", "not_first", (passage,)) for n in range(30)]
    failures.append(RetrievalFailure("x", "Nothing found?", "not_first", ()))
    drawn = [write_failures(failures, tmp_path / name, 7)[0].read_text() for name in ("one", "two")]
    assert drawn[0] == drawn[1] and drawn[0].count("\n") == 7 and "Nothing found?" not in drawn[0]
