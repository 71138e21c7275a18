"""Tests of answer similarity, of retrieval beside correctness, and of references, with values calculated by hand."""

import pytest

from argot.evaluate.bert_score import NOTHING, BertScore, compute_bert_scores, match_greedily
from argot.evaluate.chunk_retrieval import ChunkRetrieval, measure_chunk_retrieval
from argot.evaluate.reference_precision import compute_sentence_precision, measure_by_threshold
from argot.settings import Settings
from argot.tools.text.answer_likeness import exact_match, rouge_1


@pytest.mark.parametrize(
    ("answer", "reference", "expected"),
    [
        ("The 27 days.", "27 days", True),
        ("27 DAYS", "27 days!", True),
        ("28 days", "27 days", False),
        ("27 days a year, all in all", "27 days", False),
        ("", "", False),
        ("the", "a", False),
    ],
)
def test_an_exact_match_ignores_case_punctuation_and_articles(answer: str, reference: str, expected: bool) -> None:
    assert exact_match(answer, reference) is expected


def test_rouge_1_counts_a_repeated_word_as_often_as_both_texts_have_it() -> None:
    assert rouge_1("the cat the cat", "the cat sat") == pytest.approx(2 * 2 / (4 + 3))
    assert rouge_1("c b a", "a b c") == 1.0
    assert rouge_1("", "a") == rouge_1("a", "") == rouge_1("x", "a") == 0.0


def test_bert_score_takes_the_most_similar_token_of_the_other_text() -> None:
    # Two tokens in the answer, three in the reference: row maxima (0.9, 0.6), column maxima (0.9, 0.6, 0.5).
    found = match_greedily([[0.9, 0.1, 0.5], [0.2, 0.6, 0.3]])
    assert (found.precision, found.recall) == (pytest.approx(0.75), pytest.approx(2 / 3))
    assert found.f1 == pytest.approx(2 * 0.75 * (2 / 3) / (0.75 + 2 / 3))
    assert match_greedily([]) == NOTHING == match_greedily([[]])
    assert match_greedily([[-0.5]]) == BertScore(-0.5, -0.5, 0.0)


def test_bert_score_of_the_local_model_sees_similarity_without_common_words() -> None:
    reference = "Staff get 27 days of paid leave."
    same, like, unlike, empty = compute_bert_scores(
        [reference, "Employees have 27 days of paid vacation.", "Penguins swim in cold water.", ""],
        [reference] * 4,
        Settings(),
    )
    assert same.f1 == pytest.approx(1.0, abs=0.01)
    assert same.f1 > like.f1 > unlike.f1 > empty.f1
    assert empty == NOTHING


def test_chunk_retrieval_is_measured_apart_for_right_and_wrong_answers() -> None:
    found = measure_chunk_retrieval(
        correct=[True, True, False, False, True],
        retrieved=[True, False, True, False, True],
        tasks=["order", "order", "order", "order", "sum"],
    )
    assert list(found) == ["all", "order", "sum"]
    assert found["order"] == ChunkRetrieval(4, 0.5, 0.5, 0.5)
    assert found["sum"] == ChunkRetrieval(1, 1.0, 1.0, None)
    assert found["all"].cp_ccr == pytest.approx(2 / 3)
    assert measure_chunk_retrieval([], [], []) == {}


def test_any_annotated_passage_makes_a_sentence_right() -> None:
    assert compute_sentence_precision([0, 1, None], [{0, 2}, {0}, {1}]) == 0.5
    assert compute_sentence_precision([None], [{0}]) is None


def test_precision_is_averaged_over_answers_at_each_threshold() -> None:
    answers = [[(0.9, True), (0.3, False)], [(0.6, True), (None, False)], [(0.2, False)]]
    low, high, none = measure_by_threshold(answers, (0.0, 0.5, 0.95))
    assert low.precision == pytest.approx((0.5 + 1.0 + 0.0) / 3)
    assert low.kept == pytest.approx(4 / 5)
    assert (high.precision, high.kept) == (1.0, pytest.approx(2 / 5))
    assert (none.precision, none.kept) == (None, 0.0)
