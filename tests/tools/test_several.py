"""Whether a question asks for several things."""

from __future__ import annotations

import pytest

from argot.tools.reading.answer_types import asks_for_several


@pytest.mark.parametrize(
    "question",
    [
        "How many cabins are there?",
        "Which discounts do students get?",
        "What are the steps?",
        "What other fire drills do we hold?",
        "What in the kit are spare parts?",
        "How do I book a cabin?",
    ],
)
def test_questions_for_several_things_are_recognised(question: str) -> None:
    assert asks_for_several(question)


@pytest.mark.parametrize(
    "question",
    ["How many days of leave do I get?", "How much is a suite?", "What is the fee of the class?", "Who pays?"],
)
def test_questions_for_one_thing_are_recognised(question: str) -> None:
    assert not asks_for_several(question)
