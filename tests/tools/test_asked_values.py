"""The kind of value that a question asks for, and whether a passage contains one."""

from __future__ import annotations

import pytest

from argot.tools.reading.asked_values import find_asked_value


@pytest.mark.parametrize(
    ("question", "kind", "holds", "lacks"),
    [
        ("How many milliwatts does it draw?", "power", "It draws 3 mW.", "It must wake within 5 ms."),
        ("how much does a taxi cost?", "money", "A taxi is 40 euros.", "A taxi comes within 6 minutes."),
        ("What is the price of a share?", "money", "A share costs $12.", "The windows are open for 24 months."),
        ("How many square metres is the clean room?", "area", "It has 800 m² of floor.", "It is 8 m high."),
        ("What's the input capacitance of a pin?", "capacitance", "At most 3.5 pF.", "At most 3.5 V."),
        ("How many days of notice must I give?", "time", "Three months' notice.", "Give notice in writing."),
        ("How heavy is the box?", "mass", "| Box | Weight (kg) |\n| A | 4 |", "The box is 40 cm wide."),
    ],
)
def test_only_a_passage_with_a_value_of_the_asked_kind_matches(
    question: str, kind: str, holds: str, lacks: str
) -> None:
    value = find_asked_value(question)
    assert value is not None
    assert value.kind == kind
    assert value.is_in(holds)
    assert not value.is_in(lacks)


@pytest.mark.parametrize("question", ["How many holidays do I get?", "Who signs?", "How do I pay a supplier?", ""])
def test_a_question_without_a_unit_asks_for_no_kind_of_value(question: str) -> None:
    assert find_asked_value(question) is None
