"""Which row has the extreme value that a question asks for, and when that is uncertain."""

from __future__ import annotations

import pytest

from argot.tools.answering.extreme_rows import asks_for_extreme, find_extreme_rows

HEADER = ["Product", "Lead time", "Price (EUR)", "Grade"]
ROWS = [
    ["Tern 7", "6 weeks", "120", "cold"],
    ["Heron E4", "10 weeks", "95", "warm"],
    ["Wren", "4 weeks", "1,300", "warm"],
]


def names(question: str, header: list[str] = HEADER, table: list[list[str]] = ROWS) -> list[str]:
    return [table[place][0] for place in find_extreme_rows(question, header, table, "Orders > What we make")]


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("Which product has the longest lead time?", ["Heron E4"]),
        ("which part has the shortest lead time", ["Wren"]),
        ("Which one is the cheapest?", ["Heron E4"]),
        ("What is the most expensive product?", ["Wren"]),
        ("What do we make with the highest price?", ["Wren"]),
    ],
)
def test_the_extreme_row_is_found(question: str, found: list[str]) -> None:
    assert names(question) == found


@pytest.mark.parametrize(
    "question",
    [
        "Which product has the second longest lead time?",
        "Which two products have the longest lead times?",
        "Which warm product is the cheapest?",
        "Which product has the longest lead time in Asia?",
        "Which product has at most 10 weeks of lead time?",
        "Which product is the cheapest except the Wren?",
        "Which product is the cheapest with a lead time of 6 weeks?",
        "Which product has the lowest grade?",
        "What is the longest?",
    ],
)
def test_a_question_that_restricts_the_rows_or_names_no_column_is_not_decided(question: str) -> None:
    assert names(question) == []


@pytest.mark.parametrize("cell", ["2 months", "4 to 6 weeks", "up to 6 weeks", "on request", ""])
def test_a_column_with_another_unit_a_range_or_no_number_is_not_compared(cell: str) -> None:
    assert names("Which product has the longest lead time?", table=[*ROWS, ["Kite", cell, "5", "cold"]]) == []


def test_rows_that_share_the_extreme_are_all_found_unless_all_do() -> None:
    tied = [*ROWS, ["Kite", "10 weeks", "5", "cold"]]
    assert names("Which product has the longest lead time?", table=tied) == ["Heron E4", "Kite"]
    alike = [[name, "6 weeks", price, grade] for name, _, price, grade in ROWS]
    assert names("Which product has the longest lead time?", table=alike) == []


def test_an_extreme_is_recognised_by_its_superlative() -> None:
    assert asks_for_extreme("Which is the cheapest?")
    assert not asks_for_extreme("Which is at least as cheap?")
