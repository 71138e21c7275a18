"""The unit that a question wants and an answer does not give."""

from __future__ import annotations

import pytest

from argot.tools.reading.asked_units import find_missing_unit


@pytest.mark.parametrize(
    ("question", "answer", "unit"),
    [
        ("How high may pallets be stacked in inches?", "Pallets are stacked up to 1.65 m.", "inches"),
        ("How high may pallets be stacked in metres?", "Pallets are stacked up to 1.65 m.", ""),
        ("How long is the trial, in days?", "The trial takes 8 weeks.", "days"),
        ("How high may pallets be stacked in Hamburg?", "Pallets are stacked up to 1.65 m.", ""),
        ("Who signs in inches?", "The manager signs.", ""),
        ("How many are there in inches?", "There are 12 of them.", ""),
    ],
)
def test_a_unit_is_missing_if_the_answer_has_numbers_in_others_alone(question: str, answer: str, unit: str) -> None:
    assert find_missing_unit(question, answer) == unit
