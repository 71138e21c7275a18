"""BEIR folders, measures, and the share of the gap that is closed."""

import json
from pathlib import Path

import pytest

from argot.errors import InvalidInput
from argot.evaluate.beir import load_beir
from argot.evaluate.measures import bootstrap_interval, measure, share_of_gap_closed
from argot.evaluate.retrieval_suite import score_senses
from argot.results import AskResult, Jargon


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


def test_a_folder_is_read_with_its_relevant_judgements_alone(tmp_path: Path) -> None:
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


def test_a_missing_file_says_what_the_folder_should_hold(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"corpus.jsonl, queries.jsonl and qrels"):
        load_beir(tmp_path)


def test_measures_agree_with_values_worked_out_by_hand() -> None:
    measured = measure({"q1": ["x", "d1"], "q2": [], "q3": ["d3"]}, {"q1": {"d1": 1}, "q2": {"d2": 1}, "q3": {"d3": 1}})
    assert measured.questions == 3
    assert measured.by_question["q1"]["ndcg@10"] == pytest.approx(0.63093, abs=1e-5)  # 1 / log2(3)
    assert measured.mean["hit@1"] == pytest.approx(1 / 3)
    assert measured.mean["hit@3"] == pytest.approx(2 / 3)


def test_the_order_of_results_decides_also_when_names_sort_the_other_way() -> None:
    run = {"q": [f"d{n}" for n in range(9, 0, -1)]}
    assert measure(run, {"q": {"d9": 1}}).mean["hit@1"] == 1
    assert measure(run, {"q": {"d1": 1}}).mean["hit@1"] == 0


def test_the_share_of_the_gap() -> None:
    assert share_of_gap_closed(0.4, 0.7, 0.8) == pytest.approx(0.75)
    assert share_of_gap_closed(0.8, 0.9, 0.8) is None


def test_the_interval_holds_the_mean_and_shrinks_to_a_point_when_all_agree() -> None:
    low, high = bootstrap_interval([0.0, 1.0] * 50)
    assert low < 0.5 < high
    assert bootstrap_interval([1.0] * 10) == (1.0, 1.0)


def test_a_sense_counts_as_right_when_its_words_stood_in_the_untouched_question(tmp_path: Path) -> None:
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
