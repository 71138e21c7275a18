"""Marks in the cells of a model's table."""

from collections.abc import Sequence

from argot.results import Citation, Sentence
from argot.ui.rendering.cell_marks import mark_cells


def cite(n: int, cell: int | None) -> Citation:
    return Citation(
        n=n, passage_id="p", document="d.md", revision="r", page=None, heading="", span=(0, 1), score=1.0, cell=cell
    )


def write(cited: Sequence[int]) -> str:
    return "".join(f"[{n}]" for n in cited)


def test_each_cell_has_its_own_mark_or_the_sign_that_nothing_supports_it() -> None:
    row = "| Fee | 40 | 75 | - |"
    sentence = Sentence(text=row, supported=False, citations=[cite(2, 1), cite(1, 1)])
    assert mark_cells(row, sentence, write, "[?]") == "| Fee | 40 [1][2] | 75 [?] | - |"


def test_a_bar_within_a_cell_divides_nothing() -> None:
    row = r"| Form | a \| b | c |"
    sentence = Sentence(text=row, supported=True, citations=[cite(1, 1), cite(3, 2)])
    assert mark_cells(row, sentence, write, "[?]") == r"| Form | a \| b [1] | c [3] |"


def test_a_sentence_without_citations_of_cells_is_left_alone() -> None:
    sentence = Sentence(text="| a | b |", supported=True, citations=[cite(1, None)])
    assert mark_cells("| a | b |", sentence, write, "[?]") is None
