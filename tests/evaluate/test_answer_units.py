"""The sentences of an answer that hold what was asked for, and those beside the point."""

from dataclasses import replace

import pytest

from argot.evaluate.answer_measures import answer_outcome
from argot.evaluate.answer_outcomes import AnswerOutcome, build_outcome
from argot.evaluate.answer_questions import AnswerQuestion, GoldSnippet
from argot.evaluate.answer_report import build_answers_report
from argot.evaluate.answer_summary import build_summary
from argot.evaluate.answer_units import begins_with_answer, is_clean, judge_units, measure_beside
from argot.results import AnsweredBy, AskResult, Citation, Sentence

KEPT = "The archive keeps a drawing for [twelve years](https://example.com/keep) after the last order."
FILLER = ("The basement is painted white.", "The basement has two doors.", "Visitors sign the book at the desk.")
RELATED = "Drawings are stored in the basement."


def ask_about_archive(*quotes: str, kind: str = "number", near: tuple[str, ...] = ()) -> AnswerQuestion:
    gold = tuple(GoldSnippet("archive.md", quote) for quote in quotes or (KEPT,))
    return AnswerQuestion(
        "q", kind, "How long is a drawing kept?", gold, "Twelve years after the last order.", near=near
    )


@pytest.mark.parametrize(
    ("texts", "beside", "begins"),
    [
        ([KEPT], 0.0, True),
        (["The archive keeps a drawing for twelve years after the last order."], 0.0, True),
        ([KEPT, *FILLER], 0.75, True),
        ([*FILLER, KEPT], 0.75, False),
        (["It is kept for twelve years from the last order."], 0.0, True),
        (["No.", KEPT], 0.0, True),
        (["The rule is:", KEPT], 0.0, True),
        (["The doors are:", FILLER[1], KEPT], 2 / 3, False),
        ([KEPT, RELATED], 0.0, True),
        ([RELATED, KEPT], 0.0, False),
        ([KEPT, FILLER[0], RELATED], 2 / 3, True),
        ([KEPT, KEPT], 0.5, True),
        (list(FILLER), 1.0, False),
        ([], None, False),
    ],
)  # fmt: skip
def test_an_answer_is_measured_by_the_sentences_that_serve_the_question(
    texts: list[str], beside: float | None, begins: bool
) -> None:
    units = judge_units(ask_about_archive(), texts)
    assert measure_beside(units) == (beside if beside is None else pytest.approx(beside))
    assert begins_with_answer(units) is begins


def test_an_answer_is_clean_up_to_one_sentence_of_three_beside_the_point() -> None:
    question = ask_about_archive()
    assert is_clean(judge_units(question, [KEPT, RELATED, FILLER[2]]))
    assert not is_clean(judge_units(question, [KEPT, FILLER[0]]))
    assert not is_clean([])


STEPS = ("1. Open the valve.", "2. Wait for the bell.", "3. Press the green button.", "4. Sweep the floor.")


def test_a_step_between_two_that_were_quoted_belongs_to_the_answer_and_one_behind_them_does_not() -> None:
    question = ask_about_archive("Open the valve.", "Press the green button.", kind="procedure")
    assert [unit.serves for unit in judge_units(question, ["To start:", *STEPS])] == [True, True, True, True, False]
    assert begins_with_answer(judge_units(question, ["To start:", *STEPS]))


def test_the_header_of_a_table_belongs_to_the_row_that_answers() -> None:
    question = ask_about_archive("| oak | 40 days |")
    rows = ["| wood | drying |", "| oak | 40 days |"]
    assert [unit.serves for unit in judge_units(question, rows)] == [True, True]
    assert begins_with_answer(judge_units(question, rows))
    others = ["| wood | drying |", "| pine | 12 days |", "| oak | 40 days |"]
    assert [unit.serves for unit in judge_units(question, others)] == [False, False, True]


def test_a_sentence_that_only_looks_like_the_answer_is_beside_the_point() -> None:
    near = "Twelve years after the last order the machine is sold."
    assert [unit.serves for unit in judge_units(ask_about_archive(), [near])] == [True]
    assert [unit.serves for unit in judge_units(ask_about_archive(near=(near,)), [near])] == [False]


def test_a_sentence_elsewhere_that_is_the_whole_answer_makes_it_complete() -> None:
    question = ask_about_archive("a drawing", "twelve years", "the last order")
    elsewhere = "Plans stay in the cellar until the dozenth birthday of their final delivery."
    assert answer_outcome(question, "answered", elsewhere) == "wrong"
    also = replace(question, also=(GoldSnippet("cellar.md", elsewhere),))
    assert answer_outcome(also, "answered", elsewhere) == "complete"


def test_mark_up_of_a_quotation_does_not_matter() -> None:
    question = ask_about_archive("keeps a **drawing** for [twelve years](https://example.com/keep)")
    assert answer_outcome(question, "answered", "The archive keeps a drawing for twelve years.") == "complete"


# -- the report --------------------------------------------------------------------------------------------------------


def build_answered(*texts: str, by: AnsweredBy = "extractive", unsupported: tuple[str, ...] = ()) -> AnswerOutcome:
    cited = Citation(n=1, passage_id="p", document="d", revision="r", page=None, heading="", span=(0, 1), score=1.0)
    sentences = [
        Sentence(text=text, supported=text not in unsupported, citations=[] if text in unsupported else [cited])
        for text in texts
    ]
    status = "answered" if texts else "abstained"
    result = AskResult(
        question="q", stand_alone_question="q", status=status, thread="t", answer=" ".join(texts), answered_by=by,
        sentences=sentences,
    )  # fmt: skip
    return build_outcome(ask_about_archive(), result, frozenset())


def test_complete_and_clean_counts_no_padded_answer() -> None:
    outcomes = [build_answered(KEPT), build_answered(KEPT, *FILLER), build_answered(*FILLER, KEPT), build_answered()]
    report = build_answers_report("set", [], {"default": outcomes})
    row = report.rows["default"]["answerable"]
    assert (row.outcomes["complete"], row.complete_and_clean) == (0.75, 0.25)
    assert row.begins_with_answer == pytest.approx(2 / 3) and row.beside == pytest.approx(0.5)
    each = report.to_json()["each"]
    assert [one["complete_and_clean"] for one in each] == [True, False, False, False]
    assert [unit["serves"] for unit in each[1]["units"]] == [True, False, False, False]


def test_marks_are_counted_on_sentences_that_hold_the_answer() -> None:
    said = (KEPT, FILLER[0])
    assert build_answered(*said, by="model", unsupported=said).marks.marked == 1
    assert build_answered(*said, by="model", unsupported=said[1:]).marks.marked == 0
    assert build_answered(*said).marks.right == 0


def test_the_summary_has_a_line_for_each_measure_and_a_column_for_each_profile() -> None:
    whole, padded = [build_answered(KEPT)], [build_answered(*FILLER, KEPT)]
    table = build_summary(build_answers_report("set", [], {"default": whole, "other": padded}))
    lines = {line[0]: list(line[1:]) for line in table.rows}
    assert list(table.columns) == ["", "default", "other"]
    assert lines["answerable: complete"] == ["1 of 1, 100.0 % (100 to 100)"] * 2
    clean = lines["complete and clean (at most 30 % beside the point)"]
    assert clean == ["1 of 1, 100.0 % (100 to 100)", "0 of 1, 0.0 % (0 to 0)"]
    assert lines["of complete ones, begin with the answer"] == ["100.0 %", "0.0 %"]
